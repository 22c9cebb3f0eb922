"""The clock of `time.perf_counter`, read by jitted code.

Linux alone: its C library has a function for it that costs some 20 ns, and Python says that it reads the same clock.
Elsewhere `is_past` is never true, and whoever waits for it needs a timer besides.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic

from search.machine.jit import jit
from search.machine.llvm import external, i32, i64

READABLE = sys.platform == "linux" and "CLOCK_MONOTONIC" in time.get_clock_info("perf_counter").implementation
"""Whether jitted code reads that clock here."""


@intrinsic  # type: ignore[untyped-decorator]  # Numba is untyped
def _read(context: Any) -> Any:
    """() -> int64: nanoseconds of the monotonic clock."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        clock_gettime = external(builder, "clock_gettime", i32, [i32, i64.as_pointer()])
        place = alloca_once(builder, i64, 2)
        builder.call(clock_gettime, [ir.Constant(i32, time.CLOCK_MONOTONIC), place])
        nanoseconds = builder.load(builder.gep(place, [ir.Constant(i32, 1)]))
        return builder.add(builder.mul(builder.load(place), ir.Constant(i64, 1_000_000_000)), nanoseconds)

    return types.int64(), emit


if READABLE:

    @jit
    def is_past(nanoseconds):
        """Whether `time.perf_counter_ns()` has reached this (int64)."""
        return _read() >= nanoseconds

else:

    @jit
    def is_past(nanoseconds):
        """Whether a clock has reached this (int64): there is none."""
        return False
