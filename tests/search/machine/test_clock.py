"""The clock that jitted code reads is the one that Python reads."""

from __future__ import annotations

import time

import pytest

from search.machine.clock import READABLE, is_past


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_a_time_is_past_when_python_says_so():
    for _ in range(1000):
        before = time.perf_counter_ns()
        assert is_past(before)
        assert is_past(0)
        assert not is_past(before + 10**10)


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_a_time_passes_while_python_s_clock_reaches_it():
    end = time.perf_counter_ns() + 20_000_000
    while not is_past(end):
        assert time.perf_counter_ns() < end + 10**10
    assert time.perf_counter_ns() >= end


@pytest.mark.skipif(READABLE, reason="jitted code reads the clock here")
def test_without_a_clock_no_time_passes():
    assert not is_past(0)
