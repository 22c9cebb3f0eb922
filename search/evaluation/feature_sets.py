"""Feature sets: which table rows a position adds up, as maps from piece codes.

A piece code (`search.rules.shogi`) is one physical fact seen by black: a piece on a square, or "at least n of a kind in
hand". A feature set gives every code a row, or none, for each perspective: black's, and white's with the board rotated
by 180 degrees and colours swapped. Sets that depend on the own king add `king_bucket[its square] * king_stride` to it.
That is all the evaluator needs: a move takes at most two codes away and adds two, and a king that changes its bucket
asks for a refresh. The small differences: `check_row` is added for the mover in check, at evaluation only, and
`missing_row` once for each of the 38 men other than kings that is nowhere (handicap games).

The four sets: `piece_square`, `king_piece_square`, `half_kp` (NNUE's HalfKP), `k_p` (NNUE's K+P).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from search.rules.shogi import (
    CODES,
    EMPTY,
    HAND_CODES,
    HAND_KINDS,
    HAND_OFFSET,
    HAND_SLOTS,
    KINDS,
    KING,
    NO_CODE,
    SQUARES,
    rotate_code,
)

NO_ROW = -1
"""What a code without a row maps to."""
NO_KING = 81
MEN = 38
"""Pieces of a full set without the two kings."""

HAND_ROW_START = np.array([0, 8, 12, 16, 24, 26, 20], np.int64)
HAND_ROW_LIMIT = np.array([8, 4, 4, 4, 2, 2, 4], np.int64)
"""A side's hand rows, by kind P L N S B R G: they stand in the listing's order P L N S G B R; a ninth pawn has none."""
HAND_ROWS = 28
PIECE_SQUARE_ROWS = 28 * SQUARES + 2 * HAND_ROWS

# BonaPiece numbers (YaneuraOu's evaluate.h), by kind P L N S B R G: own and enemy.
BONA_HAND = np.array([[1, 39, 49, 59, 79, 85, 69], [20, 44, 54, 64, 82, 88, 74]], np.int64)
_GOLD_PLANE = 738
BONA_BOARD = np.array(
    [90, 252, 414, 576, 900, 1224, _GOLD_PLANE, -1, *[_GOLD_PLANE] * 4, 1062, 1386], np.int64
)  # by kind; promoted small pieces share gold's plane; the enemy's plane follows 81 rows later
BONA_END = 1548

HAND_SLOT_KIND = np.repeat(np.arange(HAND_KINDS), [18, 4, 4, 4, 2, 2, 4])
HAND_SLOT_COUNT = np.arange(HAND_SLOTS) - HAND_OFFSET[HAND_SLOT_KIND] + 1
"""Slot s of a side's 38 hand codes says "at least COUNT[s] of KIND[s]"."""


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """A map from piece codes to rows; make one with `feature_set(name)`."""

    name: str
    rows: int
    """How many rows the table has."""
    codes_to_rows: np.ndarray
    """int32 [2][CODES + 1]: row by perspective (black's, white's) and code without the king's offset, or NO_ROW."""
    king_stride: int = 0
    """Rows from one king bucket to the next; 0 if the set does not depend on the own king."""
    king_bucket: np.ndarray = field(default_factory=lambda: np.zeros(NO_KING + 1, np.int32))
    """int32 [82]: bucket by the own king's square as its owner sees it; entry 81 (bucket 0) is for no king at all."""
    check_row: int | None = None
    missing_row: int | None = None

    def active_rows(self, pieces: np.ndarray, hands: np.ndarray, perspective: int = 0) -> np.ndarray:
        """The rows of each position, int32 (B, columns), filled up with `rows` (one past the table: a row of zeros).

        pieces u1 (B, 81) or (81,), hands u1 (B, 14) or (14,) or (2, 7) (own P L N S B R G, then the other side's) are
        seen by one side: black's view of a position record, or the mover's view of a training batch. Perspective 0 is
        that side's, 1 its opponent's. The check row is not among them.
        """
        pieces = np.atleast_2d(np.asarray(pieces, np.int64))
        hands = np.asarray(hands, np.int64).reshape(len(pieces), 2, HAND_KINDS)
        board_codes = np.where(pieces == EMPTY, NO_CODE, pieces * SQUARES + np.arange(SQUARES))
        held = hands[:, :, HAND_SLOT_KIND] >= HAND_SLOT_COUNT
        hand_codes = HAND_CODES + np.arange(2 * HAND_SLOTS).reshape(2, HAND_SLOTS)
        hand_codes = np.where(held, hand_codes, NO_CODE).reshape(len(pieces), -1)
        found = self.codes_to_rows[perspective][np.concatenate((board_codes, hand_codes), 1)].astype(np.int64)
        offset = self.king_bucket[self.king_squares(pieces, perspective)].astype(np.int64) * self.king_stride
        rows = np.where(found == NO_ROW, self.rows, found + offset[:, None])
        if self.missing_row is not None:
            men = (pieces != EMPTY).sum(1) - (pieces % KINDS == KING).sum(1) + hands.sum((1, 2))
            absent = np.arange(MEN) < (MEN - men)[:, None]
            rows = np.concatenate((rows, np.where(absent, (self.missing_row + offset)[:, None], self.rows)), 1)
        return rows.astype(np.int32)

    @staticmethod
    def king_squares(pieces: np.ndarray, perspective: int) -> np.ndarray:
        """Own king's square (B,) as the perspective sees it; NO_KING where there is none."""
        found = pieces == KING + KINDS * perspective
        square = np.where(found.any(1), found.argmax(1), NO_KING)
        return np.where((perspective == 1) & (square != NO_KING), SQUARES - 1 - square, square)


def _both_perspectives(row_of: Callable[[int], int]) -> np.ndarray:
    """codes_to_rows from a map of one's own codes; white's view of a code is black's view of the rotated one."""
    return _listed(row_of).copy()


@cache
def _listed(row_of: Callable[[int], int]) -> np.ndarray:
    own = np.array([row_of(code) for code in range(CODES)] + [NO_ROW], np.int32)
    turned = own[[rotate_code(code) for code in range(CODES + 1)]]
    return np.stack((own, turned))


def _piece_square_row(code: int) -> int:
    if code < HAND_CODES:
        return code
    colour, slot = divmod(code - HAND_CODES, HAND_SLOTS)
    kind, count = HAND_SLOT_KIND[slot], HAND_SLOT_COUNT[slot]
    if count > HAND_ROW_LIMIT[kind]:
        return NO_ROW
    return int(HAND_CODES + colour * HAND_ROWS + HAND_ROW_START[kind] + count - 1)


def _bona_piece(code: int) -> int:
    """The BonaPiece number of a code; NO_ROW for kings."""
    if code >= HAND_CODES:
        colour, slot = divmod(code - HAND_CODES, HAND_SLOTS)
        return int(BONA_HAND[colour, HAND_SLOT_KIND[slot]] + HAND_SLOT_COUNT[slot] - 1)
    piece, square = divmod(code, SQUARES)
    colour, kind = divmod(piece, KINDS)
    return NO_ROW if kind == KING else int(BONA_BOARD[kind] + colour * SQUARES + square)


def _k_p_row(code: int) -> int:
    piece, square = divmod(code, SQUARES)
    if code < HAND_CODES and piece % KINDS == KING:
        return BONA_END + piece // KINDS * SQUARES + square
    return _bona_piece(code)


def piece_square() -> FeatureSet:
    """28 pieces x 81 squares, 56 hand rows, "in check": the lite value network's own inputs."""
    return FeatureSet(
        "piece_square", PIECE_SQUARE_ROWS + 1, _both_perspectives(_piece_square_row), check_row=PIECE_SQUARE_ROWS
    )


def zone_buckets() -> np.ndarray:
    """Nine buckets of 3x3 squares, int32 [81]."""
    squares = np.arange(SQUARES)
    return (squares // 9 // 3 * 3 + squares % 9 // 3).astype(np.int32)


def king_piece_square(king_buckets: Sequence[int] | np.ndarray | None = None) -> FeatureSet:
    """`piece_square` once per bucket of the own king's square; one "in check" row after them all.

    king_buckets: int [81], bucket of each square as its owner sees it, from 0 without gaps; default `zone_buckets()`.
    """
    buckets = zone_buckets() if king_buckets is None else np.asarray(king_buckets)
    if buckets.shape != (SQUARES,) or buckets.dtype.kind not in "iu":
        raise ValueError(f"king buckets must be {SQUARES} whole numbers, one for each square")
    count = int(buckets.max()) + 1
    if int(buckets.min()) < 0 or count > SQUARES or len(np.unique(buckets)) != count:
        raise ValueError("king buckets must be numbered from 0 without gaps")
    table = np.append(buckets, 0).astype(np.int32)
    rows = count * PIECE_SQUARE_ROWS
    return FeatureSet(
        "king_piece_square", rows + 1, _both_perspectives(_piece_square_row), PIECE_SQUARE_ROWS, table, rows
    )


def half_kp() -> FeatureSet:
    """NNUE's HalfKP(Friend): own king's square x BonaPiece (1548), 125,388 rows."""
    squares = np.append(np.arange(SQUARES), 0).astype(np.int32)
    return FeatureSet("half_kp", SQUARES * BONA_END, _both_perspectives(_bona_piece), BONA_END, squares, missing_row=0)


def k_p() -> FeatureSet:
    """NNUE's K+P: BonaPiece, then the own king's and the enemy king's square, 1,710 rows."""
    return FeatureSet("k_p", BONA_END + 2 * SQUARES, _both_perspectives(_k_p_row), missing_row=0)


_MAKERS: dict[str, Callable[[], FeatureSet]] = {
    "piece_square": piece_square,
    "king_piece_square": king_piece_square,
    "half_kp": half_kp,
    "k_p": k_p,
}
NAMES = tuple(_MAKERS)


def feature_set(name: str, king_buckets: Sequence[int] | np.ndarray | None = None) -> FeatureSet:
    """The feature set of a name; `king_buckets` is for `king_piece_square` alone. Raises ValueError in words."""
    if name not in _MAKERS:
        raise ValueError(f"unknown feature set {name!r}: known are {', '.join(NAMES)}")
    if king_buckets is not None:
        if name != "king_piece_square":
            raise ValueError(f"the feature set {name} has no king buckets")
        return king_piece_square(king_buckets)
    return _MAKERS[name]()
