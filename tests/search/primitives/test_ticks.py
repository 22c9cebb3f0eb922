"""Jitted code reads the same clock as Python."""

from __future__ import annotations

import ctypes
import sys
import time

import llvmlite.binding
import numba
import pytest
from numba import types
from numba.extending import intrinsic

from search.primitives import ticks as clock
from search.primitives.ticks import LATEST, READABLE, is_past, ticks_at


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_times_are_past_as_by_the_clock_of_python():
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


def test_centuries_are_clipped_to_the_latest_time():
    assert ticks_at(1e12) == LATEST


@pytest.mark.skipif(READABLE, reason="jitted code reads the clock here")
def test_without_a_clock_no_time_passes():
    assert not is_past(0)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has the function itself")
def test_macos_reads_nanoseconds_of_python_s_clock():
    asked = []

    @ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint32)
    def clock_gettime_nsec_np(number):
        asked.append(number)
        return 1 << 62 | 12_345

    @intrinsic
    def read(context):
        return types.int64(), lambda context, builder, signature, arguments: clock._uptime(builder)

    llvmlite.binding.add_symbol("clock_gettime_nsec_np", ctypes.cast(clock_gettime_nsec_np, ctypes.c_void_p).value)
    assert numba.njit(lambda: read())() == 1 << 62 | 12_345
    assert asked == [8]  # CLOCK_UPTIME_RAW
