"""The integer kernels of evaluation, as this machine runs them (`search.compiling.jit.KERNEL`).

All work on raw addresses (uint64), with dimensions at run time, and equal `evaluate_reference` to the bit:

- `sum_rows(target, source, added, added_count, removed, removed_count, width, lane_bytes)`: target = source + rows -
  rows, `width` (a multiple of 32) int16 lanes, wrapping; `added` and `removed` are addresses of lists of row addresses
  (uint64), whose lanes are int16 or, where `lane_bytes` is 1, int8.
- `activate(source, extra, shift, target, width)`: u8 target = clip((source + extra) >> shift, 0, 127), int16 lanes.
- `activate_squared(...)`: the same, then u8 target = (target * target + 64) >> 7.
- `affine(inputs, input_count, weights, biases, output_count, target)`: int32 target = weights @ u8 inputs + biases.
- `affine_clipped(..., output_count, shift, target)`: the same, then u8 target = clip(sum >> shift, 0, 127).

Counts of inputs and outputs are padded (`padded_outputs`) with weights of zero; weights lie as `pack_weights` packs
them. u8 inputs never exceed 127, so that pairs of products fit AVX2's int16: 2 * 127 * 128 < 2^15.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import KERNEL

if KERNEL == "plain":
    from search.evaluation.kernels_plain import (
        activate,
        activate_squared,
        affine,
        affine_clipped,
        pack_weights,
        sum_rows,
    )
else:
    from search.evaluation.kernels_vector import (
        activate,
        activate_squared,
        affine,
        affine_clipped,
        pack_weights,
        sum_rows,
    )

__all__ = [
    "activate",
    "activate_squared",
    "affine",
    "affine_clipped",
    "pack_biases",
    "pack_weights",
    "padded_outputs",
    "sum_rows",
]

OUTPUT_BLOCK = 16


def padded_outputs(count: int) -> int:
    """The next multiple of 16: one 512-bit register of int32."""
    return -(-count // OUTPUT_BLOCK) * OUTPUT_BLOCK


def pack_biases(bias: np.ndarray) -> np.ndarray:
    """Biases int32 [outputs], padded with zeros."""
    packed = np.zeros(padded_outputs(len(bias)), np.int32)
    packed[: len(bias)] = bias
    return packed
