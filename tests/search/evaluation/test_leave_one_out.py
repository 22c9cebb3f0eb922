"""The contribution of a piece equals the change of the evaluation when the piece is removed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from search.evaluation.leave_one_out import contributions, draw_contributions, leave_one_out
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_sfens
from search.rules.position import in_check
from search.rules.sfen import get_sfen, position_from_sfen
from search.rules.shogi import KIND_LETTERS, KINDS

DISCOVERING = "4k4/9/4P4/9/9/9/9/4R4/K3r4 b - 1"
"""The mover's pawn stands between its rook and the other king."""
NETS = ("default", "dense-64-16", "lite-16-4-32", "half_kp")


@pytest.fixture(scope="module", params=NETS)
def net(request, nnue_content, tmp_path_factory) -> EvalNetwork:
    if request.param != "half_kp":
        return load_network(request.param)
    path = tmp_path_factory.mktemp("net") / "nn.bin"  # its feature set has rows for missing men
    path.write_bytes(nnue_content("half_kp", 32, 8, 8))
    return load_network(path)


def sfen_without(sfen: str, letters: str, square: int | None) -> str:
    """Remove a piece from the text of an SFEN; `square` None removes one in hand."""
    board, turn, hands, number = sfen.split()
    if square is None:
        held = re.findall(r"(\d*)([A-Za-z])", hands)
        counts = {letter: int(count or 1) for count, letter in held}
        counts[letters] -= 1
        left = "".join(f"{count if count > 1 else ''}{letter}" for letter, count in counts.items() if count)
        return f"{board} {turn} {left or '-'} {number}"
    ranks = [re.findall(r"\+?[A-Za-z]|1", re.sub(r"\d", lambda n: "1" * int(n[0]), rank)) for rank in board.split("/")]
    file, rank = divmod(square, 9)
    assert ranks[rank][8 - file] == letters
    ranks[rank][8 - file] = "1"
    return f"{'/'.join(map(''.join, ranks))} {turn} {hands} {number}"


def test_a_contribution_equals_removing_the_piece(net, roots, play_random):
    refused = 0
    for seed, root in enumerate((*roots, DISCOVERING)):
        for ply, (pos, _) in enumerate(play_random(root, seed, 90)):
            if ply % 29:
                continue
            sfen = get_sfen(pos)
            left, worth = contributions(net, pos)
            sign = -1 if sfen.split()[1] == "w" else 1
            score = evaluate_sfens(net, [sfen])[0].score_cp
            assert (
                len(left.men)
                == len(worth)
                == len(re.findall(r"[A-JL-Za-jl-z]", sfen.split()[0])) + len(re.findall(r"[A-Za-z]", sfen.split()[2]))
            )
            for man, value, possible in zip(left.men, worth, left.possible[1:], strict=True):
                without = sfen_without(sfen, man.letters, man.square)
                if not possible:
                    refused += 1
                    with pytest.raises(ValueError, match="not to move is in check"):
                        evaluate_sfens(net, [without])
                    continue
                assert value == sign * (score - evaluate_sfens(net, [without])[0].score_cp), (sfen, man)
    assert refused


def test_check_is_determined_after_removing_a_piece():
    # The gold on 5h shields the mover's king from the lance on 5c and the rook behind it.
    pos = position_from_sfen("4r4/9/4l4/9/9/9/9/4G4/4K3k b - 1")
    left = leave_one_out(pos)
    by_square = {man.square: row + 1 for row, man in enumerate(left.men)}
    assert not left.in_check[0]
    assert [bool(left.in_check[by_square[4 * 9 + rank]]) for rank in (0, 2, 7)] == [False, False, True]
    assert left.possible.all()
    pos = position_from_sfen(DISCOVERING)
    assert in_check(pos)
    left = leave_one_out(pos)
    by_square = {man.square: row + 1 for row, man in enumerate(left.men)}
    assert left.in_check[0]
    assert not left.in_check[by_square[4 * 9 + 8]]  # the checking rook
    assert left.possible[by_square[4 * 9 + 8]]
    assert not left.possible[by_square[4 * 9 + 2]]  # the pawn that blocks the rook


def test_the_views_differ_from_the_position_by_one_man(roots):
    for sfen in roots:
        pos = position_from_sfen(sfen)
        left = leave_one_out(pos)
        changed = (left.pieces != left.pieces[0]).sum(1) + np.abs(left.hands.astype(int) - left.hands[0]).sum(1)
        assert changed.tolist() == [0, *[1] * len(left.men)]
        assert get_sfen(pos).split()[:3] == get_sfen(position_from_sfen(sfen)).split()[:3]  # the position is unchanged


def test_the_board_is_drawn_with_every_contribution(roots):
    for sfen in roots:
        pos = position_from_sfen(sfen)
        left = leave_one_out(pos)
        values = [100 + number for number in range(len(left.men))]
        lines = draw_contributions(pos, left.men, values)
        numbers = [int(found) for found in re.findall(r"\+(\d{3})\b", "\n".join(lines))]
        assert sorted(numbers) == values
        for man, value in zip(left.men, values, strict=True):
            if man.square is not None:
                file, rank = divmod(man.square, 9)
                column = slice(3 + 7 * (8 - file), 10 + 7 * (8 - file))
                assert lines[1 + 2 * rank][column].strip().upper() == KIND_LETTERS[man.piece % KINDS]
                assert lines[2 + 2 * rank][column].strip() == f"+{value}"
