"""Bit operations on 64-bit words that Numba lacks; each is one LLVM intrinsic and one machine instruction."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from search.compiling.jit import jit


def _unary_instruction(name: str, has_zero_flag: bool):
    """Make an intrinsic uint64 -> uint64 that emits `name`; its result for a zero word is defined (64)."""

    @intrinsic
    def instruction(context, word):
        def emit(context, builder, signature, arguments):
            word64 = ir.IntType(64)
            parameters = [word64, ir.IntType(1)] if has_zero_flag else [word64]
            function = builder.module.globals.get(name) or ir.Function(
                builder.module, ir.FunctionType(word64, parameters), name
            )
            flag = [ir.Constant(ir.IntType(1), 0)] if has_zero_flag else []
            return builder.call(function, [arguments[0], *flag])

        return types.uint64(types.uint64), emit

    return instruction


trailing_zeros = _unary_instruction("llvm.cttz.i64", True)
leading_zeros = _unary_instruction("llvm.ctlz.i64", True)
popcount = _unary_instruction("llvm.ctpop.i64", False)
byte_swap = _unary_instruction("llvm.bswap.i64", False)


@intrinsic
def extract_bits(context, word, mask):
    """Return the bits of `word` at the ones of `mask`, packed at the bottom (BMI2 `pext`). x86-64 with BMI2 only."""

    def emit(context, builder, signature, arguments):
        word64 = ir.IntType(64)
        name = "llvm.x86.bmi.pext.64"
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(word64, [word64, word64]), name
        )
        return builder.call(function, arguments)

    return types.uint64(types.uint64, types.uint64), emit


@jit
def highest_bit(word):
    """Return the index of the highest set bit of a non-zero uint64."""
    return 63 - leading_zeros(word)
