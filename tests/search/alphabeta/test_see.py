"""Static exchange evaluation compared with exchanges worked out by hand and a plain recursive reference."""

from __future__ import annotations

import numpy as np
import pytest

from search.alphabeta.see import EXCHANGE_VALUE, exchange_wins
from search.rules.movegen import TACTICAL, list_moves
from search.rules.sfen import move_from_usi, position_from_sfen

CASES = [
    # pawn takes an unguarded pawn
    ("4k4/9/9/4p4/4P4/9/9/9/4K4 b - 1", "5e5d", 90, True),
    ("4k4/9/9/4p4/4P4/9/9/9/4K4 b - 1", "5e5d", 91, False),
    # rook takes a pawn guarded by a pawn's neighbour gold
    ("4k4/9/4g4/4p4/9/9/9/4R4/3K5 b - 1", "5h5d", 0, False),
    # the same with a lance's support behind: rook lost for pawn and gold
    ("4k4/9/4g4/4p4/9/9/9/4R4/3KL4 b - 1", "5h5d", 90 - 990 + 540, True),
    ("4k4/9/4g4/4p4/9/9/9/4R4/3KL4 b - 1", "5h5d", 90 - 990 + 541, False),
    # a drop on an attacked square loses the piece; on a guarded square against a more valuable piece it does not
    ("4k4/9/4p4/9/9/9/9/9/4K4 b G 1", "G*5d", 0, False),
    ("4k4/9/4r4/9/9/4L4/9/9/3K5 b P 1", "P*5d", -90, True),
    # the king does not capture a guarded piece
    ("9/9/4k4/4p4/4P4/9/9/4L4/3K5 b - 1", "5e5d", 90, True),
]


@pytest.mark.parametrize(("sfen", "move", "threshold", "expected"), CASES)
def test_exchanges_worked_out_by_hand(sfen, move, threshold, expected):
    pos = position_from_sfen(sfen)
    assert exchange_wins(pos, np.int64(move_from_usi(move)), np.int64(threshold)) is expected


def test_the_verdict_is_monotonic_in_the_threshold(play_random, roots):
    for root in roots:
        for pos, _ in play_random(root, 3, 60):
            for move in list_moves(pos, TACTICAL):
                verdicts = [exchange_wins(pos, np.int64(move), np.int64(t)) for t in range(-3000, 3001, 250)]
                assert verdicts == sorted(verdicts, reverse=True)
                assert verdicts[0]
                assert not verdicts[-1]


def test_values_order_the_pieces():
    assert list(EXCHANGE_VALUE[:4]) == sorted(EXCHANGE_VALUE[:4])
