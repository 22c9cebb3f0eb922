"""The active rows of positions in YaneuraOu's feature sets, for training; `first_layer.py` lists the rows of
`piece_square`."""

from __future__ import annotations

import numpy as np

from lite.networks.first_layer import MAX_LISTED
from search.compiling.jit import jit
from search.evaluation.feature_sets import HAND_SLOT_COUNT, HAND_SLOT_KIND, MEN, NO_KING, NO_ROW, FeatureSet
from search.rules.shogi import CODES, EMPTY, HAND_CODES, HAND_SLOTS, KINDS, KING, SQUARES


@jit
def _list_rows(
    pieces,
    hands,
    codes_to_rows,
    mirrored_codes_to_rows,
    mirrored,
    second_rows,
    king_bucket,
    king_stride,
    missing_row,
    rows,
    start,
):
    listed = 0
    codes = np.empty(SQUARES + 2 * HAND_SLOTS, np.int64)
    for position in range(pieces.shape[0]):
        for view in range(2):
            start[2 * position + view] = listed
            own_king = KING + KINDS * view
            king = NO_KING
            men = 0
            found = 0
            for square in range(SQUARES):
                piece = np.int64(pieces[position, square])
                if piece == EMPTY:
                    continue
                if piece == own_king:
                    king = SQUARES - 1 - square if view else square
                men += piece % KINDS != KING
                codes[found] = piece * SQUARES + square
                found += 1
            for slot in range(2 * HAND_SLOTS):
                side, nth = slot // HAND_SLOTS, slot % HAND_SLOTS
                if hands[position, side * 7 + HAND_SLOT_KIND[nth]] >= HAND_SLOT_COUNT[nth]:
                    men += 1
                    codes[found] = HAND_CODES + slot
                    found += 1
            table = mirrored_codes_to_rows if mirrored[king] else codes_to_rows
            offset = king_bucket[king] * king_stride
            for place in range(found):
                row = table[view, codes[place]]
                if row != NO_ROW:
                    rows[listed] = row + offset
                    listed += 1
            for _ in range(MEN - men):
                rows[listed] = missing_row + offset
                listed += 1
            if len(second_rows):
                for place in range(found):
                    row = second_rows[view, codes[place]]
                    if row != NO_ROW:
                        rows[listed] = row
                        listed += 1
    start[2 * pieces.shape[0]] = listed
    return listed


def list_feature_rows(features: FeatureSet, pieces: np.ndarray, hands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the active rows `(rows u4 [total], start i8 [2 B + 1])` of each position's views, the mover's first.

    Sample s has `rows[start[s] : start[s + 1]]`. pieces u1 (B, 81), hands u1 (B, 14): the mover's view, as in `Batch`.
    """
    if len(pieces) and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}: decode the records again")
    assert features.missing_row is not None
    most = MAX_LISTED + 2 * HAND_SLOTS + (SQUARES if features.second_rows is not None else 0)
    rows = np.empty(2 * len(pieces) * most + 1, np.uint32)
    start = np.empty(2 * len(pieces) + 1, np.int64)
    none = np.empty((0, CODES + 1), np.int32)
    mirrored_rows, second_rows = (
        none if table is None else table for table in (features.mirrored_codes_to_rows, features.second_rows)
    )
    tables = (features.codes_to_rows, mirrored_rows, features.mirrored, second_rows, features.king_bucket)
    numbers = (np.int64(features.king_stride), np.int64(features.missing_row))
    total = _list_rows(pieces, hands, *tables, *numbers, rows, start)
    return rows[:total], start
