"""Vector operations on arrays at raw addresses, where LLVM's own vectoriser makes slower code."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from search.primitives.llvm import constant, external, i16, i32, i64, load, splat, store, vector

LANES = 16
"""Numbers per block: a cache line of int32."""


@intrinsic
def largest(context, address, blocks):
    """Return the largest number (int64) of `blocks` (int64) blocks of LANES int32 at an address (uint64).

    It is the least int32 if there are no blocks.
    """

    def emit(context, builder, signature, arguments):
        address, blocks = arguments
        lanes = vector(i32, LANES)
        best = cgutils.alloca_once_value(builder, constant(i32, LANES, -(1 << 31)))
        with cgutils.for_range(builder, blocks) as loop:
            keys = load(builder, address, builder.mul(loop.index, ir.Constant(i64, 4 * LANES)), lanes)
            before = builder.load(best)
            builder.store(builder.select(builder.icmp_signed(">", keys, before), keys, before), best)
        reduce = external(builder, f"llvm.vector.reduce.smax.v{LANES}i32", i32, [lanes])
        return builder.sext(builder.call(reduce, [builder.load(best)]), i64)

    return types.int64(types.uint64, types.int64), emit


@intrinsic
def fill_block(context, address, number):
    """Write an int32 LANES times from an address (uint64) on."""

    def emit(context, builder, signature, arguments):
        address, number = arguments
        store(builder, address, 0, splat(builder, number, LANES))
        return context.get_dummy_value()

    return types.void(types.uint64, types.int32), emit


@intrinsic
def add_rows(context, target, a, b, c, d, e, f, g):
    """Add seven rows of six blocks of LANES int16, the first two counted twice, and write the sums as int32.

    All arguments are addresses (uint64).
    """

    def emit(context, builder, signature, arguments):
        target, *rows = arguments
        wide, narrow = vector(i32, LANES), vector(i16, LANES)
        for block in range(6):
            total = None
            for number, row in enumerate(rows):
                value = builder.sext(load(builder, row, 2 * LANES * block, narrow, 2), wide)
                if number < 2:
                    value = builder.add(value, value)
                total = value if total is None else builder.add(total, value)
            store(builder, target, 4 * LANES * block, total)
        return context.get_dummy_value()

    return types.void(types.uint64, *[types.uint64] * 7), emit
