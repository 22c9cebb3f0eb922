"""Batch normalisation and activation of the first layer's sums, and the gradients of both, in Numba.

Ioffe and Szegedy, "Batch Normalization" (2015), equations 1-4, and their gradients. Several columns may share one
channel's statistics: a channel of the lite network's BatchNorm2d has nine columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from search.compiling.jit import jit


@jit
def _cut(value, ceiling):
    value = value if value > 0 else value - value  # 0, but a NaN stays one
    return ceiling if value > ceiling else value


@jit
def activate(sums, scale, shift, ceiling, square_offset, pair_block, first, last, result):
    """Scale and shift the sums of samples first..last and clip them to 0..ceiling.

    Their squares follow from column `square_offset`: 0 replaces the clipped sums by them, -1 leaves them out. A
    `pair_block` above 0 writes products instead: of every block of `pair_block` sums, the first half times the second.
    """
    if pair_block > 0:
        _multiply_pairs(sums, scale, shift, ceiling, pair_block, first, last, result)
        return
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            value = sums[sample, output] * scale[output] + shift[output]
            result[sample - first, output] = _cut(value, ceiling)
        if square_offset >= 0:
            for output in range(sums.shape[1]):
                value = result[sample - first, output]
                result[sample - first, square_offset + output] = value * value


@jit
def _multiply_pairs(sums, scale, shift, ceiling, pair_block, first, last, result):
    half = pair_block // 2
    for sample in range(first, last):
        own = result[sample - first]
        for block in range(0, sums.shape[1], pair_block):
            for pair in range(half):
                one, other = block + pair, block + half + pair
                value = _cut(sums[sample, one] * scale[one] + shift[one], ceiling)
                own[block // 2 + pair] = value * _cut(sums[sample, other] * scale[other] + shift[other], ceiling)


@jit
def _gradient_of_pairs(own, sums, scale, shift, ceiling, pair_block, gradient):
    """Write one sample's gradient of the scaled sums from `own`, that of its products."""
    half = pair_block // 2
    for block in range(0, len(sums), pair_block):
        for pair in range(half):
            one, other = block + pair, block + half + pair
            value, factor = sums[one] * scale[one] + shift[one], sums[other] * scale[other] + shift[other]
            of_product = own[block // 2 + pair]
            passes = (value > 0) & (value < ceiling)
            gradient[one] = of_product * _cut(factor, ceiling) if passes else np.float32(0)
            passes = (factor > 0) & (factor < ceiling)
            gradient[other] = of_product * _cut(value, ceiling) if passes else np.float32(0)


@jit
def pass_gradient(
    of_inputs, sums, scale, shift, mean, deviation, ceiling, square_offset, pair_block, first, last, gradient, moments
):
    """Compute the gradient of the scaled sums from that of the output of `activate` (last - first, inputs).

    The latter is overwritten. Each column's gradient, plain and times the normalised sum, is added to moments f8
    [2, N]: these are the gradients of the normalisation's bias and weight.
    """
    plain, normalised = moments[0], moments[1]
    for sample in range(first, last):
        own = of_inputs[sample - first]
        if square_offset >= 0:
            for output in range(sums.shape[1]):
                value = _cut(sums[sample, output] * scale[output] + shift[output], ceiling)
                of_square = (value + value) * own[square_offset + output]
                own[output] = of_square if square_offset == 0 else own[output] + of_square
        if pair_block > 0:
            _gradient_of_pairs(own, sums[sample], scale, shift, ceiling, pair_block, gradient[sample])
        else:
            for output in range(sums.shape[1]):
                value = sums[sample, output] * scale[output] + shift[output]
                passes = (value > 0) & (value < ceiling)
                gradient[sample, output] = own[output] if passes else np.float32(0)
        for output in range(sums.shape[1]):
            passed = np.float64(gradient[sample, output])
            plain[output] += passed
            normalised[output] += passed * np.float64((sums[sample, output] - mean[output]) * deviation[output])


@dataclass(frozen=True)
class Scaling:
    """The normalisation of each channel; all f8 [channels]."""

    mean: np.ndarray
    deviation: np.ndarray
    """One over the standard deviation."""
    scale: np.ndarray
    shift: np.ndarray
    channel_of: np.ndarray
    """The channel of each column, int [N]."""
    of_batch: bool
    """Whether mean and deviation are those of the batch, which have a gradient, too."""

    def sums_gradient(self, moments: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (constant, slope), f8 [channels], from `pass_gradient`'s moments of a batch with its own statistics.

        The gradient of a sum x is `scale * gradient - constant - slope * x`.
        """
        plain, normalised = by_channel(moments, self.channel_of)
        # d/dx of the mean and the variance: -a (mean(g) + x_hat mean(g x_hat)), as constant + slope * x.
        elements = samples * moments.shape[1] // len(self.scale)
        slope = self.scale * normalised / elements * self.deviation
        return self.scale * plain / elements - slope * self.mean, slope


def unscaled(width: int) -> Scaling:
    """Return the scaling that leaves `width` columns unchanged."""
    return Scaling(np.zeros(1), np.ones(1), np.ones(1), np.zeros(1), np.zeros(width, np.int64), of_batch=False)


def by_channel(moments: np.ndarray, channel_of: np.ndarray) -> np.ndarray:
    """Return the sums f8 [2, channels] of moments f8 [2, N] over each channel's columns."""
    return np.array([np.bincount(channel_of, column) for column in moments])


def batch_scaling(
    modules: Sequence[nn.Module], training: bool, moments: np.ndarray, samples: int, channel_of: np.ndarray
) -> Scaling:
    """Return the scaling of batch normalisations; all of their channels have the same number of columns.

    In training the statistics are the batch's, over samples and a channel's columns together, from the columns' sums
    and sums of squares (moments f8 [2, N]), and the modules' running statistics are updated as in PyTorch (unbiased
    variance, `momentum`); otherwise the running statistics are used.
    """
    norms: list[Any] = list(modules)
    weight, bias, mean, variance = (
        np.concatenate([getattr(norm, name).detach().numpy() for norm in norms]).astype(np.float64)
        for name in ("weight", "bias", "running_mean", "running_var")
    )
    if training:
        elements = samples * moments.shape[1] // len(weight)
        if elements < 2:
            raise ValueError("batch normalisation needs more than one position in a training batch")
        mean, square = by_channel(moments, channel_of) / elements
        variance = np.maximum(square - mean * mean, 0)
        _move_running_statistics(norms, mean, variance * elements / (elements - 1))
    deviation = 1 / np.sqrt(variance + norms[0].eps)
    return Scaling(mean, deviation, weight * deviation, bias - weight * deviation * mean, channel_of, training)


def _move_running_statistics(norms: list[Any], mean: np.ndarray, variance: np.ndarray) -> None:
    place = 0
    for norm in norms:
        part = slice(place, place := place + len(norm.running_mean))
        for running, values in ((norm.running_mean.numpy(), mean), (norm.running_var.numpy(), variance)):
            running += norm.momentum * (values[part] - running)
        norm.num_batches_tracked += 1
