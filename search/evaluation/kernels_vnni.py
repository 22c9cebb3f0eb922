"""The dot product of VNNI: `vpdpbusd` adds 16 (AVX-512) or 8 (AVX-VNNI) x four products of a byte pair at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from search.compiling.jit import KERNEL
from search.primitives.llvm import external, i8, i32, load, shuffle, splat, vector

_BITS = 512 if KERNEL == "vnni" else 256
_LANES = _BITS // 32
PARTS = 16 // _LANES
"""Vectors that hold the 16 int32 sums of a block."""
UNROLL = 4 // PARTS
"""Groups of inputs in flight: of a pair of blocks, eight registers of sums."""
SPARSE_INPUTS = 1 << 31
"""No layer skips groups of zeros: to go from one to the next takes longer than to add them all."""


def spread(builder: Any, inputs: Any, count: int) -> list[Any]:
    """For each of `count` (1 or UNROLL) groups of four u8 inputs from an address on, int32 lanes full of them.

    By AVX-512 what a layer takes is its loads, two a cycle: four groups are loaded at once and told apart in registers.
    LLVM would make four loads of it again, were they not hidden behind a fence, which it has for floats alone.
    """
    if count != 4:
        return [splat(builder, load(builder, inputs, 4 * group, i32), _LANES) for group in range(count)]
    four = load(builder, inputs, 0, ir.VectorType(ir.FloatType(), 4))
    repeated = shuffle(builder, four, [lane % 4 for lane in range(_LANES)])
    fence = external(builder, f"llvm.arithmetic.fence.v{_LANES}f32", repeated.type, [repeated.type])
    groups = builder.bitcast(builder.call(fence, [repeated]), vector(i32, _LANES))
    return [shuffle(builder, groups, [lane // 4 * 4 + group for lane in range(_LANES)]) for group in range(4)]


def dot(builder: Any, sums: Any, inputs: Any, weights: Any) -> list[Any]:
    """The 16 int32 sums (PARTS vectors) plus, for each output, the product of four u8 inputs (of `spread`)
    with its four int8 weights (an address of 64 bytes)."""
    # LLVM 21 types the byte operands of the intrinsic as bytes, older ones as int32.
    kind = vector(i32, _LANES)
    operand = vector(i8, 4 * _LANES) if _BYTE_OPERANDS else kind
    function = external(builder, f"llvm.x86.avx512.vpdpbusd.{_BITS}", kind, [kind, operand, operand])
    four = builder.bitcast(inputs, operand)
    return [
        builder.call(function, [total, four, load(builder, weights, _BITS // 8 * part, operand)])
        for part, total in enumerate(sums)
    ]


def _llvm_types_bytes() -> bool:
    from llvmlite import binding

    return bool(binding.llvm_version_info[0] >= 21)


_BYTE_OPERANDS = _llvm_types_bytes()
