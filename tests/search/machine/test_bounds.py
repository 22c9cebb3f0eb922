"""Options that are out of their bounds are named, all others pass."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.machine.bounds import MOST, check_number, check_numbers

NUMBERS = st.integers(-5, 10) | st.integers(MOST - 5, MOST + 5)


@given(NUMBERS, st.integers(-3, 8), st.none() | NUMBERS)
def test_a_number_passes_just_if_it_is_within(number, least, most):
    if number >= least and (most is None or number <= most):
        check_number("tree_nodes", number, least, most)
    else:
        with pytest.raises(ValueError, match=f"^--tree-nodes {number}: must be at "):
            check_number("tree_nodes", number, least, most)


def test_every_number_that_was_given_is_looked_at():
    options = SimpleNamespace(nodes=(1, 2), depth=None, games=MOST)
    check_numbers(options, "nodes", "depth", "games")
    with pytest.raises(ValueError, match="--nodes 1: must be at least 2"):
        check_numbers(options, "games", "nodes", least=2)
