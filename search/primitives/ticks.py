"""The clock of `time.perf_counter`, read by jitted code, in that clock's own ticks.

Linux, macOS and Windows have a function for it that costs some 20 ns, and Python says that it reads the same clock.
Elsewhere `is_past` is never true, and whoever waits for it needs a timer besides. On Windows a timer alone would be
woken at the next of the system's ticks, up to 16 milliseconds late.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic

from search.compiling.jit import jit
from search.primitives.llvm import external, i32, i64

NANOSECONDS = 1_000_000_000
CLOCK_UPTIME_RAW = 8
"""As macOS numbers its clocks: that of mach_absolute_time, in nanoseconds."""


def _monotonic(builder: Any) -> Any:
    """Nanoseconds of Linux's monotonic clock."""
    clock_gettime = external(builder, "clock_gettime", i32, [i32, i64.as_pointer()])
    place = alloca_once(builder, i64, 2)
    builder.call(clock_gettime, [ir.Constant(i32, time.CLOCK_MONOTONIC), place])
    nanoseconds = builder.load(builder.gep(place, [ir.Constant(i32, 1)]))
    return builder.add(builder.mul(builder.load(place), ir.Constant(i64, NANOSECONDS)), nanoseconds)


def _uptime(builder: Any) -> Any:
    """Nanoseconds of macOS' clock that stands still while the machine sleeps."""
    clock_gettime = external(builder, "clock_gettime_nsec_np", i64, [i32])
    return builder.call(clock_gettime, [ir.Constant(i32, CLOCK_UPTIME_RAW)])


def _performance_counter(builder: Any) -> Any:
    """Ticks of Windows' performance counter."""
    query = external(builder, "QueryPerformanceCounter", i32, [i64.as_pointer()])
    place = alloca_once(builder, i64)
    builder.call(query, [place])
    return builder.load(place)


def _performance_frequency() -> int:
    """Ticks a second of Windows' performance counter, whose function compiled code is told the address of."""
    kernel: Any = ctypes.CDLL("kernel32")
    address = ctypes.cast(kernel.QueryPerformanceCounter, ctypes.c_void_p).value
    llvmlite.binding.add_symbol("QueryPerformanceCounter", address)
    frequency = ctypes.c_int64()
    kernel.QueryPerformanceFrequency(ctypes.byref(frequency))
    return frequency.value


_ticks: Callable[[Any], Any] | None
_NAME = time.get_clock_info("perf_counter").implementation
if sys.platform == "linux" and "CLOCK_MONOTONIC" in _NAME:
    _ticks, TICKS_PER_SECOND = _monotonic, NANOSECONDS
elif sys.platform == "darwin" and "mach_absolute_time" in _NAME:
    _ticks, TICKS_PER_SECOND = _uptime, NANOSECONDS
elif sys.platform == "win32" and "QueryPerformanceCounter" in _NAME:
    _ticks, TICKS_PER_SECOND = _performance_counter, _performance_frequency()
else:
    _ticks, TICKS_PER_SECOND = None, NANOSECONDS
READABLE = _ticks is not None
"""Whether jitted code reads that clock here."""
LATEST = (1 << 63) - 1
"""Ticks, at most: what a record holds."""


def ticks_at(seconds: float) -> int:
    """The clock's ticks at a `time.perf_counter()`."""
    return min(int(seconds * TICKS_PER_SECOND), LATEST)


@intrinsic  # type: ignore[untyped-decorator]  # Numba is untyped
def _read(context: Any) -> Any:
    """() -> int64: ticks of the clock."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        assert _ticks is not None
        return _ticks(builder)

    return types.int64(), emit


if READABLE:

    @jit
    def is_past(ticks):
        """Whether the clock has reached this (int64, `ticks_at`)."""
        return _read() >= ticks

else:

    @jit
    def is_past(ticks):
        """Whether a clock has reached this (int64): there is none."""
        return False
