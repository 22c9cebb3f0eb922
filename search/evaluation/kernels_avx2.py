"""The dot product of AVX2: `vpmaddubsw`, `vpmaddwd`.

It is exact: inputs up to 127 cannot saturate the int16 pairs, and no more pairs are added than
`kernels.groups_together` allows.
"""

from __future__ import annotations

import functools
from typing import Any

from search.primitives.llvm import constant, external, i8, i16, i32, load, splat, vector

PARTS = 2
"""Vectors that hold the 16 int32 sums of a block."""
UNROLL = LONG_UNROLL = 2
"""Groups of inputs in flight: eight of 16 registers hold the sums of a pair of blocks."""
TOGETHER: tuple[int, ...] = (1, 2, 4)
"""Numbers of groups whose products may be added as int16, before one instruction widens them to int32."""
WIDEST_TILE = 4
"""Blocks of 32 int16 lanes that are summed in registers."""


def spread(builder: Any, inputs: Any, count: int) -> list[Any]:
    """Return a vector of int32 lanes filled with each of `count` groups of four u8 inputs."""
    return [splat(builder, load(builder, inputs, 4 * group, i32), 8) for group in range(count)]


def dot(builder: Any, sums: Any, inputs: list[Any], weights: list[Any]) -> list[Any]:
    """Return sums (int32 vectors) plus, for each output, the products of groups of four u8 inputs (from `spread`) with
    their four int8 weights (addresses). int16 must hold the sum of the groups' products."""
    bytes_, pairs, fours = vector(i8, 32), vector(i16, 16), vector(i32, 8)
    multiply = external(builder, "llvm.x86.avx2.pmadd.ub.sw", pairs, [bytes_, bytes_])
    widen = external(builder, "llvm.x86.avx2.pmadd.wd", fours, [pairs, pairs])
    found = []
    for part, total in enumerate(sums):
        products = [
            builder.call(multiply, [builder.bitcast(four, bytes_), load(builder, row, 32 * part, bytes_)])
            for four, row in zip(inputs, weights, strict=True)
        ]
        together = functools.reduce(builder.add, products)
        found.append(builder.add(total, builder.call(widen, [together, constant(i16, 16, 1)])))
    return found
