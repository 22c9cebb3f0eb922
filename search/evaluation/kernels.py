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
- `affine(inputs, input_count, weights, biases, output_count, together, target)`: int32 target = weights @ u8 inputs +
  biases; `together` is from `groups_together`.
- `affine_clipped(..., output_count, shift, together, target)`: the same, then u8 target = clip(sum >> shift, 0, 127).
- `affine_narrow(inputs, input_count, weights, biases, target)`: `affine` for at most 8 outputs of a multiple of 32
  inputs, with weights of `pack_narrow_weights`; 16 sums are written, the last eight zero.
- `square_and_clip(sums, count, shift, target)`: of `count` (a multiple of 16) int32 sums first all squares, u8
  min(127, sum * sum >> 2 * shift + 7), then u8 clip(sum >> shift, 0, 127) of all. The squares are only defined for
  shifts of up to `network.MAX_SQUARED_SHIFT`.

Counts of inputs and outputs are padded (`padded_outputs`) with weights of zero; weights lie as `pack_weights` packs
them. u8 inputs never exceed 127, so that pairs of products fit AVX2's int16: 2 * 127 * 128 < 2^15.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.compiling.jit import KERNEL
from search.evaluation.network import ACTIVATION_LIMIT

if KERNEL == "plain":
    from search.evaluation.kernels_plain import (
        TOGETHER,
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
        TOGETHER,
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
    "TOGETHER",
    "activate",
    "activate_pairwise",
    "activate_squared",
    "affine",
    "affine_clipped",
    "affine_narrow",
    "groups_together",
    "pack_biases",
    "pack_narrow_weights",
    "pack_weights",
    "padded_outputs",
    "square_and_clip",
    "sum_rows",
]

GROUP = 4
"""Inputs whose products with an output's weights are added first."""
OUTPUT_BLOCK = 16
NARROW_OUTPUTS = 8
"""Most outputs of `affine_narrow`."""
NARROW_INPUTS = 32
"""The inputs of `affine_narrow` are a multiple of this many."""


def groups_together(weight: np.ndarray, inputs: int, counts: Sequence[int] = TOGETHER) -> int:
    """Return the most of `counts` such that int16 holds the products of so many consecutive groups of four inputs.

    weight: int8 [..., outputs, inputs'], and the rest of `inputs` (a multiple of 16, each at most 127) has weights of
    zero. counts: ascending, from 1. A kernel adds the products of either half of a group, and then those of several
    groups.
    """
    if len(counts) == 1:
        return 1
    padded = np.zeros((*weight.shape[:-1], inputs), np.int16)
    padded[..., : weight.shape[-1]] = weight
    halves = padded.reshape(-1, inputs // GROUP, 2, GROUP // 2)
    signs = [np.maximum(sign * halves, 0).sum(-1, dtype=np.int16) for sign in (1, -1)]  # [outputs, groups, 2]
    for count in reversed(counts):
        largest = max(one.reshape(len(one), -1, count, 2).sum(2).max() for one in signs)
        if largest * ACTIVATION_LIMIT <= np.iinfo(np.int16).max:
            return count
    return 1


def padded_outputs(count: int) -> int:
    """Return the next multiple of 16: one 512-bit register of int32."""
    return -(-count // OUTPUT_BLOCK) * OUTPUT_BLOCK


def pack_biases(bias: np.ndarray) -> np.ndarray:
    """Return biases int32 [..., outputs] padded with zeros."""
    packed = np.zeros((*bias.shape[:-1], padded_outputs(bias.shape[-1])), np.int32)
    packed[..., : bias.shape[-1]] = bias
    return packed
