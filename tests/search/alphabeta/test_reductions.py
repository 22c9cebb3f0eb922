"""Depth reductions of late moves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search.alphabeta.reductions import late_move_reduction, reduced_depth, weigh_move
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network

PLY = np.int64(8)
THREAD = SearchThread(material_network(), TranspositionTable(1)).record


def reduction(depth: int, number: int, improving: bool, on_pv: bool, is_pv: bool) -> int:
    THREAD["root_window"], THREAD["table_pv"][PLY] = 1, on_pv
    found = late_move_reduction(THREAD, np.int64(depth), np.int64(number), np.int64(1), improving, on_pv)
    return int(weigh_move(THREAD, PLY, found, np.int64(number), is_pv, False))


@given(st.integers(-20_000, 20_000), st.integers(1, 60), st.booleans())
def test_negative_reductions_add_at_most_two_plies_within_the_limit_of_growth(less, depth, is_pv):
    THREAD["nodes"] = 1000
    found = []
    for until in (1001, 1000):
        THREAD["grow_until"] = until
        found.append(int(reduced_depth(THREAD, np.int64(less), np.int64(depth), is_pv)) - is_pv)
    assert found[0] == max(1, min(depth - less // 1024, depth + 2))
    assert found[1] == max(1, min(found[0], depth))


@given(st.integers(1, 60), st.integers(32, 593), st.booleans(), st.booleans(), st.booleans())
def test_reductions_do_not_decrease_for_the_last_of_hundreds_of_moves(depth, number, improving, on_pv, is_pv):
    assert reduction(depth, number, improving, on_pv, is_pv) >= reduction(depth, 32, improving, on_pv, is_pv)
