"""Feature sets: the table rows that a position adds up, as maps from piece codes.

A piece code (`search.rules.shogi`) is one physical fact seen by black: a piece on a square, or "at least n of a kind in
hand". A feature set gives every code a row, or none, for each perspective: black's, and white's with the board rotated
by 180 degrees and colours swapped. Sets that depend on the own king add `king_bucket[its square] * king_stride` to it.
A move removes at most two codes and adds two; a king that changes its bucket needs a refresh.

Exceptions that some sets have:
- `check_row` is added for the mover in check, at evaluation only.
- `missing_row` is added once for each of the 38 pieces other than kings that is nowhere (handicap games).
- `mirrored_codes_to_rows` replaces `codes_to_rows` while the own king stands on its files 6 to 9: the board is mirrored
  so that the king is always on files 1 to 5, which halves the table.
- `second_rows` gives a code one more row.

The sets: `piece_square` and `king_piece_square` of this project, and YaneuraOu's (`YANEURAOU_NAMES`). Their indices are
those of its `source/eval/nnue/features`, own king's square x BonaPiece:

    half_kp 1548 ksq + p        half_kp_vm the same, mirrored        k_p   p, then both kings' squares
    half_ka1 1710 ksq + p       half_ka_hm1 the same, mirrored       k_a2  fold(p), then both kings' squares again
    half_ka2 1629 ksq + fold(p) half_ka_hm2 the same, mirrored       fold: both kings share the plane of the own one
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
    MIRRORED_SQUARE,
    NO_CODE,
    SQUARES,
    rotate_code,
)

NO_ROW = -1
"""Row of a code that has none."""
NO_KING = 81
"""King's square of a side without a king."""
MEN = 38
"""Pieces of a full set without the two kings."""

HAND_ROW_START = np.array([0, 8, 12, 16, 24, 26, 20], np.int64)
HAND_ROW_LIMIT = np.array([8, 4, 4, 4, 2, 2, 4], np.int64)
"""Number of a side's hand rows by kind P L N S B R G; the first ones are HAND_ROW_START, with the rows in the order P L
N S G B R. A ninth pawn has no row."""
HAND_ROWS = 28
PIECE_SQUARE_ROWS = 28 * SQUARES + 2 * HAND_ROWS

# BonaPiece numbers (YaneuraOu's evaluate.h), by kind P L N S B R G: own and enemy.
BONA_HAND = np.array([[1, 39, 49, 59, 79, 85, 69], [20, 44, 54, 64, 82, 88, 74]], np.int64)
BONA_BOARD_START = 90
"""BonaPiece numbers from here on are pieces on squares."""
_GOLD_PLANE = 738
BONA_BOARD = np.array(
    [90, 252, 414, 576, 900, 1224, _GOLD_PLANE, -1, *[_GOLD_PLANE] * 4, 1062, 1386], np.int64
)  # by kind; promoted small pieces share gold's plane; the enemy's plane follows 81 rows later
BONA_END = 1548
BONA_ENEMY_KING = BONA_END + SQUARES
_BOTH_KINGS_END = BONA_END + 2 * SQUARES
_FOLDED_END = BONA_END + SQUARES
MIRRORED_FILES = 45
"""King squares of files 1 to 5; a mirrored set folds the others onto them."""

HAND_SLOT_KIND = np.repeat(np.arange(HAND_KINDS), [18, 4, 4, 4, 2, 2, 4])
HAND_SLOT_COUNT = np.arange(HAND_SLOTS) - HAND_OFFSET[HAND_SLOT_KIND] + 1
"""Slot s of a side's 38 hand codes says "at least COUNT[s] of KIND[s]"."""


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """A map from piece codes to rows; make one with `feature_set(name)`."""

    name: str
    rows: int
    """Rows of the table."""
    codes_to_rows: np.ndarray
    """int32 [2][CODES + 1]: row by perspective (black's, white's) and code without the king's offset, or NO_ROW."""
    king_stride: int = 0
    """Rows from one king bucket to the next; 0 if the set does not depend on the own king."""
    king_bucket: np.ndarray = field(default_factory=lambda: np.zeros(NO_KING + 1, np.int32))
    """int32 [82]: bucket by the own king's square as its owner sees it; entry 81 (bucket 0) is for no king at all."""
    check_row: int | None = None
    missing_row: int | None = None
    mirrored_codes_to_rows: np.ndarray | None = None
    """int32 [2][CODES + 1]: `codes_to_rows` while the own king stands on files 6 to 9 of its owner's view; None if the
    set is not mirrored."""
    second_rows: np.ndarray | None = None
    """int32 [2][CODES + 1]: one more row of each code, or NO_ROW; None if no code has a second row."""

    @property
    def mirrored(self) -> np.ndarray:
        """bool [82]: whether the board is mirrored, by the own king's square as its owner sees it."""
        squares = np.arange(NO_KING + 1)
        return (self.mirrored_codes_to_rows is not None) & (squares >= MIRRORED_FILES) & (squares < NO_KING)

    def active_rows(self, pieces: np.ndarray, hands: np.ndarray, perspective: int = 0) -> np.ndarray:
        """Return the rows of each position, int32 (B, columns), padded with `rows` (one past the table: zeros).

        pieces u1 (B, 81) or (81,), hands u1 (B, 14) or (14,) or (2, 7) (own P L N S B R G, then the other side's) are
        seen by one side: black's view of a position record, or the mover's view of a training batch. Perspective 0 is
        that side's, 1 its opponent's. The check row is not included.
        """
        pieces = np.atleast_2d(np.asarray(pieces, np.int64))
        hands = np.asarray(hands, np.int64).reshape(len(pieces), 2, HAND_KINDS)
        board_codes = np.where(pieces == EMPTY, NO_CODE, pieces * SQUARES + np.arange(SQUARES))
        held = hands[:, :, HAND_SLOT_KIND] >= HAND_SLOT_COUNT
        hand_codes = HAND_CODES + np.arange(2 * HAND_SLOTS).reshape(2, HAND_SLOTS)
        hand_codes = np.where(held, hand_codes, NO_CODE).reshape(len(pieces), -1)
        codes = np.concatenate((board_codes, hand_codes), 1)
        kings = self.king_squares(pieces, perspective)
        found = self.codes_to_rows[perspective][codes].astype(np.int64)
        if self.mirrored_codes_to_rows is not None:
            found = np.where(self.mirrored[kings][:, None], self.mirrored_codes_to_rows[perspective][codes], found)
        offset = self.king_bucket[kings].astype(np.int64) * self.king_stride
        rows = np.where(found == NO_ROW, self.rows, found + offset[:, None])
        if self.missing_row is not None:
            men = (pieces != EMPTY).sum(1) - (pieces % KINDS == KING).sum(1) + hands.sum((1, 2))
            absent = np.arange(MEN) < (MEN - men)[:, None]
            rows = np.concatenate((rows, np.where(absent, (self.missing_row + offset)[:, None], self.rows)), 1)
        if self.second_rows is not None:
            second = self.second_rows[perspective][codes]
            rows = np.concatenate((rows, np.where(second == NO_ROW, self.rows, second)), 1)
        return rows.astype(np.int32)

    @staticmethod
    def king_squares(pieces: np.ndarray, perspective: int) -> np.ndarray:
        """Return the own king's square (B,) as the perspective sees it; NO_KING where there is none."""
        found = pieces == KING + KINDS * perspective
        square = np.where(found.any(1), found.argmax(1), NO_KING)
        return np.where((perspective == 1) & (square != NO_KING), SQUARES - 1 - square, square)


def _both_perspectives(row_of: Callable[[int], int]) -> np.ndarray:
    """Return codes_to_rows from a map of black's view; white's view of a code is black's view of the rotated one."""
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
    """Return the BonaPiece number of a code; kings have numbers of their own, after all others."""
    if code >= HAND_CODES:
        colour, slot = divmod(code - HAND_CODES, HAND_SLOTS)
        return int(BONA_HAND[colour, HAND_SLOT_KIND[slot]] + HAND_SLOT_COUNT[slot] - 1)
    piece, square = divmod(code, SQUARES)
    colour, kind = divmod(piece, KINDS)
    return int((BONA_END if kind == KING else BONA_BOARD[kind]) + colour * SQUARES + square)


def _without_kings(code: int) -> int:
    piece = _bona_piece(code)
    return piece if piece < BONA_END else NO_ROW


def _folded(code: int) -> int:
    piece = _bona_piece(code)
    return piece - SQUARES if piece >= BONA_ENEMY_KING else piece


def _folded_second(code: int) -> int:
    """Return the row of a king's own plane, after the folded ones; NO_ROW for all other codes."""
    piece = _bona_piece(code)
    return piece + SQUARES if piece >= BONA_END else NO_ROW


def _mirror(rows: np.ndarray) -> np.ndarray:
    """Return rows of BonaPiece numbers with every piece on its mirrored square; hands stay."""
    plane, square = np.divmod(rows - BONA_BOARD_START, SQUARES)
    moved = BONA_BOARD_START + plane * SQUARES + MIRRORED_SQUARE[square]
    return np.where(rows >= BONA_BOARD_START, moved, rows).astype(np.int32)


def piece_square() -> FeatureSet:
    """28 pieces x 81 squares, 56 hand rows, "in check": the lite value network's own inputs."""
    return FeatureSet(
        "piece_square", PIECE_SQUARE_ROWS + 1, _both_perspectives(_piece_square_row), check_row=PIECE_SQUARE_ROWS
    )


def zone_buckets() -> np.ndarray:
    """Return nine buckets of 3x3 squares, int32 [81]."""
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


def _king_square_set(name: str, row_of: Callable[[int], int], stride: int, mirrored: bool) -> FeatureSet:
    """A set with one block of `stride` rows per square of the own king, or per square of files 1 to 5."""
    squares = np.arange(SQUARES)
    if mirrored:
        squares = np.where(squares < MIRRORED_FILES, squares, MIRRORED_SQUARE)
    codes = _both_perspectives(row_of)
    return FeatureSet(
        name,
        (int(squares.max()) + 1) * stride,
        codes,
        stride,
        np.append(squares, 0).astype(np.int32),
        missing_row=0,
        mirrored_codes_to_rows=_mirror(codes) if mirrored else None,
    )


def half_kp() -> FeatureSet:
    """NNUE's HalfKP(Friend): own king's square x BonaPiece (1548), 125,388 rows."""
    return _king_square_set("half_kp", _without_kings, BONA_END, mirrored=False)


def half_kp_vm() -> FeatureSet:
    """HalfKP_vm(Friend): HalfKP with the own king mirrored to files 1 to 5, 69,660 rows."""
    return _king_square_set("half_kp_vm", _without_kings, BONA_END, mirrored=True)


def half_ka1() -> FeatureSet:
    """HalfKA1(Friend): own king's square x BonaPiece with both kings (1710), 138,510 rows."""
    return _king_square_set("half_ka1", _bona_piece, _BOTH_KINGS_END, mirrored=False)


def half_ka_hm1() -> FeatureSet:
    """HalfKA_hm1(Friend): HalfKA1 with the own king mirrored to files 1 to 5, 76,950 rows."""
    return _king_square_set("half_ka_hm1", _bona_piece, _BOTH_KINGS_END, mirrored=True)


def half_ka2() -> FeatureSet:
    """HalfKA2(Friend): own king's square x BonaPiece with one plane for both kings (1629), 131,949 rows."""
    return _king_square_set("half_ka2", _folded, _FOLDED_END, mirrored=False)


def half_ka_hm2() -> FeatureSet:
    """HalfKA_hm2(Friend): HalfKA2 with the own king mirrored to files 1 to 5, 73,305 rows."""
    return _king_square_set("half_ka_hm2", _folded, _FOLDED_END, mirrored=True)


def k_p() -> FeatureSet:
    """NNUE's K+P: BonaPiece, then the own king's and the enemy king's square, 1,710 rows."""
    return FeatureSet("k_p", _BOTH_KINGS_END, _both_perspectives(_bona_piece), missing_row=0)


def k_a2() -> FeatureSet:
    """K+A2: BonaPiece with one plane for both kings, then both kings' squares once more, 1,791 rows."""
    return FeatureSet(
        "k_a2",
        _FOLDED_END + 2 * SQUARES,
        _both_perspectives(_folded),
        missing_row=0,
        second_rows=_both_perspectives(_folded_second),
    )


_OWN: dict[str, Callable[[], FeatureSet]] = {"piece_square": piece_square, "king_piece_square": king_piece_square}
_YANEURAOU: dict[str, Callable[[], FeatureSet]] = {
    "half_kp": half_kp,
    "k_p": k_p,
    "k_a2": k_a2,
    "half_kp_vm": half_kp_vm,
    "half_ka1": half_ka1,
    "half_ka_hm1": half_ka_hm1,
    "half_ka2": half_ka2,
    "half_ka_hm2": half_ka_hm2,
}
_MAKERS = _OWN | _YANEURAOU
NAMES = tuple(_MAKERS)
YANEURAOU_NAMES = tuple(_YANEURAOU)


def feature_set(name: str, king_buckets: Sequence[int] | np.ndarray | None = None) -> FeatureSet:
    """Return the feature set of a name; `king_buckets` is for `king_piece_square` alone. Raises ValueError."""
    if name not in _MAKERS:
        raise ValueError(f"unknown feature set {name!r}: known are {', '.join(NAMES)}")
    if king_buckets is not None:
        if name != "king_piece_square":
            raise ValueError(f"the feature set {name} has no king buckets")
        return king_piece_square(king_buckets)
    return _MAKERS[name]()
