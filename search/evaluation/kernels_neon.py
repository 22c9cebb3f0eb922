"""The dot product of 64-bit ARM: `sdot` adds to each of four int32 the products of four pairs of signed bytes."""

from __future__ import annotations

from typing import Any

from search.primitives.llvm import external, i8, i32, load, splat, vector

PARTS = 4
"""Vectors that hold the 16 int32 sums of a block."""
UNROLL = LONG_UNROLL = 2
"""Groups of inputs in flight: 16 of 32 registers hold the sums of a pair of blocks."""
TOGETHER: tuple[int, ...] = (1,)
"""Numbers of groups whose products are added before they are widened: the instruction adds to int32."""
WIDEST_TILE = 4
"""Blocks of 32 int16 lanes that are summed in registers."""


def spread(builder: Any, inputs: Any, count: int) -> list[Any]:
    """Return a vector of int32 lanes filled with each of `count` groups of four u8 inputs."""
    return [splat(builder, load(builder, inputs, 4 * group, i32), 4) for group in range(count)]


def dot(builder: Any, sums: Any, inputs: list[Any], weights: list[Any]) -> list[Any]:
    """Return sums (int32 vectors) plus, for each output, the product of one group of four u8 inputs (from `spread`)
    with its four int8 weights (an address). Inputs up to 127 are the same number as signed bytes."""
    bytes_, fours = vector(i8, 16), vector(i32, 4)
    function = external(builder, "llvm.aarch64.neon.sdot.v4i32.v16i8", fours, [fours, bytes_, bytes_])
    four = builder.bitcast(inputs[0], bytes_)
    return [
        builder.call(function, [total, four, load(builder, weights[0], 16 * part, bytes_)])
        for part, total in enumerate(sums)
    ]
