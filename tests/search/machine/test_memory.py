"""Records that Python hands to jitted code: their memory, what they keep alive, and their copies."""

from __future__ import annotations

import gc
import weakref

import numba
import numpy as np

from search.machine.memory import CACHE_LINE, new_record, record_dtype

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
