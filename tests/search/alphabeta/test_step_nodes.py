"""The cost of each search step, compared with the full search."""

from __future__ import annotations

import pytest

from search.alphabeta.parameters import STEPS
from search.alphabeta.step_nodes import FULL_SEARCH, compare_steps
from search.system.options import OptionError


def test_every_step_is_left_out_once(monkeypatch):
    monkeypatch.setattr("search.alphabeta.step_nodes.HASH_MB", 1)
    rows = compare_steps("default", 3, 5_000).rows
    assert list(rows) == [FULL_SEARCH, *STEPS]
    assert rows[FULL_SEARCH].ratio == 1
    assert any(row.nodes != rows[FULL_SEARCH].nodes for row in rows.values())


@pytest.mark.parametrize("depth", [0, 61])
def test_a_depth_beyond_the_limits_is_refused(depth):
    with pytest.raises(OptionError, match="`depth`"):
        compare_steps("default", depth, 5_000)
