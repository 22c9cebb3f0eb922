"""Small pieces of LLVM code for kernels: vectors, splats, clips, and single elements at raw addresses.

The vector functions run while Numba compiles, with an llvmlite builder. LLVM splits vectors that are wider than the
machine's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

i8, i16, i32, i64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


def vector(element: ir.IntType, count: int) -> ir.VectorType:
    """Return the LLVM type of a vector of `count` elements."""
    return ir.VectorType(element, count)


def constant(element: ir.IntType, count: int, number: int) -> ir.Constant:
    """Return a vector constant with `number` in every lane."""
    return ir.Constant(vector(element, count), [number] * count)


def add_offset(builder: Any, address: Any, offset: Any) -> Any:
    """Return `address + offset` in bytes; the offset is a Python int or an i64."""
    return builder.add(address, ir.Constant(i64, offset) if isinstance(offset, int) else offset)


def load(builder: Any, address: Any, offset: Any, kind: Any, align: int = 4) -> Any:
    """Return the value of type `kind` at `address + offset` in bytes, read with an alignment of `align` bytes."""
    place = builder.inttoptr(add_offset(builder, address, offset), kind.as_pointer())
    return builder.load(place, align=align)


def store(builder: Any, address: Any, offset: Any, value: Any, align: int = 4) -> None:
    """Write a value to `address + offset` in bytes, with an alignment of `align` bytes."""
    place = builder.inttoptr(add_offset(builder, address, offset), value.type.as_pointer())
    builder.store(value, place, align=align)


def splat(builder: Any, value: Any, count: int) -> Any:
    """Return a vector with a value in each of `count` lanes."""
    kind = vector(value.type, count)
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(i32, 0))
    return shuffle(builder, single, [0] * count)


def shuffle(builder: Any, value: Any, lanes: list[int]) -> Any:
    """Return the given lanes of a vector, in the given order."""
    order = ir.Constant(vector(i32, len(lanes)), lanes)
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), order)


def clip(builder: Any, value: Any, element: ir.IntType, count: int, most: int = 127) -> Any:
    """Clip the lanes to 0..most."""
    for order, bound in ((">", 0), ("<", most)):
        limit = constant(element, count, bound)
        value = builder.select(builder.icmp_signed(order, value, limit), value, limit)
    return value


def external(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Return the declaration of an LLVM intrinsic or an external function in the module being built."""
    found = builder.module.globals.get(name)
    return found or ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def make_load(kind: Any, bits: int) -> Any:
    """Make an intrinsic (address uint64, index int64) that returns an element of an array of `kind`."""

    @intrinsic
    def load(context, address, index):
        def emit(context, builder, signature, arguments):
            element = ir.IntType(bits)
            place = builder.gep(builder.inttoptr(arguments[0], element.as_pointer()), [arguments[1]])
            return builder.load(place)

        return kind(types.uint64, types.int64), emit

    return load


def make_store(kind: Any, bits: int) -> Any:
    """Make an intrinsic (address uint64, index int64, value) that writes an element of an array of `kind`."""

    @intrinsic
    def store(context, address, index, value):
        def emit(context, builder, signature, arguments):
            element = ir.IntType(bits)
            place = builder.gep(builder.inttoptr(arguments[0], element.as_pointer()), [arguments[1]])
            builder.store(arguments[2], place)
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64, kind), emit

    return store
