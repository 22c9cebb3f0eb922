"""Options that are out of their bounds are named, all others pass."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.system.bounds import MOST, check_number, check_numbers

NUMBERS = st.integers(-5, 10) | st.integers(MOST - 5, MOST + 5)


@given(NUMBERS, st.integers(-3, 8), st.none() | NUMBERS)
def test_a_number_passes_just_if_it_is_within(number, least, most):
    if number >= least and (most is None or number <= most):
        check_number("tree_nodes", number, least, most)
    else:
        with pytest.raises(ValueError, match=f"^--tree-nodes {number}: must be at "):
            check_number("tree_nodes", number, least, most)


@pytest.mark.parametrize("number", [1.5, 1e6, "20"])
def test_what_is_no_whole_number_is_refused(number):
    check_number("positions", np.int64(20))
    with pytest.raises(ValueError, match=f"^--positions {re.escape(str(number))}: a whole number is needed, not a "):
        check_number("positions", number)


def test_every_number_that_was_given_is_looked_at():
    options = SimpleNamespace(nodes=(1, 2), depth=None, games=MOST)
    check_numbers(options, "nodes", "depth", "games")
    with pytest.raises(ValueError, match="--nodes 1: must be at least 2"):
        check_numbers(options, "games", "nodes", least=2)
