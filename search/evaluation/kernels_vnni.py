"""The dot product of AVX-512 VNNI: `vpdpbusd` adds 16 x four products of a byte pair in one instruction."""

from __future__ import annotations

from typing import Any

from search.machine.llvm import external, i8, i32, load, splat, vector

PARTS = 1
"""Vectors that hold the 16 int32 sums of a block."""


def dot(builder: Any, sums: Any, inputs: Any, weights: Any) -> list[Any]:
    """The 16 int32 sums (PARTS vectors) plus, for each output, the product of four u8 inputs (an i32 that holds them)
    with its four int8 weights (an address of 64 bytes)."""
    # LLVM 21 types the byte operands of the intrinsic as bytes, older ones as int32.
    wide, bytes_ = vector(i32, 16), vector(i8, 64)
    operand = bytes_ if _BYTE_OPERANDS else wide
    function = external(builder, "llvm.x86.avx512.vpdpbusd.512", wide, [wide, operand, operand])
    four = builder.bitcast(splat(builder, inputs, 16), operand)
    return [builder.call(function, [sums[0], four, load(builder, weights, 0, operand)])]


def _llvm_types_bytes() -> bool:
    from llvmlite import binding

    return bool(binding.llvm_version_info[0] >= 21)


_BYTE_OPERANDS = _llvm_types_bytes()
