"""The clock of `time.perf_counter`, read by jitted code in the clock's own ticks.

Linux, macOS and Windows have a function for it that takes about 20 ns, and Python reports that it reads the same clock.
Elsewhere `is_past` is never true, and a caller needs a timer, too. On Windows a timer alone would fire at the next tick
of the system, up to 16 milliseconds late.
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
"""macOS's number of the clock of mach_absolute_time, in nanoseconds."""


def _monotonic(builder: Any) -> Any:
    """Emit a read of Linux's monotonic clock in nanoseconds."""
    clock_gettime = external(builder, "clock_gettime", i32, [i32, i64.as_pointer()])
    place = alloca_once(builder, i64, 2)
    builder.call(clock_gettime, [ir.Constant(i32, time.CLOCK_MONOTONIC), place])
    nanoseconds = builder.load(builder.gep(place, [ir.Constant(i32, 1)]))
    return builder.add(builder.mul(builder.load(place), ir.Constant(i64, NANOSECONDS)), nanoseconds)


def _uptime(builder: Any) -> Any:
    """Emit a read of macOS's clock that stops while the machine sleeps, in nanoseconds."""
    clock_gettime = external(builder, "clock_gettime_nsec_np", i64, [i32])
    return builder.call(clock_gettime, [ir.Constant(i32, CLOCK_UPTIME_RAW)])


def _performance_counter(builder: Any) -> Any:
    """Emit a read of Windows's performance counter in ticks."""
    query = external(builder, "QueryPerformanceCounter", i32, [i64.as_pointer()])
    place = alloca_once(builder, i64)
    builder.call(query, [place])
    return builder.load(place)


def _performance_frequency() -> int:
    """Return the ticks per second of Windows's performance counter, and give its function's address to compiled
    code."""
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
"""Whether jitted code can read the clock on this system."""
LATEST = (1 << 63) - 1
"""The largest number of ticks that a record can hold."""


def ticks_at(seconds: float) -> int:
    """Return the clock's ticks at a `time.perf_counter()`."""
    return min(int(seconds * TICKS_PER_SECOND), LATEST)


@intrinsic  # type: ignore[untyped-decorator]  # Numba is untyped
def _read(context: Any) -> Any:
    """Return the clock's ticks: () -> int64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        assert _ticks is not None
        return _ticks(builder)

    return types.int64(), emit


if READABLE:

    @jit
    def is_past(ticks):
        """Return whether the clock has reached `ticks` (int64, of `ticks_at`)."""
        return _read() >= ticks

else:

    @jit
    def is_past(ticks):
        """Return False: there is no clock that could be read."""
        return False
