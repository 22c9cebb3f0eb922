"""An option out of its bounds is named in the error; all others pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.system.bounds import MOST, check_number, check_numbers, check_unused
from search.system.options import OptionError

NUMBERS = st.integers(-5, 10) | st.integers(MOST - 5, MOST + 5)


@given(NUMBERS, st.integers(-3, 8), st.none() | NUMBERS)
def test_a_number_passes_only_within_its_bounds(number, least, most):
    if number >= least and (most is None or number <= most):
        check_number("tree_nodes", number, least, most)
    else:
        with pytest.raises(OptionError, match=f"^`tree_nodes` {number}: ") as refused:
            check_number("tree_nodes", number, least, most)
        assert refused.value.fields == ("tree_nodes",)


@pytest.mark.parametrize("number", [1.5, 1e6, "20"])
def test_numbers_that_are_not_whole_are_refused(number):
    check_number("positions", np.int64(20))
    with pytest.raises(OptionError, match=f"^`positions` {re.escape(str(number))}: "):
        check_number("positions", number)


@dataclass(frozen=True)
class Options:
    depth: int = 4
    divide: bool = False
    bench: bool = False


def test_an_option_without_effect_is_refused_where_it_differs_from_its_default():
    check_unused(Options(bench=True), "bench", "depth", "divide")
    with pytest.raises(OptionError, match="`depth`: has no effect with `bench`") as refused:
        check_unused(Options(depth=5, bench=True), "bench", "depth", "divide")
    assert refused.value.fields == ("depth", "bench")


def test_every_given_number_is_checked():
    options = SimpleNamespace(nodes=(1, 2), depth=None, games=MOST)
    check_numbers(options, "nodes", "depth", "games")
    with pytest.raises(OptionError, match=r"^`nodes` 1: must be at least 2$"):
        check_numbers(options, "games", "nodes", least=2)
