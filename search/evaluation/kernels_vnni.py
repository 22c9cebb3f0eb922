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
"""Groups of inputs in flight: eight registers of sums for a pair of blocks."""
LONG_UNROLL = 2 * UNROLL
"""Groups in flight of a single block: as many registers of sums."""
TOGETHER: tuple[int, ...] = (1,)
"""Numbers of groups whose products are added before they are widened: the instruction adds to int32."""
WIDEST_TILE = 8 if PARTS == 1 else 4
"""Blocks of 32 int16 lanes that are summed in registers."""


def spread(builder: Any, inputs: Any, count: int) -> list[Any]:
    """Return a vector of int32 lanes filled with each of `count` (1 or UNROLL) groups of four u8 inputs.

    With AVX-512 the time of a layer is that of its loads, two per cycle: four groups are loaded at once and separated
    in registers. LLVM would turn this into four loads again without the fence, which it has for floats only.
    """
    if count != 4:
        return [splat(builder, load(builder, inputs, 4 * group, i32), _LANES) for group in range(count)]
    four = load(builder, inputs, 0, ir.VectorType(ir.FloatType(), 4))
    repeated = shuffle(builder, four, [lane % 4 for lane in range(_LANES)])
    fence = external(builder, f"llvm.arithmetic.fence.v{_LANES}f32", repeated.type, [repeated.type])
    groups = builder.bitcast(builder.call(fence, [repeated]), vector(i32, _LANES))
    return [shuffle(builder, groups, [lane // 4 * 4 + group for lane in range(_LANES)]) for group in range(4)]


def dot(builder: Any, sums: Any, inputs: list[Any], weights: list[Any]) -> list[Any]:
    """Return sums (int32 vectors) plus, for each output, the product of one group of four u8 inputs (from `spread`)
    with its four int8 weights (an address)."""
    # LLVM 21 types the byte operands of the intrinsic as bytes, older ones as int32.
    kind = vector(i32, _LANES)
    operand = vector(i8, 4 * _LANES) if _BYTE_OPERANDS else kind
    function = external(builder, f"llvm.x86.avx512.vpdpbusd.{_BITS}", kind, [kind, operand, operand])
    four = builder.bitcast(inputs[0], operand)
    return [
        builder.call(function, [total, four, load(builder, weights[0], _BITS // 8 * part, operand)])
        for part, total in enumerate(sums)
    ]


def _llvm_types_bytes() -> bool:
    from llvmlite import binding

    return bool(binding.llvm_version_info[0] >= 21)


_BYTE_OPERANDS = _llvm_types_bytes()
