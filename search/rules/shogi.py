"""The numbers that stand for shogi things, shared by every room: squares, pieces, hands, moves, piece codes.

A square is file*9 + rank with both from 0: 11 -> 0, 12 -> 1, ... 99 -> 80 (USI "1a" -> 0). Rotating the board by 180
degrees is `80 - square`. A kind is 0..13 in the order P L N S B R G K +P +L +N +S +B +R; a piece is `colour*14 + kind`,
and 28 is an empty square, so that a board seen by black is already the input of the lite network (the source's listing,
dlshogi's `PieceType - 1`).
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
"""Hands hold the kinds PAWN..GOLD, indexed by kind: P L N S B R G."""

PROMOTION = 8
"""What promotion adds to a kind, and to a piece."""
UNPROMOTED = np.array([*range(8), *range(6)], np.int64)
"""By kind: what it is once it is captured, and before it promotes."""
OTHER_COLOUR = np.array([*range(KINDS, EMPTY), *range(KINDS), *[EMPTY] * 4], np.uint8)
"""By piece: the same kind of the other colour; an empty square stays one (32 entries, so that a mask bounds them)."""
MIRRORED_SQUARE = np.array([(8 - square // 9) * 9 + square % 9 for square in range(SQUARES)], np.int64)
"""By square: the one that it becomes when left and right change places."""

PIECES_IN_BOX = np.array([18, 4, 4, 4, 2, 2, 4, 2], np.int64)
"""How many pieces of each unpromoted kind a set has, both colours together."""

KIND_LETTERS = ("P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R")

# A move is 16 bits as in hcpe: bits 0-6 the target, bits 7-13 the origin (81 + kind for a drop), bit 14 promotion.
NO_MOVE = 0
"""Never a legal move (11 -> 11); hcpe files use it for "none"."""
PROMOTE = 1 << 14
DROP_ORIGIN = 81

# A piece code names one physical fact about a position, seen by black: "piece p stands on square s" is p*81 + s, and
# "colour c holds at least n of kind k" is HAND_CODES + c*38 + HAND_OFFSET[k] + n - 1. A move changes at most two codes
# each way, so feature sets are maps from piece codes to rows (see feature_sets.py).
HAND_OFFSET = np.array([0, 18, 22, 26, 30, 32, 34], np.int64)
HAND_SLOTS = 38
HAND_CODES = 28 * SQUARES
CODES = HAND_CODES + 2 * HAND_SLOTS
"""2344 codes; the value itself stands for "no code"."""
NO_CODE = CODES

START_SFEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


def rotate_code(code: int) -> int:
    """The same fact seen by white: colours swapped, the board rotated by 180 degrees. An involution."""
    if code == NO_CODE:
        return NO_CODE
    if code < HAND_CODES:
        piece, square = divmod(code, SQUARES)
        return int(OTHER_COLOUR[piece]) * SQUARES + (SQUARES - 1 - square)
    return HAND_CODES + (code - HAND_CODES + HAND_SLOTS) % (2 * HAND_SLOTS)
