"""The rows that a position makes active."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lite.networks import first_layer
from lite.networks.first_layer import ROWS, list_active_rows


@given(
    arrays.arrays(np.uint8, (3, 81), elements=st.integers(0, 28)),
    arrays.arrays(np.uint8, (3, 14), elements=st.integers(0, 18)),
    arrays.arrays(np.bool_, 3),
    st.sampled_from([1, 2]),
)
@settings(max_examples=60)
def test_active_rows_equal_a_plain_count(pieces, hands, in_check, perspectives):
    rows, start = list_active_rows(pieces, hands, in_check, perspectives)
    order = [(0, 0, 8), (1, 8, 4), (2, 12, 4), (3, 16, 4), (6, 20, 4), (4, 24, 2), (5, 26, 2)]
    for b in range(3):
        for view in range(perspectives):
            expected = []
            for square in range(81):
                piece = int(pieces[b, square])
                if piece != 28:
                    at = (piece, square) if view == 0 else ((piece + 14) % 28, 80 - square)
                    expected.append(at[0] * 81 + at[1])
            for side in range(2):
                for kind, first, limit in order:
                    held = min(int(hands[b, 7 * (side ^ view) + kind]), limit)
                    expected += [2268 + 28 * side + first + i for i in range(held)]
            if view == 0 and in_check[b]:
                expected.append(2324)
            sample = b * perspectives + view
            assert sorted(rows[start[sample] : start[sample + 1]].tolist()) == sorted(expected)
    assert start[-1] == len(rows)


def test_impossible_pieces_are_refused():
    pieces = np.full((1, 81), 29, np.uint8)
    with pytest.raises(ValueError, match=r"0\.\.28"):
        list_active_rows(pieces, np.zeros((1, 14), np.uint8), np.zeros(1, bool))


def test_tables_are_consistent():
    other = first_layer.OTHER_ROW
    assert other[first_layer.CHECK_ROW] == ROWS
    assert (other[other[:-1]] == np.arange(ROWS - 1)).all()
    ends = first_layer.HAND_START + first_layer.HAND_LIMIT
    assert sorted([*first_layer.HAND_START.tolist(), 56]) == sorted([*ends.tolist(), 0])
