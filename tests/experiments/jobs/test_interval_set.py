"""The set of completed jobs is correct, and small while jobs finish nearly in order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.jobs.interval_set import IntervalSet


@given(st.lists(st.integers(0, 40)))
def test_the_set_has_all_added_numbers(numbers: list[int]) -> None:
    intervals, expected = IntervalSet(), set()
    for number in numbers:
        assert intervals.add(number) == (number not in expected)
        expected.add(number)
        assert len(intervals) == len(expected)
    assert {number for number in range(-1, 42) if number in intervals} == expected
    stretches = list(intervals.intervals())
    assert [number for start, stop in stretches for number in range(start, stop)] == sorted(expected)
    assert all(before[1] < behind[0] for before, behind in pairwise(stretches))


def test_numbers_in_disorder_leave_few_gaps() -> None:
    intervals = IntervalSet()
    for number in range(100_000):
        intervals.add(number ^ 5)
        assert sum(1 for _ in intervals.intervals()) <= 8 if number % 1000 == 0 else True
    assert list(intervals.intervals()) == [(0, 100_000)]


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="-1: a number from 0 on"):
        IntervalSet().add(-1)
