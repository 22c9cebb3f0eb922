"""Raw memory for jitted code: aligned allocation, and 64-bit loads and stores at an address.

Addresses are stored in records, never as constants in code, which would be cached with the code. A load or store of an
aligned 64-bit word is one instruction, so no thread sees half of a word that another writes.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

CACHE_LINE = 64
HUGE_PAGE = 2 << 20


def _mapped_zeros(size: int, advice: str) -> np.ndarray:
    """Return `size` zeroed bytes from the system; `advice` names the flag of mmap that says how they will be used."""
    try:
        if hasattr(mmap, "MAP_ANONYMOUS"):  # private: shared memory has no huge pages by default
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            memory = mmap.mmap(-1, size)
    except (OSError, ValueError, OverflowError):
        raise MemoryError(f"{size >> 20} MB do not fit into memory") from None
    if hasattr(mmap, advice):
        with contextlib.suppress(OSError):  # the kernel was built without huge pages
            memory.madvise(getattr(mmap, advice))
    return np.frombuffer(memory, np.uint8)


def aligned_zeros(count: int, dtype: np.dtype | type) -> np.ndarray:
    """Return a zeroed array (count,) that begins on a cache line, or if it is large on a huge page where the system
    grants them.

    Raises MemoryError if it does not fit. The system assigns pages when they are first touched. With pages of 4 KB a
    table that is accessed all over misses the processor's page tables at almost every access; walking them took a tenth
    of the search's time.
    """
    size = count * np.dtype(dtype).itemsize
    large = size >= 2 * HUGE_PAGE
    raw = _mapped_zeros(size + HUGE_PAGE, "MADV_HUGEPAGE") if large else np.zeros(size + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % (HUGE_PAGE if large else CACHE_LINE)
    return raw[start : start + size].view(dtype)


def sparse_zeros(count: int, dtype: np.dtype | type) -> np.ndarray:
    """Return a zeroed array (count,) on small pages, for use if only a few scattered elements may ever be touched.

    With huge pages, which NumPy requests, a few hundred touches would occupy all of it. Raises MemoryError if it does
    not fit.
    """
    return _mapped_zeros(count * np.dtype(dtype).itemsize, "MADV_NOHUGEPAGE").view(dtype)


class _Memory:
    """The memory of a record as NumPy gives it, for a record that does not hold it (a copy)."""

    def __get__(self, record: np.void, owner: object = None) -> memoryview:
        return np.void.data.__get__(record)


class _Record(np.void):  # type: ignore[misc]  # NumPy's stubs call it final
    """A record that jitted code takes quickly, and that keeps alive the arrays it points to.

    Numba finds a record's memory by its attribute `data`, which NumPy makes at each access with a description of every
    field. For a search thread's record that takes ten microseconds; held here it takes less than one.
    """

    data = _Memory()
    owned: Sequence[np.ndarray]


def record_dtype(fields: list[Any]) -> np.dtype:
    """Return the aligned dtype of a record that Python often passes to jitted code; make one with `new_record`."""
    return np.dtype((_Record, np.dtype(fields, align=True)))


def new_record(dtype: np.dtype, owned: Sequence[np.ndarray] = ()) -> np.void:
    """Return a zeroed record of a `record_dtype` on cache lines, which keeps alive the `owned` arrays that it points
    to."""
    memory = aligned_zeros(1, dtype)
    record: Any = memory[0]
    record.data, record.owned = memory.view(np.uint8).data, owned
    return record


def place(array: np.ndarray, owned: list[np.ndarray]) -> int:
    """Copy an array to cache lines, add the copy to the `owned` arrays of a record, and return its address."""
    copy = aligned_zeros(array.size, array.dtype).reshape(array.shape)
    copy[...] = array
    owned.append(copy)
    return int(copy.ctypes.data)


def _pointer(builder, address):
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


@intrinsic
def load_word(context, address):
    """Return the uint64 at an address (uint64)."""

    def emit(context, builder, signature, arguments):
        return builder.load(_pointer(builder, arguments[0]))

    return types.uint64(types.uint64), emit


@intrinsic
def store_word(context, address, word):
    """Write a uint64 to an address (uint64)."""

    def emit(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(builder, arguments[0]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), emit


@intrinsic
def prefetch(context, address):
    """Prefetch the cache line at an address (uint64)."""

    def emit(context, builder, signature, arguments):
        name, word32 = "llvm.prefetch.p0", ir.IntType(32)
        byte_pointer = ir.IntType(8).as_pointer()
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte_pointer, word32, word32, word32]), name
        )
        flags = [ir.Constant(word32, number) for number in (0, 3, 1)]  # read, keep, data
        builder.call(function, [builder.inttoptr(arguments[0], byte_pointer), *flags])
        return context.get_dummy_value()

    return types.void(types.uint64), emit
