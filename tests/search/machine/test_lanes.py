"""The vector operations against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search.machine.jit import jit
from search.machine.lanes import LANES, largest
from search.machine.memory import aligned_zeros


@jit
def largest_of(numbers, blocks):
    return largest(np.uint64(numbers.ctypes.data), blocks)


@given(st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_largest_of_whole_blocks(blocks, generator):
    numbers = aligned_zeros(5 * LANES, np.int32)
    numbers[:] = [generator.randrange(-(1 << 31), 1 << 31) for _ in numbers]
    expected = max(numbers[: blocks * LANES].tolist(), default=-(1 << 31))
    assert largest_of(numbers, np.int64(blocks)) == expected
