"""The active rows of positions in YaneuraOu's feature sets, for training; `first_layer.py` lists the rows of
`piece_square`."""

from __future__ import annotations

import numpy as np

from lite.networks.first_layer import MAX_LISTED
from search.compiling.jit import jit
from search.evaluation.feature_sets import HAND_SLOT_COUNT, HAND_SLOT_KIND, MEN, NO_KING, NO_ROW, FeatureSet
from search.rules.shogi import CODES, EMPTY, HAND_CODES, HAND_SLOTS, KINDS, KING, SQUARES

tables_dtype = np.dtype(
    [
        ("rows", np.int32, (2, 2, CODES + 1)),  # without the king's offset, by mirrored, view and code, or NO_ROW
        ("second_rows", np.int32, (2, CODES + 1)),  # by view and code, or NO_ROW
        ("mirrored", np.uint8, NO_KING + 1),  # by the own king's square
        ("king_offset", np.int64, NO_KING + 1),  # by the own king's square
        ("missing_row", np.int64),
    ],
    align=True,
)
"""The tables of a feature set for compiled code."""


def _tables_of(features: FeatureSet) -> np.void:
    """Return the record (of `tables_dtype`) of a feature set."""
    assert features.missing_row is not None
    tables: np.void = np.zeros(1, tables_dtype)[0]
    tables["rows"] = features.codes_to_rows
    if features.mirrored_codes_to_rows is not None:
        tables["rows"][1] = features.mirrored_codes_to_rows
    tables["second_rows"] = NO_ROW if features.second_rows is None else features.second_rows
    tables["mirrored"] = features.mirrored
    tables["king_offset"] = features.king_bucket.astype(np.int64) * features.king_stride
    tables["missing_row"] = features.missing_row
    return tables


@jit
def _codes_of(pieces, hands, view, codes):
    """Write the codes of a position's pieces on the board and in hand; return (codes, men, king): the number of codes,
    that of the pieces without kings, and the square of the view's king as the view sees it."""
    found = men = 0
    king = NO_KING
    for square in range(SQUARES):
        piece = np.int64(pieces[square])
        if piece == EMPTY:
            continue
        if piece == KING + KINDS * view:
            king = SQUARES - 1 - square if view else square
        men += piece % KINDS != KING
        codes[found] = piece * SQUARES + square
        found += 1
    for slot in range(2 * HAND_SLOTS):
        side, nth = slot // HAND_SLOTS, slot % HAND_SLOTS
        if hands[side * 7 + HAND_SLOT_KIND[nth]] >= HAND_SLOT_COUNT[nth]:
            men += 1
            codes[found] = HAND_CODES + slot
            found += 1
    return found, men, king


@jit
def _append_rows(table, codes, offset, rows, listed):
    """Append the rows of codes, each plus `offset`, to the `listed` first of `rows`; return the number listed."""
    for code in codes:
        row = table[code]
        if row != NO_ROW:
            rows[listed] = row + offset
            listed += 1
    return listed


@jit
def _list_rows(tables, pieces, hands, has_second_rows, rows, start):
    """Do the work of `list_feature_rows` with a set's `tables_dtype`; return the number of rows."""
    codes = np.empty(SQUARES + 2 * HAND_SLOTS, np.int64)
    listed = 0
    for position in range(pieces.shape[0]):
        for view in range(2):
            start[2 * position + view] = listed
            found, men, king = _codes_of(pieces[position], hands[position], view, codes)
            offset = tables.king_offset[king]
            table = tables.rows[np.int64(tables.mirrored[king]), view]
            listed = _append_rows(table, codes[:found], offset, rows, listed)
            for _ in range(MEN - men):
                rows[listed] = tables.missing_row + offset
                listed += 1
            if has_second_rows:
                listed = _append_rows(tables.second_rows[view], codes[:found], 0, rows, listed)
    start[2 * pieces.shape[0]] = listed
    return listed


def list_feature_rows(features: FeatureSet, pieces: np.ndarray, hands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the active rows `(rows u4 [total], start i8 [2 B + 1])` of each position's views, the mover's first.

    Sample s has `rows[start[s] : start[s + 1]]`. pieces u1 (B, 81), hands u1 (B, 14): the mover's view, as in `Batch`.
    """
    if len(pieces) and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}: decode the records again")
    most = MAX_LISTED + 2 * HAND_SLOTS + (SQUARES if features.second_rows is not None else 0)
    rows = np.empty(2 * len(pieces) * most + 1, np.uint32)
    start = np.empty(2 * len(pieces) + 1, np.int64)
    total = _list_rows(_tables_of(features), pieces, hands, features.second_rows is not None, rows, start)
    return rows[:total], start
