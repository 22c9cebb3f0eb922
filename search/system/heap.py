"""One heap of the C library for all threads of a process."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
"""The number of mallopt's parameter in glibc's malloc.h."""


def share_one_heap() -> None:
    """Make all threads that start later allocate from one heap; without glibc do nothing.

    glibc gives threads heaps of their own, up to eight per core, and each keeps the largest size that it once had. A
    process that runs for days and starts a thread for each network it loads would keep growing. Compiled code allocates
    no memory, so its threads do not wait for each other here.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)
