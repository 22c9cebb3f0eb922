"""Memory that is reserved but not backed yet: have the system back it before the clock runs.

The first write to a page waits for the system to find and clear it, up to milliseconds for a large page in a virtual
machine. A search that touches a fresh table all over pays that in its first second.
"""

from __future__ import annotations

import ctypes
import sys
import threading

import numpy as np

LARGEST = 512 << 20
"""Bytes; larger arrays are left to be backed as they are touched."""
_CHUNK = 16 << 20
_PAGE = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14: backs pages as a write would, but changes nothing in them


def populate(array: np.ndarray, patience: float) -> None:
    """Back an array's memory without changing it: for `patience` seconds here, the rest in a thread.

    Does nothing for arrays beyond LARGEST and on systems that cannot do it.
    """
    if not sys.platform.startswith("linux") or array.nbytes > LARGEST:
        return
    thread = threading.Thread(target=_populate, args=(array,), daemon=True)
    thread.start()
    thread.join(patience)


def _populate(array: np.ndarray) -> None:
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None:
        return
    start = -(-array.ctypes.data // _PAGE) * _PAGE
    end = (array.ctypes.data + array.nbytes) // _PAGE * _PAGE
    for address in range(start, end, _CHUNK):
        length = min(_CHUNK, end - address)
        if madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), _POPULATE_WRITE):
            return  # an older kernel, or no memory left: the search will touch what it needs
