"""Have the system back a table's memory before it is searched with.

The system reserves memory at once and backs it page by page: the first write to a page waits for it to be found and
cleared, four to ten milliseconds for a huge page in some virtual machines. A search that touches a fresh table all over
would do nothing else: with 8 GB it saw 82 nodes in its first second. So a large table begins with the part that is
backed before the engine says that it is ready; the rest is backed while games are played, and a search that begins
takes in what is there by then. The table's entries are found by its size: when it grows they are lost, so it grows
fourfold and seldom.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING

from search.machine.threads import started

if TYPE_CHECKING:
    from search.alphabeta.transposition import TranspositionTable

FIRST = 64
"""Megabytes that a table begins with."""
GROWTH = 4
_CHUNK = 4 << 20
_PAGE = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14: backs pages as a write would, but changes nothing in them

_backed: weakref.WeakKeyDictionary[TranspositionTable, int] = weakref.WeakKeyDictionary()
"""Clusters that a table may use by now."""


def back_table(table: TranspositionTable) -> threading.Event:
    """Begin to back the memory of a table, without changing what is in it; the event says that a search may begin.

    It does nothing on systems that cannot do it: the table is used whole, and each page backed when it is touched.
    """
    ready = threading.Event()
    advise = getattr(ctypes.CDLL(None), "madvise", None) if sys.platform.startswith("linux") else None
    if advise is None or not _populate(advise, int(table.record["address"]), 1):
        ready.set()
        return ready
    whole = int(table.record["clusters"])
    part = _part(table.megabytes, whole, FIRST)
    table.record["clusters"] = part
    arguments = (weakref.ref(table), advise, int(table.record["address"]), table.megabytes, whole, ready)
    if started(threading.Thread(target=_back, args=arguments)) is None:
        ready.set()  # the part that may be used stays as it is
    return ready


def grow_table(table: TranspositionTable) -> None:
    """Take in what has been backed since; between two searches, as the entries are lost."""
    clusters = _backed.get(table)
    if clusters is not None and clusters > int(table.record["clusters"]):
        table.record["clusters"] = clusters


def _part(megabytes: int, clusters: int, wanted: int) -> int:
    """The clusters of the first `wanted` megabytes of a table."""
    return clusters if wanted >= megabytes else clusters * wanted // megabytes


def _populate(advise: ctypes._NamedFuncPointer, address: int, length: int) -> bool:
    first = address // _PAGE * _PAGE
    size = -(-(address + length) // _PAGE) * _PAGE - first
    return not advise(ctypes.c_void_p(first), ctypes.c_size_t(size), _POPULATE_WRITE)


def _back(
    table: weakref.ref[TranspositionTable],
    advise: ctypes._NamedFuncPointer,
    address: int,
    megabytes: int,
    whole: int,
    ready: threading.Event,
) -> None:
    done, wanted = 0, min(FIRST, megabytes)
    while done < megabytes << 20:
        kept = table()  # while its memory is asked for it must not be given back
        if kept is None:
            break
        length = min(_CHUNK, (megabytes << 20) - done)
        begun = time.monotonic()
        if not _populate(advise, address + done, length):
            break  # no memory left: the table keeps to the part that is backed
        done += length
        if done >= wanted << 20:
            _backed[kept] = _part(megabytes, whole, wanted)
            ready.set()
            wanted = min(wanted * GROWTH, megabytes)
        del kept
        if ready.is_set():
            time.sleep(time.monotonic() - begun)  # a search may run on this core
    ready.set()
