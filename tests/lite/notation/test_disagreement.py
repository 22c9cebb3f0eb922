"""Games whose moves and ending disagree are refused, so a lost or doubled line does not give another game."""

from __future__ import annotations

import re
from pathlib import Path

import cshogi
import cshogi.KI2
import cshogi.KIF
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.notation.csa import read_csa
from lite.notation.game import Game, GameError
from lite.notation.games import read_games
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif
from lite.records.formats import DECLARATION, MOVE_LIMIT, SENNICHITE

KIF = "手合割：平手\n   1 ７六歩(77)   ( 0:01/00:00:01)\n"
KIF += "   2 ３四歩(33)\n   3 ２六歩(27)\n"
KI2 = "手合割：平手\n▲７六歩 △３四歩 ▲２六歩\n"
CSA = "PI\n+\n+7776FU\nT3\n-3334FU\nT2\n+2726FU\nT1\n"
MOVE_LINES = {
    ".kif": re.compile(r"\s*[0-9]+ +[１-９同]"),
    ".kifu": re.compile(r"\s*[0-9]+ +[１-９同]"),
    ".ki2": re.compile(r"▲|△"),
    ".csa": re.compile(r"[+-][0-9]{4}"),
}


def read(text: str, suffix: str) -> Game | GameError:
    try:
        if suffix == ".csa":
            return next(read_csa(text, "a.csa"))
        return (read_ki2 if suffix == ".ki2" else read_kif)(text, "a")
    except GameError as error:
        return error


def check(game: Game | GameError, result: int | None) -> None:
    """Assert that a game has this result; None means that its parts disagree."""
    if result is None:
        assert isinstance(game, GameError)
        assert game.reason == "moves and ending that disagree"
    else:
        assert isinstance(game, Game), game
        assert game.result == result


@pytest.mark.parametrize("name", ["wcsc28.kif", "wcsc28.ki2", "wcsc28.csa", "scored.csa", "scored.kifu"])
def test_lost_and_doubled_lines_of_moves_are_detected(data_directory: Path, name: str) -> None:
    path = data_directory / name
    (good,) = read_games(path)
    assert isinstance(good, Game)
    text = path.read_bytes().decode("cp932" if name in ("wcsc28.kif", "wcsc28.ki2") else "utf-8")
    lines = text.splitlines()
    moves = [number for number, line in enumerate(lines) if MOVE_LINES[path.suffix].match(line)]
    assert len(moves) in (9, 49, 72)
    for number in moves:
        for changed in (lines[:number] + lines[number + 1 :], lines[: number + 1] + lines[number:]):
            assert isinstance(read("\n".join(changed), path.suffix), GameError), lines[number]


def test_a_lost_last_move_is_reported(data_directory: Path) -> None:
    lines = (data_directory / "wcsc28.kif").read_bytes().decode("cp932").splitlines()
    (last,) = (line for line in lines if line.startswith("  49 "))
    lines.remove(last)
    with pytest.raises(GameError, match=r"投了 .*50 .*48 moves: a line is missing .* correct") as caught:
        read_kif("\n".join(lines), "wcsc28.kif")
    assert caught.value.reason == "moves and ending that disagree"


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("   4 投了\nまで3手で先手の勝ち\n", 1),
        ("   4 投了\nまで3手で下手の勝ち\n", 1),
        ("   4 切れ負け\nまで3手で時間切れにより先手の勝ち\n", 1),
        ("   4 切れ負け\nまで3手で後手の時間切れにより先手の勝ち\n", 1),
        ("まで3手で後手の時間切れにより先手の勝ち\n", 1),
        ("まで3手で先手勝ち\n", 1),
        ("まで3手で後手反則負け\n", 1),
        ("まで3手で先手の反則により後手の勝ち\n", 2),
        ("   4 切れ負け\nまで3手で先手の時間切れにより後手の勝ち\n", None),
        ("   4 詰み\nまで3手詰\n", 1),
        ("   4 入玉勝ち\nまで3手で後手の入玉勝ち\n", 2 | DECLARATION),
        ("   4 反則勝ち\nまで3手で後手の反則勝ち\n", 2),
        ("   4 反則負け\nまで3手で後手の反則負け\n", 1),
        ("   4 ５五歩打\n   5 反則負け\nまで4手で先手の勝ち\n", 1),
        ("   4 ５五歩打\nまで4手で後手の反則負け\n", 1),
        ("   4 持将棋\nまで5手で持将棋\n", 0),  # as cshogi counts
        ("   4 千日手\nまで３手で千日手\n", SENNICHITE),
        ("   4 中断\nまで3手で先手の勝ち\n", 1),
        ("   4 中断\nまで3手で後手の勝ち\n", 2),  # for example by points
        ("   4 中断\nまで3手で後手の入玉勝ち\n", 2 | DECLARATION),
        ("   4 中断\nまで2手で後手の勝ち\n", None),
        ("まで、3手で、先手の勝ち\n", 1),
        ("   4 投了\nまで3手で先手優勢のまま終了\n", 1),
        ("   5 投了\n", None),
        ("   3 投了\n", None),
        ("   4 投了\nまで4手で先手の勝ち\n", None),
        ("   4 投了\nまで2手で先手の勝ち\n", None),
        ("   4 投了\nまで5手で持将棋\n", None),
        ("まで4手で先手の勝ち\n", None),
        ("まで5手で持将棋\n", None),
        ("   4 投了\nまで3手で後手の勝ち\n", None),
        ("   4 投了\nまで3手で先手の反則負け\n", None),
        ("   4 投了\nまで3手で千日手\n", None),
        ("   4 投了\nまで3手で中断\n", None),
        ("   4 千日手\nまで3手で先手の勝ち\n", None),
        ("まで3手で後手の勝ち\n", None),
        ("まで3手で先手の入玉勝ち\n", None),
    ],
)
def test_verdicts_of_kif_are_checked(end: str, found: int | None) -> None:
    check(read(KIF + end, ".kif"), found)


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("千日手", SENNICHITE),
        ("持将棋", 0),
        ("最大手数", MOVE_LIMIT),
        ("詰み", 1),
        ("時間切れ", 1),
        ("反則負け", 1),
        ("後手の時間切れ負け", 1),
        ("MATTA", None),
        ("化け", None),
    ],
)
def test_a_verdict_that_counts_the_first_ending_belongs_to_a_later_one(first: str, found: int | None) -> None:
    """An unknown word may be a damaged move."""
    check(read(f"{KIF}   4 {first}\n   5 投了\nまで4手で後手の勝ち\n", ".kif"), found)
    check(read(f"{KIF}   4 {first}\n   5 投了\nまで5手で後手の勝ち\n", ".kif"), None)
    if found is not None:  # an unknown word does not name a winner
        check(read(f"{KIF}   4 {first}\n   4 投了\nまで3手で後手の勝ち\n", ".kif"), None)


def test_names_of_sides_if_white_moves_first() -> None:
    """For some programs 先手 is the side that moves first, for others black; 下手 is always black."""
    head = "手合割：角落ち\n   1 ３四歩(33)\n"
    for verdict in ("先手の勝ち", "上手の勝ち", "後手の勝ち"):
        game = read(f"{head}   2 投了\nまで1手で{verdict}\n", ".kif")
        assert isinstance(game, Game)
        assert game.result == 2
    check(read(f"{head}   2 投了\nまで1手で下手の勝ち\n", ".kif"), None)
    check(read(f"{head}まで1手で先手の勝ち\n", ".kif"), None)


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("まで3手で先手の勝ち\n", 1),
        ("まで3手で後手の反則負け\n", 1),
        ("投了\n", 1),
        ("まで3手で後手の時間切れにより先手の勝ち\n", 1),
        ("まで3手で後手の反則により先手の勝ち\n", 1),
        ("まで3手で先手の反則により後手の勝ち\n", 2),
        ("まで2手で先手の勝ち\n", None),
        ("まで3手で後手の勝ち\n", None),
    ],
)
def test_verdicts_of_ki2_are_checked(end: str, found: int | None) -> None:
    check(read(KI2 + end, ".ki2"), found)


@pytest.mark.parametrize(
    ("end", "found"),
    [
        ("%TORYO\n'summary:toryo:a win:b lose\n", 1),
        ("'summary:time up:a win:b lose\n", 1),
        ("'ILLEGAL_MOVE(-3435FU)\n'summary:illegal move:a win:b lose\n", 1),
        ("-3436FU\n'summary:uchifuzume:a win:b lose\n", 1),
        ("-3436FU\n'summary:oute_kaihimore:a win:b lose\n", 1),
        ("-3436FU\n'+\n%ILLEGAL_MOVE\n", 1),
        ("%KACHI\n'summary:illegal kachi:a win:b lose\n", 1),
        ("%KACHI\n'summary:kachi:a lose:b win\n", 2 | DECLARATION),
        ("%TORYO\n'summary:abnormal:a lose:b win\n", 2),
        ("'summary:oute_sennichite:a lose:b win\n", 2),
        ("'summary:sennichite:a draw:b draw\n", SENNICHITE),
        ("%TORYO\nT5\n'P9+KY+KE\n'-\n", 1),
        ("%TORYO\n'+\n", None),
        ("%TORYO\n'summary:toryo:a lose:b win\n", None),
        ("'summary:kachi:a win:b lose\n", None),
        ("'summary:sennichite:a win:b lose\n", None),
        ("%TORYO\n'summary:toryo:a draw:b draw\n", None),
        ("T9\n%TORYO\n", None),
    ],
)
def test_endings_and_summaries_of_csa_are_checked(end: str, found: int | None) -> None:
    check(read(CSA + end, ".csa"), found)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 60), st.data())
def test_random_games_without_a_line_are_refused(seed: int, plies: int, data: st.DataObject) -> None:
    """A game written by cshogi that lost or doubled a line is refused if its notation numbers or times the moves."""
    generator, board = np.random.default_rng(seed), cshogi.Board()
    kif, ki2, csa, last = ["手合割：平手"], ["手合割：平手"], ["PI", "+"], None
    heads = [len(kif), len(ki2), len(csa)]
    for ply in range(plies):
        legal = list(board.legal_moves)
        if not legal:
            break
        move = legal[generator.integers(len(legal))]
        kif.append(f"{ply + 1:4} {cshogi.KIF.move_to_kif(move, last)}")
        ki2.append(cshogi.KI2.move_to_ki2(move, board))
        csa += ["+-"[board.turn] + cshogi.move_to_csa(move), "T1"]
        last = move
        board.push(move)
    count = len(kif) - 1
    winner = "後先"[board.turn]
    kif += [f"{count + 1:4} 投了"]
    ki2 += [f"まで{count}手で{winner}手の勝ち"]
    csa += ["%TORYO"]
    for lines, head, suffix, step in zip((kif, ki2, csa), heads, (".kif", ".ki2", ".csa"), (1, 1, 2), strict=True):
        if suffix != ".ki2":  # cshogi leaves a few of its moves ambiguous
            assert isinstance(read("\n".join(lines), suffix), Game)
        number = head + step * data.draw(st.integers(0, count - 1))
        assert isinstance(read("\n".join(lines[:number] + lines[number + 1 :]), suffix), GameError)
        assert isinstance(read("\n".join(lines[: number + 1] + lines[number:]), suffix), GameError)
