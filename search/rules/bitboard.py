"""Bitboards of 63 + 18 bits and their tables: squares 0-62 (files 1-7) in the low word, 63-80 (files 8-9) in the high.

No file crosses from one word to the other, so pawns and lances are shifts within a word. Jitted code holds a bitboard
as two uint64; tables have a last axis of two. Directions are named for black: N is toward rank 1 (square - 1), E toward
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

N, S, E, W, NE, NW, SE, SW = (
    np.int64(number) for number in range(8)
)  # typed: each literal would compile the callee again
UNALIGNED = 8
DIRECTION_STEPS = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))
"""The step (file, rank) of each direction."""
OPPOSITE = np.array([S, N, W, E, SW, SE, NW, NE, UNALIGNED], np.uint8)

# There is one bitboard per group: golds and the pieces that move like them share one.
GOLDS, HORSES, DRAGONS = 6, 8, 9
GROUPS = 10
GROUP = np.array(
    [PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLDS, KING, GOLDS, GOLDS, GOLDS, GOLDS, HORSES, DRAGONS], np.uint8
)
"""The group of each kind."""


def bitboards(squares: np.ndarray) -> np.ndarray:
    """Convert sets of squares, bool [..., 81], to bitboards uint64 [..., 2]."""
    bits = np.zeros((*squares.shape[:-1], 128), np.bool_)
    bits[..., :LOW_SQUARES] = squares[..., :LOW_SQUARES]
    bits[..., 64 : 64 + SQUARES - LOW_SQUARES] = squares[..., LOW_SQUARES:]
    return np.packbits(bits, -1, "little").view("<u8").astype(np.uint64)


def square_sets(boards: np.ndarray) -> np.ndarray:
    """Convert bitboards uint64 [..., 2] to sets of squares, bool [..., 81]."""
    bits = np.unpackbits(np.ascontiguousarray(boards, "<u8").view(np.uint8), -1, bitorder="little")
    return np.concatenate((bits[..., :LOW_SQUARES], bits[..., 64 : 64 + SQUARES - LOW_SQUARES]), -1).view(np.bool_)


FILE, RANK = np.divmod(np.arange(SQUARES), 9)
"""File and rank of each square, from 0: [81]."""
_FILES_ON = FILE - FILE[:, None]
_RANKS_ON = RANK - RANK[:, None]


def _steps(steps) -> np.ndarray:
    """Return for each pair of squares whether a step leads from the first to the second: bool [81, 81]."""
    return np.any([(file == _FILES_ON) & (rank == _RANKS_ON) for file, rank in steps], 0)


def _line(step: tuple[int, int]) -> np.ndarray:
    """Return for each pair of squares whether repeating a step leads from the first to the second: bool [81, 81]."""
    return _steps([(step[0] * times, step[1] * times) for times in range(1, 9)])


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


def _step_table() -> np.ndarray:
    table = np.zeros((2 * KINDS, SQUARES, SQUARES), np.bool_)
    for kind, steps in _STEPS_OF_KIND.items():
        table[kind] = _steps(steps)
        table[KINDS + kind] = _steps([(file, -rank) for file, rank in steps])
    return bitboards(table)


_LINES = np.array([_line(step) for step in DIRECTION_STEPS])
BIT = bitboards(np.eye(SQUARES, dtype=np.bool_))
RAYS = np.concatenate((bitboards(_LINES), np.zeros((1, SQUARES, 2), np.uint64)))
"""Squares from a square (excluded) to the edge, [9 directions, 81, 2]; empty for the ninth direction, UNALIGNED."""
STEP = _step_table()
"""Attacks by one step or a knight's jump, without sliding parts: [28 pieces, 81, 2]."""
DIAGONAL_LINES = RAYS[NE] | RAYS[NW] | RAYS[SE] | RAYS[SW]
STRAIGHT_LINES = RAYS[N] | RAYS[S] | RAYS[E] | RAYS[W]
DIRECTION = np.where(_LINES.any(0), _LINES.argmax(0), UNALIGNED).astype(np.uint8)
"""The direction from the first square to the second, or UNALIGNED: [81, 81]."""
PROMOTION_ZONE = bitboards(np.array([RANK < 3, RANK > 5]))
"""Squares in which each colour promotes: [2 colours, 2]."""
DEAD_ONE = bitboards(np.array([RANK == 0, RANK == 8]))
"""Squares from which a pawn or lance of a colour could never move; DEAD_TWO holds those of a knight."""
DEAD_TWO = bitboards(np.array([RANK < 2, RANK > 6]))
FILES = bitboards(np.arange(9)[:, None] == FILE)
