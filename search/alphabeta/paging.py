"""The part of a transposition table that is in use, and backing it with memory ahead of the search.

A small table is faster: memory beyond the reach of the CPU's cache and its page tables causes waits, twice over in
virtual machines. So a table begins with its first megabytes and grows when a search has filled a quarter of the part in
use.

The system reserves memory at once and backs it page by page. The first write to a page waits until the page is found
and cleared: four to ten milliseconds per huge page in some virtual machines. A search over a large fresh table would do
nothing else: with 8 GB it searched 82 nodes in its first second. So the first part, and what follows soon, is backed
before the engine reports that it is ready; the rest is backed while games are played.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING

from search.primitives.memory import CACHE_LINE
from search.system.threads import started

if TYPE_CHECKING:
    from search.alphabeta.transposition import TranspositionTable

FIRST = 8
"""Megabytes with which a table begins at most."""
READY = 64
"""Megabytes that are backed before the first search."""
FULL = 250
"""Fill of the part in use, in thousandths, at which the table grows."""
GROWING = 4.0
"""Milliseconds per megabyte in use that must be left for growing; it takes one to two of them."""
_FIRST_CLUSTERS = (FIRST << 20) // CACHE_LINE
_CHUNK = 4 << 20
_PAGE = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14: backs pages like a write, without changing them

_backed: weakref.WeakKeyDictionary[TranspositionTable, int] = weakref.WeakKeyDictionary()
"""Clusters that are backed and may be used, per table."""


def back_table(table: TranspositionTable) -> threading.Event:
    """Start to back a table's memory without changing its content; the event returned is set when a search may begin.

    On systems without this call each page is backed when it is first touched.
    """
    ready = threading.Event()
    advise = getattr(ctypes.CDLL(None), "madvise", None) if sys.platform.startswith("linux") else None
    if advise is None or not _populate(advise, int(table.record["address"]), 1):
        ready.set()
        return ready
    begin_small(table)
    _backed[table] = int(table.record["clusters"])
    arguments = (weakref.ref(table), advise, int(table.record["address"]), table.megabytes << 20, ready)
    if started(threading.Thread(target=_back, args=arguments)) is None:
        ready.set()  # the part in use stays as it is
    return ready


def begin_small(table: TranspositionTable) -> None:
    """Shrink the part in use of an empty table to its first half, quarter and so on."""
    clusters = table.clusters
    while clusters > _FIRST_CLUSTERS:
        clusters //= 2
    table.record["clusters"] = min(int(table.record["clusters"]), clusters)


def grow_before(table: TranspositionTable) -> None:
    """Grow before a search if the last search has filled the part in use. The entries are lost: there is no time to
    move them to where the larger table looks for them."""
    table.record["clusters"] = _wanted(table)


def grow_within(table: TranspositionTable, left: float | None) -> bool:
    """Grow between two depths if the part in use is full and enough time is left; the entries stay.

    `left` is in milliseconds, None without a clock. Returns whether the table has grown.
    """
    used = int(table.record["clusters"])
    if _wanted(table) == used or (left is not None and left < GROWING * (used * CACHE_LINE >> 20)):
        return False
    table.grow()
    return True


def _wanted(table: TranspositionTable) -> int:
    """Number of clusters that the table should use: twice as many if those in use are full and more are backed."""
    used, there = int(table.record["clusters"]), _backed.get(table, table.clusters)
    return 2 * used if 2 * used <= there and table.filled() >= FULL else used


def _populate(advise: ctypes._NamedFuncPointer, address: int, length: int) -> bool:
    first = address // _PAGE * _PAGE
    size = -(-(address + length) // _PAGE) * _PAGE - first
    return not advise(ctypes.c_void_p(first), ctypes.c_size_t(size), _POPULATE_WRITE)


def _back(
    table: weakref.ref[TranspositionTable],
    advise: ctypes._NamedFuncPointer,
    address: int,
    size: int,
    ready: threading.Event,
) -> None:
    done = 0
    while done < size:
        kept = table()  # its memory must not be released meanwhile
        if kept is None:
            break
        length = min(_CHUNK, size - done)
        begun = time.monotonic()
        if not _populate(advise, address + done, length):
            break  # out of memory: only the backed part is used
        done += length
        _backed[kept] = max(_backed[kept], min(done // CACHE_LINE, kept.clusters))
        del kept
        if done >= min(size, READY << 20):
            ready.set()
        if ready.is_set():
            time.sleep(time.monotonic() - begun)  # a search may need this core
    ready.set()
