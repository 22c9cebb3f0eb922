"""The clock that jitted code reads is the one that Python reads."""

from __future__ import annotations

import time

import pytest

from search.machine.clock import LATEST, READABLE, is_past, ticks_at


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_a_time_is_past_when_python_says_so():
    for _ in range(1000):
        before = time.perf_counter()
        assert is_past(ticks_at(before))
        assert is_past(0)
        assert not is_past(ticks_at(before + 10))


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_a_time_passes_while_python_s_clock_reaches_it():
    end = time.perf_counter() + 0.02
    while not is_past(ticks_at(end)):
        assert time.perf_counter() < end + 10
    assert time.perf_counter() >= end - 1e-6  # a second as a float


def test_centuries_are_as_late_as_there_is():
    assert ticks_at(1e12) == LATEST


@pytest.mark.skipif(READABLE, reason="jitted code reads the clock here")
def test_without_a_clock_no_time_passes():
    assert not is_past(0)
