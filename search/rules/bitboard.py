"""Bitboards of 63 + 18 bits and their tables: squares 0-62 (files 1-7) in the low word, 63-80 (files 8-9) in the high.

No file straddles the words, so pawns and lances are shifts within a word. Jitted code carries a bitboard as two
uint64; tables have a last axis of two. Directions are named for black: N is toward rank 1 (square - 1), E toward
file 1 (square - 9).
"""

from __future__ import annotations

import numpy as np

from search.rules.shogi import BISHOP, GOLD, KINDS, KING, KNIGHT, LANCE, PAWN, ROOK, SILVER, SQUARES

LOW_SQUARES = 63
ALL_LOW = np.uint64((1 << 63) - 1)
ALL_HIGH = np.uint64((1 << 18) - 1)
ONE = np.uint64(1)
NONE = np.uint64(0)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)

N, S, E, W, NE, NW, SE, SW = (np.int64(number) for number in range(8))  # typed: a literal compiles each call anew
UNALIGNED = 8
DIRECTION_STEPS = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))
"""(file, rank) step of each direction."""
OPPOSITE = np.array([S, N, W, E, SW, SE, NW, NE, UNALIGNED], np.uint8)

# Bitboards are kept by group: the golds and what moves like them share one.
GOLDS, HORSES, DRAGONS = 6, 8, 9
GROUPS = 10
GROUP = np.array(
    [PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLDS, KING, GOLDS, GOLDS, GOLDS, GOLDS, HORSES, DRAGONS], np.uint8
)
"""Group of each kind."""


def words(mask: int) -> tuple[np.uint64, np.uint64]:
    """The two words of an 81-bit Python integer (bit = square)."""
    return np.uint64(mask & int(ALL_LOW)), np.uint64(mask >> LOW_SQUARES)


def _table(masks: list) -> np.ndarray:
    """uint64 [..., 2] from a nested list of 81-bit Python integers."""
    if isinstance(masks[0], list):
        return np.stack([_table(row) for row in masks])
    return np.array([words(mask) for mask in masks], np.uint64)


def _walk(square: int, step: tuple[int, int], limit: int) -> int:
    mask, (file, rank) = 0, divmod(square, 9)
    for _ in range(limit):
        file, rank = file + step[0], rank + step[1]
        if not (0 <= file < 9 and 0 <= rank < 9):
            break
        mask |= 1 << (file * 9 + rank)
    return mask


def _steps(square: int, steps) -> int:
    return sum(_walk(square, step, 1) for step in steps)


_DIAGONALS = tuple(DIRECTION_STEPS[d] for d in (NE, NW, SE, SW))
_STRAIGHTS = tuple(DIRECTION_STEPS[d] for d in (N, S, E, W))
_GOLD_STEPS = tuple(DIRECTION_STEPS[d] for d in (N, S, E, W, NE, NW))
_STEPS_OF_KIND = {
    PAWN: (DIRECTION_STEPS[N],),
    KNIGHT: ((-1, -2), (1, -2)),
    SILVER: (DIRECTION_STEPS[N], *_DIAGONALS),
    GOLD: _GOLD_STEPS,
    KING: DIRECTION_STEPS,
    **dict.fromkeys((8, 9, 10, 11), _GOLD_STEPS),
    12: _STRAIGHTS,  # the steps that promotion adds
    13: _DIAGONALS,
}


def _step_masks() -> np.ndarray:
    masks = [[0] * SQUARES for _ in range(2 * KINDS)]
    for kind, steps in _STEPS_OF_KIND.items():
        for square in range(SQUARES):
            masks[kind][square] = _steps(square, steps)
            masks[KINDS + kind][square] = _steps(square, [(file, -rank) for file, rank in steps])
    return _table(masks)


BIT = _table([1 << square for square in range(SQUARES)])
RAYS = _table([[_walk(square, step, 8) for square in range(SQUARES)] for step in DIRECTION_STEPS] + [[0] * SQUARES])
"""[9 directions, 81, 2]: the squares from a square (excluded) to the edge; the ninth, UNALIGNED, is empty."""
STEP = _step_masks()
"""[28 pieces, 81, 2]: one-step and knight attacks; sliding parts are not in it."""
DIAGONAL_LINES = RAYS[NE] | RAYS[NW] | RAYS[SE] | RAYS[SW]
STRAIGHT_LINES = RAYS[N] | RAYS[S] | RAYS[E] | RAYS[W]


def _directions() -> np.ndarray:
    table = np.full((SQUARES, SQUARES), UNALIGNED, np.uint8)
    for square in range(SQUARES):
        for direction, step in enumerate(DIRECTION_STEPS):
            mask = _walk(square, step, 8)
            table[square, [target for target in range(SQUARES) if mask >> target & 1]] = direction
    return table


DIRECTION = _directions()
"""[81, 81]: the direction from the first square to the second, or UNALIGNED."""


def _ranks(ranks) -> int:
    return sum(1 << (file * 9 + rank) for file in range(9) for rank in ranks)


PROMOTION_ZONE = _table([_ranks(range(3)), _ranks(range(6, 9))])
"""[2 colours, 2]."""
DEAD_ONE = _table([_ranks([0]), _ranks([8])])
"""Where a pawn or lance of a colour could never move again; DEAD_TWO the same for a knight."""
DEAD_TWO = _table([_ranks([0, 1]), _ranks([7, 8])])
FILES = _table([0x1FF << (9 * file) for file in range(9)])
