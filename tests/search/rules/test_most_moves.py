"""No position has more legal moves than MAX_MOVES: by arithmetic, and by search among crowded boards."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from search.rules.movegen import EVERY, MAX_MOVES, generate
from search.rules.position import new_position
from search.rules.set_up import BOARD_OK, set_board
from search.rules.sfen import position_from_sfen
from search.rules.shogi import EMPTY, HAND_KINDS, KINDS, KING, PIECES_IN_BOX, SQUARES

MOST_WITH_KINGS = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"
MOST = "R8/2K1S1SS1/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP 1"
MOST_WITHOUT_KINGS = "R8/4S1SS1/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP 1"

_SIDES, _DIAGONALS = [(0, -1), (0, 1), (1, 0), (-1, 0)], [(1, 1), (1, -1), (-1, 1), (-1, -1)]
_GOLD = [*_SIDES, (1, -1), (-1, -1)]
_STEPS = [[(0, -1)], [], [(1, -2), (-1, -2)], [(0, -1), *_DIAGONALS], [], [], _GOLD, _SIDES + _DIAGONALS]
_STEPS += [_GOLD] * 4 + [_SIDES, _DIAGONALS]
_RAYS = {1: [(0, -1)], 4: _DIAGONALS, 5: _SIDES, 12: _DIAGONALS, 13: _SIDES}
_DEAD_RANKS = {0: 1, 1: 1, 2: 2}


def count_moves(pos: np.void) -> int:
    """Return the number of legal moves, written to a buffer with room for many more."""
    buffer = np.zeros(4 * MAX_MOVES, np.uint16)
    return int(generate(pos, buffer, np.int64(0), np.int64(EVERY)))


def most_alone(kind: int, square: int) -> int:
    """Return the number of moves of black's piece on an empty board, with and without promotion."""
    file, rank = divmod(square, 9)
    targets = [(file + f, rank + r) for f, r in _STEPS[kind]]
    targets += [(file + n * f, rank + n * r) for f, r in _RAYS.get(kind, []) for n in range(1, 9)]
    count = 0
    for f, r in targets:
        if 0 <= f < 9 and 0 <= r < 9:
            count += r >= _DEAD_RANKS.get(kind, 0)
            count += kind < 6 and min(rank, r) < 3
    return count


def test_the_arithmetic_bound_is_reached():
    """Every piece on the board has at most as many moves as it would have alone, and its square is lost to drops.

    Nothing else can have more: with the best square for each piece, for every set of kinds in hand.
    """
    alone = np.array([[most_alone(kind, square) for square in range(SQUARES)] for kind in range(KINDS)])
    may_drop = np.array([[s % 9 >= _DEAD_RANKS.get(k, 0) for s in range(SQUARES)] for k in range(HAND_KINDS)])
    bounds = []
    for size in range(HAND_KINDS + 1):
        for held in combinations(range(HAND_KINDS), size):
            gains = np.maximum(alone - may_drop[list(held)].sum(0), 0).max(1)
            bound = int(may_drop[list(held)].sum())
            for kind in range(KING + 1):
                count = 1 if kind == KING else int(PIECES_IN_BOX[kind]) - (kind in held)
                promoted = int(gains[kind + 8]) if kind < 6 else 0
                bound += count * max(int(gains[kind]), promoted)
            bounds.append(bound)
    assert max(bounds) == count_moves(position_from_sfen(MOST)) == 599
    assert max(bounds) <= MAX_MOVES
    assert count_moves(position_from_sfen(MOST_WITH_KINGS)) == 593
    assert count_moves(position_from_sfen(MOST_WITHOUT_KINGS)) == 597


@st.composite
def crowded(draw):
    """Draw a position near the one with the most moves: pieces moved, some removed from board and hand."""
    pos = position_from_sfen(draw(st.sampled_from((MOST_WITH_KINGS, MOST, MOST_WITHOUT_KINGS))))
    board, hands = pos["board"].copy(), pos["hands"].copy()
    for _ in range(draw(st.integers(0, 4))):
        square, target = draw(st.integers(0, SQUARES - 1)), draw(st.integers(0, SQUARES - 1))
        board[[square, target]] = board[[target, square]]
    for _ in range(draw(st.integers(0, 3))):
        board[draw(st.integers(0, SQUARES - 1))] = EMPTY
    for kind in range(HAND_KINDS):
        if draw(st.integers(0, 7)) == 7:
            hands[0, kind] = 0
    return board, hands


@given(crowded())
@settings(max_examples=300)
def test_no_crowded_board_has_more(position):
    board, hands = position
    pos = new_position()
    assume(set_board(pos, board, hands, np.int64(0), np.int64(1)) == BOARD_OK)
    assert count_moves(pos) <= 599
