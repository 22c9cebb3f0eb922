"""Raw memory for jitted code: aligned allocation, and 64-bit loads and stores at an address.

Addresses live in records (never as constants in code, which would be cached with the code). A load or store of an
aligned 64-bit word is one instruction, so two threads never see half a word of each other.
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
    """Zeroed bytes of the system, `size` of them, which is told how they will be used by a flag of mmap's."""
    try:
        if hasattr(mmap, "MAP_ANONYMOUS"):  # private: shared memory has no huge pages by default
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            memory = mmap.mmap(-1, size)
    except (OSError, ValueError, OverflowError):
        raise MemoryError(f"no room for {size >> 20} MB") from None
    if hasattr(mmap, advice):
        with contextlib.suppress(OSError):  # the kernel was built without huge pages
            memory.madvise(getattr(mmap, advice))
    return np.frombuffer(memory, np.uint8)


def aligned_zeros(count: int, dtype: np.dtype | type) -> np.ndarray:
    """A zeroed array that begins on a cache line, a large one on a huge page where the system grants them;
    MemoryError if there is no room.

    The system hands the pages out when they are first touched. A table that is touched all over has a page of 4 KB
    missing from the processor's page tables at almost every touch; walking them took a tenth of the search's time.
    """
    size = count * np.dtype(dtype).itemsize
    large = size >= 2 * HUGE_PAGE
    raw = _mapped_zeros(size + HUGE_PAGE, "MADV_HUGEPAGE") if large else np.zeros(size + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % (HUGE_PAGE if large else CACHE_LINE)
    return raw[start : start + size].view(dtype)


def sparse_zeros(count: int, dtype: np.dtype | type) -> np.ndarray:
    """A zeroed array of which perhaps little is ever touched, here and there: on small pages, for of huge ones, which
    NumPy asks for, a few hundred touches take all. MemoryError if there is no room."""
    return _mapped_zeros(count * np.dtype(dtype).itemsize, "MADV_NOHUGEPAGE").view(dtype)


class _Memory:
    """The memory of a record as NumPy gives it, where the record does not hold it: a copy's."""

    def __get__(self, record: np.void, owner: object = None) -> memoryview:
        return np.void.data.__get__(record)


class _Record(np.void):  # type: ignore[misc]  # NumPy's stubs call it final
    """A record that jitted code takes at once, and that keeps alive what it points to.

    Numba finds a record's memory by its attribute `data`, which NumPy makes anew each time it is asked for, with a
    description of every field: for a search thread's record that takes ten microseconds, held here less than one.
    """

    data = _Memory()
    owned: Sequence[np.ndarray]


def record_dtype(fields: list[Any]) -> np.dtype:
    """The aligned dtype of a record that Python often hands to jitted code; make one with `new_record`."""
    return np.dtype((_Record, np.dtype(fields, align=True)))


def new_record(dtype: np.dtype, owned: Sequence[np.ndarray] = ()) -> np.void:
    """A zeroed record of a `record_dtype`, on cache lines; it keeps alive the arrays whose addresses it holds."""
    memory = aligned_zeros(1, dtype)
    record: Any = memory[0]
    record.data, record.owned = memory.view(np.uint8).data, owned
    return record


def place(array: np.ndarray, owned: list[np.ndarray]) -> int:
    """The address of a copy on cache lines, which goes to what a record owns."""
    copy = aligned_zeros(array.size, array.dtype).reshape(array.shape)
    copy[...] = array
    owned.append(copy)
    return int(copy.ctypes.data)


def _pointer(builder, address):
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


@intrinsic
def load_word(context, address):
    """The uint64 at an address (uint64)."""

    def emit(context, builder, signature, arguments):
        return builder.load(_pointer(builder, arguments[0]))

    return types.uint64(types.uint64), emit


@intrinsic
def store_word(context, address, word):
    """Write a uint64 at an address (uint64)."""

    def emit(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(builder, arguments[0]))
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), emit


@intrinsic
def prefetch(context, address):
    """Ask for the cache line at an address (uint64) to be read ahead."""

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
