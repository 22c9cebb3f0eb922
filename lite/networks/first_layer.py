"""The active rows of positions, which the first layer sums in training.

All networks here are linear up to the first activation, so the first layer is a table of rows, one per feature of
`piece_square` (piece on square, pieces in hand, in check), and a position is the sum of about forty of them. The
listing's module computes a (B, 16, 9, 9) feature map instead, which takes more than ten times as long.

Order of the 2325 rows: `piece*81 + square` with the piece as the mover sees it (0-13 own, 14-27 enemy), then 28 own
and 28 enemy rows for "holds at least n of a kind" (P8 L4 N4 S4 G4 B2 R2, the listing's order), then "in check".
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.evaluation.feature_sets import (
    HAND_ROW_LIMIT,
    HAND_ROW_START,
    HAND_ROWS,
    NO_ROW,
    PIECE_SQUARE_ROWS,
    piece_square,
)
from search.rules.shogi import EMPTY, HAND_CODES, HAND_KINDS, SQUARES

ROWS = PIECE_SQUARE_ROWS + 1
"""Rows of the feature set `piece_square`: 2268 of the board, 56 of the hands, 1 for "in check"."""
CHECK_ROW = ROWS - 1
HAND_LIMIT = np.concatenate((HAND_ROW_LIMIT, HAND_ROW_LIMIT))
"""Rows per kind in hand, by own P L N S B R G then the enemy's: pawns beyond the eighth add none."""
HAND_START = np.concatenate((HAND_ROW_START, HAND_ROW_START + HAND_ROWS))
"""First row of each kind among the 56 hand rows, which are in the order P L N S G B R."""
MAX_LISTED = SQUARES + 2 * HAND_ROWS + 1
"""Upper bound of the active rows of any board, legal or not."""


def _other_rows() -> np.ndarray:
    """Return for each row of the mover's view the same feature's row in the opponent's view; "in check" has none."""
    own, turned = piece_square().codes_to_rows
    other = np.full(ROWS, ROWS, np.uint16)
    other[own[own != NO_ROW]] = turned[own != NO_ROW]
    return other


OTHER_ROW = _other_rows()


@jit
def _list_rows(pieces, hands, in_check, perspectives, rows, start):
    listed = 0
    sample = 0
    for position in range(pieces.shape[0]):
        start[sample] = listed
        own = rows[listed : listed + MAX_LISTED]
        count = np.uint16(0)  # an unsigned index needs no test for negative values
        for square in range(SQUARES):
            piece = np.int32(pieces[position, square])
            own[count] = piece * SQUARES + square
            count = np.uint16(count + (piece != EMPTY))
        for slot in range(2 * HAND_KINDS):
            for nth in range(min(np.int64(hands[position, slot]), HAND_LIMIT[slot])):
                own[count] = HAND_CODES + HAND_START[slot] + nth
                count = np.uint16(count + 1)
        listed += np.int64(count)
        if in_check[position]:
            rows[listed] = CHECK_ROW
            listed += 1
        sample += 1
        if perspectives == 2:
            start[sample] = listed
            for place in range(count):
                rows[listed + place] = OTHER_ROW[own[place]]
            listed += np.int64(count)
            sample += 1
    start[sample] = listed
    return listed


def list_active_rows(
    pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray, perspectives: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the active rows of each sample as `(rows u2 [total], start i8 [samples + 1])`.

    Sample s has `rows[start[s] : start[s + 1]]`. pieces u1 (B, 81) 0..28, hands u1 (B, 14), in_check bool (B,), all in
    the mover's view as in `Batch`. With two perspectives position b gives the samples 2b (the mover's view) and 2b+1
    (the opponent's, never "in check").
    """
    positions = len(pieces)
    if positions and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}: decode the records again")
    rows = np.empty(positions * perspectives * MAX_LISTED + 1, np.uint16)
    start = np.empty(positions * perspectives + 1, np.int64)
    total = _list_rows(pieces, hands, in_check, perspectives, rows, start)
    return rows[:total], start
