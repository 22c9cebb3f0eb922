"""The vector operations against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from search.compiling.jit import jit
from search.primitives.lanes import LANES, add_rows, fill_block, largest
from search.primitives.memory import aligned_zeros


@jit
def largest_of(numbers, blocks):
    return largest(np.uint64(numbers.ctypes.data), blocks)


@given(st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_largest_of_whole_blocks(blocks, generator):
    numbers = aligned_zeros(5 * LANES, np.int32)
    numbers[:] = [generator.randrange(-(1 << 31), 1 << 31) for _ in numbers]
    expected = max(numbers[: blocks * LANES].tolist(), default=-(1 << 31))
    assert largest_of(numbers, np.int64(blocks)) == expected


@jit
def fill(numbers, place, number):
    fill_block(np.uint64(numbers.ctypes.data) + np.uint64(4 * place), number)


@jit
def added(target, rows, places):
    address = np.uint64(rows.ctypes.data)
    a, b, c, d, e, f, g = [address + np.uint64(2 * place) for place in places]
    add_rows(np.uint64(target.ctypes.data), a, b, c, d, e, f, g)


def test_a_block_is_filled_and_nothing_else():
    for place in (0, 3, LANES):
        numbers = aligned_zeros(3 * LANES, np.int32)
        fill(numbers, np.int64(place), np.int32(-7))
        assert numbers.nonzero()[0].tolist() == list(range(place, place + LANES))
        assert set(numbers.tolist()) == {0, -7}


@given(st.integers(0, 1 << 32))
@settings(max_examples=20)
def test_rows_are_added_with_the_first_two_twice(seed):
    dice = np.random.default_rng(seed)
    rows = aligned_zeros(1000, np.int16)
    rows[:] = dice.integers(-(1 << 15), 1 << 15, 1000)
    places, target = dice.integers(0, 1000 - 6 * LANES, 7), aligned_zeros(6 * LANES, np.int32)
    added(target, rows, places)
    each = [rows[place : place + 6 * LANES].astype(np.int32) for place in places]
    assert np.array_equal(target, sum(each) + each[0] + each[1])
