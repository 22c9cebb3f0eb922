"""Have the system back a table's memory before the clock runs.

The system reserves memory at once and backs it page by page: the first write to a page waits for it to be found and
cleared, ten milliseconds for a large page in some virtual machines. A search that touches a fresh table all over would
spend its first second so.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from search.transposition import TranspositionTable

LARGEST = 512
"""Megabytes; of a larger table so much is backed, the rest as it is touched."""
_CHUNK = 4 << 20
_PAGE = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14: backs pages as a write would, but changes nothing in them


def back_table(table: TranspositionTable) -> threading.Thread:
    """Back the memory of a table without changing what is in it; returns the thread that does it.

    It does nothing on systems that cannot do it.
    """
    thread = threading.Thread(target=_back, args=(table,), daemon=True)
    thread.start()
    return thread


def _back(table: TranspositionTable) -> None:
    if not sys.platform.startswith("linux"):
        return
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None:
        return
    first = int(table.record["address"])
    start = -(-first // _PAGE) * _PAGE
    end = (first + (min(table.megabytes, LARGEST) << 20)) // _PAGE * _PAGE
    for address in range(start, end, _CHUNK):
        length = min(_CHUNK, end - address)
        if madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), _POPULATE_WRITE):
            return  # an older kernel, or no memory left: the search will touch what it needs
