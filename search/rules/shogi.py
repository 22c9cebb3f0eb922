"""Numbers of squares, pieces, hands, moves and piece codes, used in the whole program.

A square is file*9 + rank with both from 0: 11 -> 0, 12 -> 1, ... 99 -> 80 (USI "1a" -> 0). Rotating the board by 180
degrees is `80 - square`. A kind is 0..13 in the order P L N S B R G K +P +L +N +S +B +R. A piece is `colour*14 + kind`,
and 28 is an empty square. So a board seen by black is the input of the lite network (dlshogi's `PieceType - 1`).
"""

from __future__ import annotations

import numpy as np

BLACK, WHITE = 0, 1
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(8)
PRO_PAWN, PRO_LANCE, PRO_KNIGHT, PRO_SILVER, HORSE, DRAGON = range(8, 14)
KINDS = 14
EMPTY = 28
SQUARES = 81
HAND_KINDS = 7
"""Number of kinds in a hand: PAWN..GOLD, indexed by kind: P L N S B R G."""

PROMOTION = 8
"""Difference between a promoted and an unpromoted kind, and between such pieces."""
UNPROMOTED = np.array([*range(8), *range(6)], np.int64)
"""The unpromoted kind of each kind, which a captured piece becomes."""
OTHER_COLOUR = np.array([*range(KINDS, EMPTY), *range(KINDS), *[EMPTY] * 4], np.uint8)
"""The same kind of the other colour, by piece. An empty square stays one; there are 32 entries, so that a mask
bounds the index."""
MIRRORED_SQUARE = np.array([(8 - square // 9) * 9 + square % 9 for square in range(SQUARES)], np.int64)
"""The square at which a square lies when the board is mirrored left and right."""

PIECES_IN_BOX = np.array([18, 4, 4, 4, 2, 2, 4, 2], np.int64)
"""The number of pieces of each unpromoted kind in a set, both colours together."""

KIND_LETTERS = ("P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R")

# A move has 16 bits as in hcpe: bits 0-6 the target, bits 7-13 the origin (81 + kind for a drop), bit 14 promotion.
NO_MOVE = 0
"""Never a legal move (11 -> 11); hcpe files use it for "none"."""
PROMOTE = 1 << 14
DROP_ORIGIN = 81

# A piece code names one fact about a position, seen by black: "piece p stands on square s" is p*81 + s, and "colour c
# holds at least n of kind k" is HAND_CODES + c*38 + HAND_OFFSET[k] + n - 1. A move removes and adds at most two codes
# each, so feature sets are maps from piece codes to rows (see feature_sets.py).
HAND_OFFSET = np.array([0, 18, 22, 26, 30, 32, 34], np.int64)
HAND_SLOTS = 38
HAND_CODES = 28 * SQUARES
CODES = HAND_CODES + 2 * HAND_SLOTS
"""Number of piece codes, 2344; the number itself stands for "no code"."""
NO_CODE = CODES

START_SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


def rotate_code(code: int) -> int:
    """Return the piece code of the same fact seen by white: colours swapped, the board rotated by 180 degrees.

    Applied twice, it gives the first code.
    """
    if code == NO_CODE:
        return NO_CODE
    if code < HAND_CODES:
        piece, square = divmod(code, SQUARES)
        return int(OTHER_COLOUR[piece]) * SQUARES + (SQUARES - 1 - square)
    return HAND_CODES + (code - HAND_CODES + HAND_SLOTS) % (2 * HAND_SLOTS)
