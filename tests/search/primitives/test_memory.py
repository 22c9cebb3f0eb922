"""Records that Python passes to jitted code: memory, owned arrays and copies. Large arrays."""

from __future__ import annotations

import gc
import mmap
import sys
import weakref
from pathlib import Path

import numba
import numpy as np
import pytest

from search.primitives.memory import CACHE_LINE, new_record, record_dtype, sparse_zeros

COUNTS = record_dtype([("small", np.uint8), ("large", np.int64), ("many", np.int32, 3)])


@numba.njit
def count(record):
    record.large += 1
    record.many[2] = 7
    return record.large


def test_jitted_code_changes_the_record_itself_and_not_its_copies():
    record = new_record(COUNTS)
    assert [count(record), count(record)] == [1, 2]
    copy = record.copy()
    assert [count(copy), count(copy)] == [3, 4]
    assert (record["large"], copy["large"]) == (2, 4)
    assert record["many"].tolist() == copy["many"].tolist() == [0, 0, 7]
    assert len(count.signatures) == 1
    assert record["many"].ctypes.data % CACHE_LINE == COUNTS.fields["many"][1]


def test_a_records_memory_is_described_once():
    record = new_record(COUNTS)
    assert record.data is record.data
    assert record.copy().data.nbytes == record.data.nbytes == COUNTS.itemsize


def test_a_record_keeps_alive_what_it_points_to():
    array = np.zeros(1000)
    ended = weakref.ref(array)
    record = new_record(COUNTS, [array])
    del array
    gc.collect()
    assert ended() is not None
    del record
    gc.collect()
    assert ended() is None


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_scattered_accesses_use_only_their_pages():
    before, words = resident_bytes(), 1 << 25
    array = sparse_zeros(words, np.uint64)
    array[:: words // 200] += 1
    assert resident_bytes() - before < array.nbytes // 10
    assert (array[:: words // 200] == 1).all()
    with pytest.raises(MemoryError, match=r" MB do"):
        sparse_zeros(1 << 60, np.uint64)


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
