"""`liteshogi explain`: figures, units, pictures and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from experiments.explain.board_picture import draw_contributions
from experiments.explain.explain import compare, explain
from experiments.explain.line_units import LineUnits
from experiments.network_kinds.position_values import evaluate
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig, LiteValueNetwork
from lite.networks.untied import UntiedConfig
from lite.notation.columns import columns_of
from lite.training.checkpoint import save_model
from liteshogi import __main__ as front_door
from liteshogi.commands.explain import printed

MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained networks of three kinds, with batch statistics that differ from the initial ones."""
    place = tmp_path_factory.mktemp("trained")
    torch.manual_seed(5)
    for name, config in (
        ("lite", LiteConfig((4, 2, 8), perspectives=2)),
        ("untied", UntiedConfig((4, 4, 8), activation="pairwise")),
        ("scrambled", LiteConfig((4, 2, 8), layout="blog")),
        ("dense", DenseConfig(32, (8,))),
    ):
        model = config.build()
        for norm in model.norms():
            torch.nn.init.uniform_(norm.running_mean, -0.5, 0.5)
            torch.nn.init.uniform_(norm.running_var, 0.5, 2)
        save_model(place / f"{name}.safetensors", model.eval(), {"cp_per_logit": 10_000.0})
    return place


def test_the_figures_are_consistent() -> None:
    from search.rules.play import set_game
    from search.rules.sfen import get_sfen, position_from_sfen

    found = printed(explain("default", MIDDLE))
    (value,) = evaluate("default", [MIDDLE])
    assert found.side_to_move == "white"
    assert (found.score_cp, found.win_rate) == (value.score_cp, pytest.approx(value.win_rate))
    assert found.black_score_cp == -value.score_cp
    assert len(found.pieces) == 38  # counts one bishop in each hand and no kings
    assert {piece.square for piece in found.pieces if piece.held} == {None}
    for piece in found.pieces:
        assert piece.contribution_cp == -piece.black_contribution_cp
    assert [row.score_cp for row in found.moves] == sorted(row.score_cp for row in found.moves)[::-1]
    for row in found.moves[::17]:
        pos = position_from_sfen(MIDDLE)
        set_game(pos, MIDDLE, [row.move])
        (after,) = evaluate("default", [get_sfen(pos)])
        assert row.score_cp == -after.score_cp
        assert row.win_rate == pytest.approx(1 - after.win_rate)


def test_contributions_are_the_same_on_the_turned_board() -> None:
    mine, turned = explain("default", MIDDLE), explain("default", _turn(MIDDLE))
    worth = {(piece.square, piece.piece): piece.contribution_cp for piece in mine.pieces if piece.square}
    for piece in turned.pieces:
        if square := piece.square:
            there = f"{10 - int(square[0])}{'ihgfedcba'['abcdefghi'.index(square[1])]}"
            assert worth[there, piece.piece] == piece.contribution_cp


def _turn(sfen: str) -> str:
    board, turn, hands, number = sfen.split()
    squares = [re.findall(r"\+?[A-Za-z]|\d", rank)[::-1] for rank in board.split("/")[::-1]]
    turned = "/".join("".join(rank) for rank in squares).swapcase()
    return f"{turned} {'b' if turn == 'w' else 'w'} {hands.swapcase()} {number}"


@pytest.mark.parametrize("name", ["lite", "untied"])
@pytest.mark.parametrize("sfen", [MIDDLE, _turn(MIDDLE)])
def test_the_contribution_of_a_line_equals_removing_its_weights(
    name: str, sfen: str, trained: Path, tmp_path: Path
) -> None:
    from lite.training.checkpoint import load_model

    net = str(trained / f"{name}.safetensors")
    units = _units(net, sfen)
    (value,) = evaluate(net, [sfen])
    white = sfen.split()[1] == "w"
    for rows, axis in ((units.ranks, 0), (units.files, 1)):
        assert [row.name for row in rows] == list("abcdefghi" if axis == 0 else "123456789")
        for line in (0, 4, 7):
            model, training = load_model(Path(net))
            assert isinstance(model, LiteValueNetwork)
            with torch.no_grad():
                weights = model.l3.weight.view(8, model.perspectives, 2, -1, 9)
                for view in range(model.perspectives):
                    weights[:, view, axis, :, 8 - line if white == (view == 0) else line] = 0
            save_model(tmp_path / "silent.safetensors", model, training.provenance)
            (silent,) = evaluate(str(tmp_path / "silent.safetensors"), [sfen])
            row = rows[line]
            assert row.contribution_cp == pytest.approx(value.score_cp - silent.score_cp, abs=1)
            assert len(row.activations) == weights.shape[3] * model.perspectives
    assert any(row.contribution_cp for row in units.files + units.ranks)


def _units(net: str, sfen: str) -> LineUnits:
    units = explain(net, sfen).units
    assert isinstance(units, LineUnits)
    return units


def test_a_unit_depends_only_on_its_line(trained: Path) -> None:
    """A pawn on 5c changes only the units of file 5 and rank c."""
    net = str(trained / "lite.safetensors")
    before = _units(net, "3k5/9/9/9/9/9/9/4R4/K8 b - 1")
    after = _units(net, "3k5/9/4p4/9/9/9/9/4R4/K8 b - 1")
    files, ranks = (
        [one.activations == other.activations for one, other in zip(*rows, strict=True)]
        for rows in ((before.files, after.files), (before.ranks, after.ranks))
    )
    assert [row for row, kept in enumerate(files) if not kept] in ([4], [])
    assert [row for row, kept in enumerate(ranks) if not kept] in ([2], [])
    assert not all(files + ranks)


@pytest.mark.parametrize(
    ("net", "reason"), [("scrambled", "no units"), ("dense", "no units"), ("default", "name its training run")]
)
def test_a_network_without_units_gives_the_reason(net: str, reason: str, trained: Path) -> None:
    found = printed(explain(net if net == "default" else str(trained / f"{net}.safetensors"), MIDDLE))
    assert found.units is None
    assert reason in (found.units_left_out or "")


def test_differences_of_two_networks_are_sorted_by_size() -> None:
    one, other = explain("default", MIDDLE), explain("lite-16-4-32", MIDDLE)
    rows = compare(one, other)
    sizes = [abs(row.difference_cp) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0
    for row in rows:
        mine = [piece for piece in one.pieces if (piece.square, piece.colour) == (row.square, row.colour)]
        assert row.black_contributions_cp[0] in [piece.black_contribution_cp for piece in mine]
        assert row.difference_cp == row.black_contributions_cp[1] - row.black_contributions_cp[0]


def _squares(path: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Yield the name and RGB of every coloured cell of a picture."""
    for group in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}g"):
        name = group.get("id", "")
        if re.search(r"(square|hand)_", name):
            (shape,) = group
            red, green, blue = re.search(r"fill: #(..)(..)(..)", shape.get("style", "")).groups()  # type: ignore[union-attr]
            yield name, (int(red, 16), int(green, 16), int(blue, 16))


def test_the_picture_has_the_sides_colours(tmp_path: Path) -> None:
    found, path = explain("default", MIDDLE), tmp_path / "board.svg"
    draw_contributions([found], path)
    cells = list(_squares(path))
    assert len(cells) == len(dict(cells)) == 83
    colours = dict(cells)
    assert sum(name.startswith("square_") for name in colours) == 81
    for piece in found.pieces:
        letter = piece.piece if piece.colour == "black" else piece.piece.lower()
        red, _, blue = colours[f"square_{piece.square}" if piece.square else f"hand_{letter}"]
        if abs(piece.black_contribution_cp) > 5:
            assert (blue > red) == (piece.black_contribution_cp > 0), piece
    rook, enemy = colours["square_2h"], colours["square_8b"]
    assert rook[2] - rook[0] > 60
    assert enemy[0] - enemy[2] > 60
    assert len({colours[f"square_{square}"] for square in ("5e", "9d")}) == 1  # empty squares
    content = path.read_bytes()
    draw_contributions([found], path)
    assert path.read_bytes() == content


def _answers(*arguments: str) -> int:
    return front_door._run(["explain", *arguments])


def test_the_verb_prints_figures_and_draws_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _answers("startpos", "-o", str(tmp_path / "board.png")) == 0
    text = capsys.readouterr().out
    assert "black to move" in text
    assert len(re.findall(r"^\d?[1-9][a-i]|P\*", text, re.MULTILINE)) >= 5
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")
    assert _answers(MIDDLE, "--compare", "default", "lite-16-4-32", "--json", "-o", str(tmp_path / "two.svg")) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one["net"] for one in report["nets"]] == ["default", "lite-16-4-32"]
    assert len(report["differences"]) == 38
    names = [name for name, _ in _squares(tmp_path / "two.svg")]
    assert len(names) == len(set(names)) == 2 * 83
    assert _answers(MIDDLE, "--compare", "default", "lite-16-4-32") == 0
    assert "difference" in capsys.readouterr().out
    assert _answers(MIDDLE, "--compare", "default", "lite-16-4-32", "--language", "ja") == 0
    text = capsys.readouterr().out
    assert "後手番: 評価値" in text
    assert re.search("先手の持ち駒: 角×1 [+-]", text)
    assert not re.search(" [+]?[PLNSGBRplnsgbr] ", text.split("\n各指し手")[0].split("\n", 1)[1])
    assert not re.search("black|white|hand|move|contribution", text)
    differences = text.split("差\n")[1].splitlines()
    assert all(
        re.match("[先後]手 ([１-９][一二三四五六七八九]|持ち駒の)[歩香桂銀角飛金と成馬龍]+ ", line)
        for line in differences
    )


def test_moves_and_pieces_in_japanese_are_those_of_a_game_record(capsys: pytest.CaptureFixture[str]) -> None:
    assert _answers("startpos moves 7g7f", "--language", "ja") == 0
    text = capsys.readouterr().out
    assert "△８四歩(83) " in text
    assert not re.search(r"\b[1-9][a-i][1-9][a-i]\b", text)
    assert _answers("startpos", "--language", "en") == 0
    assert re.search(r"\b7g7f +[+-]", capsys.readouterr().out)


def test_the_board_in_japanese_has_kanji_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert _answers("4kg2R/4g4/9/9/9/9/9/9/4R3K b - 1", "--language", "ja") == 0
    lines = capsys.readouterr().out.splitlines()
    top = next(number for number, line in enumerate(lines) if line.startswith("一 "))
    assert lines[top].split() == ["一", "・", "・", "・", "・", "v玉", "v金", "・", "・", "飛"]
    assert {columns_of(lines[top + 2 * rank]) for rank in range(9)} == {3 + 9 * 7}
    assert lines[top + 18 : top + 20] == ["先手の持ち駒: なし", "後手の持ち駒: なし"]
    assert lines[top + 20].startswith("（後手 ４一金、後手 ５二金 を除くと、")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "SFEN 'nonsense'"),
        (("9/9/9/9/9/9/9/9/9 b - 1",), "no black and no white king"),
        (("startpos moves 7g7e",), "7g7e, is not legal"),
        (("startpos", "-o", "board.jpg"), ".svg or .png"),
        (("startpos", "--net", "nowhere.safetensors"), "nowhere.safetensors"),
        (("startpos", "--net", "default", "--compare", "default", "lite-16-4-32"), "--net and --compare"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _answers(*arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
