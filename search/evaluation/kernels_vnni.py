"""The dot product of VNNI: `vpdpbusd` adds 16 (AVX-512) or 8 (AVX-VNNI) x four products of a byte pair at once."""

from __future__ import annotations

from typing import Any

from search.machine.jit import KERNEL
from search.machine.llvm import external, i8, i32, load, splat, vector

_BITS = 512 if KERNEL == "vnni" else 256
_LANES = _BITS // 32
PARTS = 16 // _LANES
"""Vectors that hold the 16 int32 sums of a block."""
UNROLL = 4 // PARTS
"""Groups of inputs in flight: of a pair of blocks, eight registers of sums."""
SPARSE_INPUTS = 1 << 31
"""No layer skips groups of zeros: to go from one to the next takes longer than to add them all."""


def dot(builder: Any, sums: Any, inputs: Any, weights: Any) -> list[Any]:
    """The 16 int32 sums (PARTS vectors) plus, for each output, the product of four u8 inputs (an i32 that holds them)
    with its four int8 weights (an address of 64 bytes)."""
    # LLVM 21 types the byte operands of the intrinsic as bytes, older ones as int32.
    kind = vector(i32, _LANES)
    operand = vector(i8, 4 * _LANES) if _BYTE_OPERANDS else kind
    function = external(builder, f"llvm.x86.avx512.vpdpbusd.{_BITS}", kind, [kind, operand, operand])
    four = builder.bitcast(splat(builder, inputs, _LANES), operand)
    return [
        builder.call(function, [total, four, load(builder, weights, _BITS // 8 * part, operand)])
        for part, total in enumerate(sums)
    ]


def _llvm_types_bytes() -> bool:
    from llvmlite import binding

    return bool(binding.llvm_version_info[0] >= 21)


_BYTE_OPERANDS = _llvm_types_bytes()
