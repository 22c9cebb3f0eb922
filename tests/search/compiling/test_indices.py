"""Computed indices of jitted code are used unchanged; non-negative ones have the meaning of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.compiling.jit import jit

CHECKOUT = Path(__file__).parents[3]
CUBE = np.arange(2 * 3 * 5, dtype=np.int32).reshape(2, 3, 5)
WITHIN = [st.integers(0, size - 1) for size in CUBE.shape]
PAIR = np.dtype([("counts", np.int16, (3, 5)), ("total", np.int64)])
BELOW_ZERO = """
import numpy as np
from search.compiling.jit import jit

@jit
def read(array, index):
    return array[index]

@jit
def write(array, row, column):
    array[row, column] = 1

write(np.zeros((4, 4), np.uint8), np.uint8(2), 1)
for touch in (lambda: read(np.zeros(4, np.uint8), -1), lambda: write(np.zeros((4, 4), np.uint8), np.uint8(2), -1)):
    try:
        touch()
    except IndexError:
        print("refused")
"""


@jit
def touch(cube, one, two, three):
    """Return the sum of the values that every kind of access reads, after a write."""
    cube[one, two, three] += 100
    line = cube[one, two]
    cube[one][two][three] += 1000
    return cube[one, two, three] + 3 * line[three] + 5 * cube[one, 1:, three].sum() + 7 * line[-1] + cube[0, -1, three]


@jit
def touch_record(pair, row, column):
    """Return what `touch` does, for an array in a record."""
    pair.counts[row, column] += 5
    return pair.counts[row, column] + 3 * pair.counts[row][column] + 7 * pair.counts[row, -1]


@given(*WITHIN)
def test_an_access_equals_that_of_python(one, two, three):
    compiled, plain = CUBE.copy(), CUBE.copy()
    assert touch(compiled, one, two, three) == touch.py_func(plain, one, two, three)
    np.testing.assert_array_equal(compiled, plain)


@given(*WITHIN[1:])
def test_an_access_to_an_array_in_a_record_equals_that_of_numpy(row, column):
    pair, counts = np.zeros((), PAIR), np.arange(15, dtype=np.int64).reshape(3, 5)
    pair["counts"] = counts
    result = touch_record(pair[()], row, column)
    counts[row, column] += 5
    assert result == 4 * counts[row, column] + 7 * counts[row, -1]
    np.testing.assert_array_equal(pair["counts"], counts)


@pytest.mark.parametrize("integer", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_an_index_may_have_any_integer_type(integer):
    three = integer(3)
    assert touch(CUBE.copy(), integer(1), integer(2), three) == touch.py_func(CUBE.copy(), 1, 2, 3)


def test_no_code_tests_the_sign():
    """Numba's own code compares a computed index with zero."""

    def read(array, index):
        return array[index]

    for compiled, asked in ((numba.njit(read), True), (jit(read), False)):
        compiled(CUBE[0, 0], 3)
        (overload,) = compiled.overloads.values()
        # The module that callers link, because Numba shows nothing else of loaded code.
        module = str(overload.library._get_module_for_linking())
        assert "getelementptr" in module
        assert ("icmp slt i64" in module) is asked


def test_a_negative_index_is_detected_by_checks_of_bounds(tmp_path):
    (tmp_path / "touching.py").write_text(BELOW_ZERO)
    checked = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "LITESHOGI_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(CHECKOUT),
    }
    ran = subprocess.run(
        [sys.executable, "touching.py"], cwd=tmp_path, env=checked, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["refused", "refused"], ran.stderr
