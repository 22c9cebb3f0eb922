"""Which part of a table a search uses, and having the system back it before it does.

A small table is the faster one: what is spread over more memory than the CPU's cache and its list of pages know has to
be waited for, in virtual machines two times over. So a table begins with its first megabytes, and takes in more when a
search has filled a quarter of what it uses.

The system reserves memory at once and backs it page by page: the first write to a page waits for it to be found and
cleared, four to ten milliseconds for a huge page in some virtual machines. A search that touches a fresh table all over
would do nothing else: with 8 GB it saw 82 nodes in its first second. So the part that a table begins with, and what it
soon takes in, is backed before the engine says that it is ready; the rest is backed while games are played.
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
"""Megabytes that a table begins with at most."""
READY = 64
"""Megabytes that are backed before the first search."""
FULL = 250
"""Thousandths of the part in use from which a search has filled it."""
GROWING = 4.0
"""Milliseconds that must be left for each megabyte in use if it is to grow; it takes one or two of them."""
_FIRST_CLUSTERS = (FIRST << 20) // CACHE_LINE
_CHUNK = 4 << 20
_PAGE = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14: backs pages as a write would, but changes nothing in them

_backed: weakref.WeakKeyDictionary[TranspositionTable, int] = weakref.WeakKeyDictionary()
"""Clusters that a table may use by now."""


def back_table(table: TranspositionTable) -> threading.Event:
    """Begin to back the memory of a table, without changing what is in it; the event says that a search may begin.

    It does nothing on systems that cannot do it: each page is backed when it is touched.
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
        ready.set()  # the part that may be used stays as it is
    return ready


def begin_small(table: TranspositionTable) -> None:
    """Let an empty table begin with its first part: half of it, of that half, and so on."""
    clusters = table.clusters
    while clusters > _FIRST_CLUSTERS:
        clusters //= 2
    table.record["clusters"] = min(int(table.record["clusters"]), clusters)


def grow_before(table: TranspositionTable) -> None:
    """Take in more before a search, where the last one had filled what it used. There is no time to look after the
    entries, which are found by the size of what is used: they are lost."""
    table.record["clusters"] = _wanted(table)


def grow_within(table: TranspositionTable, left: float | None) -> bool:
    """Take in more between two depths of a search with so many milliseconds left (None: without a clock), where it has
    filled what it uses; nothing is lost. Whether it did."""
    used = int(table.record["clusters"])
    if _wanted(table) == used or (left is not None and left < GROWING * (used * CACHE_LINE >> 20)):
        return False
    table.grow()
    return True


def _wanted(table: TranspositionTable) -> int:
    """Clusters that a table should use: twice as many, or what it does."""
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
        kept = table()  # while its memory is asked for it must not be given back
        if kept is None:
            break
        length = min(_CHUNK, size - done)
        begun = time.monotonic()
        if not _populate(advise, address + done, length):
            break  # no memory left: the table keeps to the part that is backed
        done += length
        _backed[kept] = max(_backed[kept], min(done // CACHE_LINE, kept.clusters))
        del kept
        if done >= min(size, READY << 20):
            ready.set()
        if ready.is_set():
            time.sleep(time.monotonic() - begun)  # a search may run on this core
    ready.set()
