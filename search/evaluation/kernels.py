"""The integer kernels of evaluation, as this machine runs them (`search.compiling.jit.KERNEL`).

All work on raw addresses (uint64), with dimensions at run time, and equal `evaluate_reference` to the bit:

- `sum_rows(target, source, added, added_count, removed, removed_count, width, lane_bytes)`: target = source + rows -
  rows, `width` (a multiple of 32) int16 lanes, wrapping; `added` and `removed` are addresses of lists of row addresses
  (uint64), whose lanes are int16 or, where `lane_bytes` is 1, int8.
- `activate(source, extra, shift, target, width)`: u8 target = clip((source + extra) >> shift, 0, 127), int16 lanes.
- `activate_squared(...)`: the same, then u8 target = (target * target + 64) >> 7.
- `activate_pairwise(source, extra, wrapped, shift, target, width)`: u8 target = a * b >> 7, width / 2 (a multiple of
  16) numbers; a and b are lanes of the first and the second half, clipped as above after `wrapped` bits at the top of
  the sums are dropped.
- `affine(inputs, input_count, weights, biases, output_count, target)`: int32 target = weights @ u8 inputs + biases.
- `affine_clipped(..., output_count, shift, target)`: the same, then u8 target = clip(sum >> shift, 0, 127).
- `affine_narrow(inputs, input_count, weights, biases, target)`: `affine` for at most 8 outputs of a multiple of 32
  inputs, with weights of `pack_narrow_weights`; 16 sums are written, the last eight zero.
- `square_and_clip(sums, count, shift, target)`: of `count` (a multiple of 16) int32 sums first all squares, u8
  min(127, sum * sum >> 2 * shift + 7), then u8 clip(sum >> shift, 0, 127) of all. The squares are only defined for
  shifts of up to `network.MAX_SQUARED_SHIFT`.

Counts of inputs and outputs are padded (`padded_outputs`) with weights of zero; weights lie as `pack_weights` packs
them. u8 inputs never exceed 127, so that pairs of products fit AVX2's int16: 2 * 127 * 128 < 2^15.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import KERNEL

if KERNEL == "plain":
    from search.evaluation.kernels_plain import (
        SPARSE_INPUTS,
        activate,
        activate_pairwise,
        activate_squared,
        affine,
        affine_clipped,
        affine_narrow,
        pack_narrow_weights,
        pack_weights,
        square_and_clip,
        sum_rows,
    )
else:
    from search.evaluation.kernels_vector import (
        SPARSE_INPUTS,
        activate,
        activate_pairwise,
        activate_squared,
        affine,
        affine_clipped,
        affine_narrow,
        pack_narrow_weights,
        pack_weights,
        square_and_clip,
        sum_rows,
    )

__all__ = [
    "SPARSE_INPUTS",
    "activate",
    "activate_pairwise",
    "activate_squared",
    "affine",
    "affine_clipped",
    "affine_narrow",
    "pack_biases",
    "pack_narrow_weights",
    "pack_weights",
    "padded_outputs",
    "square_and_clip",
    "sum_rows",
]

OUTPUT_BLOCK = 16
NARROW_OUTPUTS = 8
"""Most outputs of `affine_narrow`."""
NARROW_INPUTS = 32
"""The inputs of `affine_narrow` are a multiple of this many."""


def padded_outputs(count: int) -> int:
    """Return the next multiple of 16: one 512-bit register of int32."""
    return -(-count // OUTPUT_BLOCK) * OUTPUT_BLOCK


def pack_biases(bias: np.ndarray) -> np.ndarray:
    """Return biases int32 [..., outputs] padded with zeros."""
    packed = np.zeros((*bias.shape[:-1], padded_outputs(bias.shape[-1])), np.int32)
    packed[..., : bias.shape[-1]] = bias
    return packed
