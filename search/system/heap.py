"""One heap of the C library for all threads of a process."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
"""glibc's malloc.h."""


def share_one_heap() -> None:
    """Have every thread that is still to come take its memory from one heap; elsewhere than with glibc do nothing.

    glibc gives threads heaps of their own, up to eight a core, and each keeps what its largest hour took: a process
    that lives for days, and has a thread for each network it loads, grows by them. Compiled code asks for no memory,
    so its threads do not wait for one another here.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)
