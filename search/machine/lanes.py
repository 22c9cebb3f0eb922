"""Vector operations on arrays at raw addresses that LLVM's own vectoriser does less well with."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from search.machine.llvm import constant, external, i32, i64, load, vector

LANES = 16
"""Numbers in a block: a cache line of int32."""


@intrinsic
def largest(context, address, blocks):
    """The largest (int64) of so many blocks (int64) of LANES int32 at an address (uint64); the least int32 of none."""

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
