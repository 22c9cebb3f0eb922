"""The forward and backward pass of all networks on a CPU, from lists of active rows to outputs and back.

Each thread takes its part of the batch through all layers, one block of positions after the other, so that the outputs
of a layer are still in the cache when the next layer reads them. The backward pass keeps only the sums of the wide
first layer and activates them again. Threads, and processes that share a batch, wait for each other where batch
normalisation needs the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.networks.activation import ACTIVATIONS, Activation
from lite.networks.line_sums import LineSums
from lite.networks.normalisation import Scaling, activate, batch_scaling, by_channel, pass_gradient, unscaled
from lite.networks.parts import at_once, part_bounds
from lite.networks.row_sums import BLOCK, SPARE, TableSums
from lite.workers import ALONE, Workers
from search.compiling.jit import jit

Lists = tuple[np.ndarray, np.ndarray]
"""(rows, start) of adjacent samples: sample s has `rows[start[s] : start[s + 1]]`."""
FirstLayer = TableSums | LineSums
PART_POSITIONS = 2048
"""Least positions per thread: smaller parts wait longer for the GIL than they save (docs/guide/training.md)."""
_NEAR = 1 << 18
"""Numbers per block of activations, 1 MB in float32: few enough for the cache, and enough that threads seldom need the
GIL. More threads profit from larger blocks."""


@dataclass
class _Part:
    """A thread's part of a batch, with the values that the backward pass needs."""

    first: int
    last: int
    """Positions of the batch."""
    lists: Lists
    sums: torch.Tensor
    """(samples, N); a position has as many adjacent samples as there are perspectives."""
    moments: np.ndarray
    """Each column's sum and sum of squares, f8 [2, N]."""
    hidden: list[torch.Tensor] = field(default_factory=list)
    """The hidden layers' activations (positions, outputs)."""


@dataclass(frozen=True)
class _Activation:
    """Scaling and activation of the sums; arrays [N] of the sums' dtype."""

    scaling: Scaling
    scale: np.ndarray
    shift: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    ceiling: Any
    square_offset: int
    pair_block: int
    """Adjacent sums of which the halves are multiplied, 0 without an activation by pairs."""
    inputs: int
    """Inputs of the next layer per sample."""
    near: int
    """Numbers per block."""

    @classmethod
    def of(cls, scaling: Scaling, activation: Activation, pair_block: int, dtype: Any, parts: int) -> _Activation:
        of_channels = (scaling.scale, scaling.shift, scaling.mean, scaling.deviation)
        scale, shift, mean, deviation = (values[scaling.channel_of].astype(dtype) for values in of_channels)
        offset, block = activation.square_offset(len(scale)), pair_block * activation.pairwise
        inputs, near = activation.input_count(len(scale)), _NEAR * max(1, parts // 4)
        return cls(scaling, scale, shift, mean, deviation, dtype.type(activation.ceiling), offset, block, inputs, near)

    def blocks(self, part: _Part) -> Iterator[tuple[slice, slice, torch.Tensor]]:
        """Yield the blocks of a part as (positions, samples, activated sums (positions, perspectives * inputs)).

        All blocks use the same memory for the activated sums, which the caller may overwrite.
        """
        positions, samples = part.last - part.first, len(part.sums)
        if not positions:
            return
        views = samples // positions
        most = max(32, self.near // (views * self.inputs))
        memory = torch.empty(min(most, positions) * views, self.inputs, dtype=part.sums.dtype)
        for first in range(0, positions, most):
            last = min(first + most, positions)
            of_block = slice(views * first, views * last)
            activated = memory[: views * (last - first)]
            arrays = (part.sums.numpy(), self.scale, self.shift, self.ceiling, self.square_offset, self.pair_block)
            activate(*arrays, of_block.start, of_block.stop, activated.numpy())
            yield slice(first, last), of_block, activated.view(last - first, -1)


def _room(samples: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """Return memory for (samples, width) numbers, followed by SPARE more."""
    return torch.empty(samples * width + SPARE, dtype=dtype)[: samples * width].view(samples, width)


@jit
def _through_scaling(gradient, sums, scale, constant, slope, first, last, result, base):
    """Compute the gradient of the samples' sums before scaling, and add it to that of the base f8 [N]."""
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            line = constant[output] + slope[output] * sums[sample, output]
            result[sample - first, output] = scale[output] * gradient[sample, output] - line
        for output in range(sums.shape[1]):
            base[output] += np.float64(result[sample - first, output])


class _Outputs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, positions: int, lists: Callable[[int, int], Lists], first_layer: FirstLayer,
        norms: Sequence[nn.Module], training: bool, kind: Activation, threads: int | None, workers: Workers,
        gamma: torch.Tensor, beta: torch.Tensor, *tensors: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        linear = tensors[len(first_layer.tensors) :]
        arrays = [tensor.detach().contiguous().numpy() for tensor in first_layer.tensors]
        layers = list(zip(linear[::2], linear[1::2], strict=True))
        width, dtype = len(arrays[-1]), gamma.dtype

        def sum_part(first: int, last: int) -> _Part:
            rows, start = lists(first, last)
            sums, moments = _room(len(start) - 1, width, dtype), np.zeros((2, width))
            first_layer.sum(arrays, rows, start, sums.numpy(), moments)
            return _Part(first, last, (rows, start), sums, moments)

        def evaluate_part(part: _Part) -> None:
            if not layers:
                for block, _, activated in activation.blocks(part):
                    found[part.first : part.last][block] = activated
                return
            (weight, bias), *others = layers
            outputs = torch.empty(part.last - part.first, len(bias), dtype=dtype)
            for block, _, activated in activation.blocks(part):
                torch.addmm(bias, activated, weight.t(), out=outputs[block])
            for weight, bias in others:
                part.hidden.append(outputs.clamp_(0, kind.ceiling))
                outputs = torch.addmm(bias, outputs, weight.t())
            found[part.first : part.last] = outputs

        count = min(threads or torch.get_num_threads(), max(1, positions // PART_POSITIONS))
        parts = at_once(sum_part, *zip(*part_bounds(positions, count), strict=True))
        samples = sum(len(part.sums) for part in parts)
        views = samples // max(positions, 1)
        found = torch.empty(positions, len(layers[-1][1]) if layers else views * kind.input_count(width), dtype=dtype)
        scaling = unscaled(width)
        if norms:
            moments = sum(part.moments for part in parts)
            if training:
                moments, samples = _of_all(workers, moments, samples)
            scaling = batch_scaling(norms, training, moments, samples, first_layer.channel_of(len(gamma)))
        activation = _Activation.of(scaling, kind, first_layer.pair_block, arrays[-1].dtype, len(parts))
        at_once(evaluate_part, parts)
        ctx.save_for_backward(*linear)
        ctx.parts, ctx.activation, ctx.first_layer, ctx.workers = parts, activation, first_layer, workers
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        weights, activation, first_layer = ctx.saved_tensors[::2], ctx.activation, ctx.first_layer
        width, dtype = len(activation.scale), activation.scale.dtype

        def to_sums(part: _Part) -> tuple[torch.Tensor, np.ndarray, list[torch.Tensor]]:
            gradient = gradients[0][part.first : part.last]
            of_linear: list[torch.Tensor] = []
            for weight, outputs in zip(weights[:0:-1], part.hidden[::-1], strict=True):
                of_linear[:0] = gradient.t() @ outputs, gradient.sum(0)
                gradient = torch.ops.aten.hardtanh_backward(gradient @ weight, outputs, 0, float(activation.ceiling))
            of_sums, moments = torch.empty_like(part.sums), np.zeros((2, width))
            if weights:
                of_linear[:0] = torch.zeros_like(weights[0]), gradient.sum(0)
            for block, samples, activated in activation.blocks(part):
                if weights:
                    of_linear[0].addmm_(gradient[block].t(), activated)
                    torch.mm(gradient[block], weights[0], out=activated)
                else:
                    activated.copy_(gradient[block])
                of_lanes = (activation.scale, activation.shift, activation.mean, activation.deviation)
                bounds = (activation.ceiling, activation.square_offset, activation.pair_block)
                arrays = (part.sums.numpy(), *of_lanes, *bounds, samples.start, samples.stop, of_sums.numpy(), moments)
                pass_gradient(activated.view(-1, activation.inputs).numpy(), *arrays)
            return of_sums, moments, of_linear

        def to_rows(part: _Part, of_sums: torch.Tensor) -> list[np.ndarray]:
            found = [np.zeros(tensor.shape, dtype) for tensor in first_layer.tensors]
            scatter, base = first_layer.scatter(found), np.zeros(width)
            near = _room(BLOCK, width, of_sums.dtype).numpy()
            arrays = (of_sums.numpy(), part.sums.numpy(), activation.scale, constant, slope)
            for first in range(0, len(of_sums), BLOCK):
                last = min(first + BLOCK, len(of_sums))
                _through_scaling(*arrays, first, last, near, base)
                scatter(near, *part.lists, first, last)
            found[-1][:] = base
            return found

        of_sums, moments, of_linear = zip(*at_once(to_sums, ctx.parts), strict=True)
        own, scaling = sum(moments), activation.scaling
        beta, gamma = by_channel(own, scaling.channel_of)
        constant, slope = np.zeros(width, dtype), np.zeros(width, dtype)
        if scaling.of_batch:
            line = scaling.sums_gradient(*_of_all(ctx.workers, own, sum(len(part.sums) for part in ctx.parts)))
            constant, slope = (values[scaling.channel_of].astype(dtype) for values in line)
        of_first_layer = map(_total, zip(*at_once(to_rows, ctx.parts, of_sums), strict=True))
        arrays = [array.astype(dtype, copy=False) for array in (gamma, beta, *of_first_layer)]
        return *[None] * 8, *map(torch.from_numpy, arrays), *map(_total, zip(*of_linear, strict=True))


def _of_all(workers: Workers, moments: np.ndarray, samples: int) -> tuple[np.ndarray, int]:
    """Return moments and samples of the whole batch from those of this process's share."""
    numbers = np.append(moments, samples)
    workers.total(torch.from_numpy(numbers))
    return numbers[:-1].reshape(moments.shape), int(numbers[-1])


def _total(parts: Sequence[Any]) -> Any:
    """Return the sum of arrays or tensors, in the memory of the first."""
    total, *others = parts
    for part in others:
        total += part
    return total


def fused_outputs(
    positions: int,
    lists: Callable[[int, int], Lists],
    first_layer: FirstLayer,
    norms: Sequence[nn.Module],
    training: bool,
    linear: Sequence[tuple[torch.Tensor, torch.Tensor]],
    activation: Activation = ACTIVATIONS["relu"],
    threads: int | None = None,
    workers: Workers = ALONE,
) -> torch.Tensor:
    """Return outputs (positions, outputs) of a network whose first layer is a sum of rows; float32 or float64.

    `lists(first, last)` returns the active rows of the samples of positions first..last, one or two per position. Their
    sums are normalised by the modules `norms`, if any, see `batch_scaling`, and activated; then follow the layers
    (weight, bias) of `linear`, the hidden ones limited to the activation's ceiling. Without layers the outputs are the
    activated sums, the samples of a position side by side. Differentiable in the first layer's tensors, the norms and
    the layers. The batch is divided among `threads` (None means as many as torch has), at least
    PART_POSITIONS each; an equal number of threads gives equal bits. Each of `workers` has its share of one batch, and
    the norms cover all shares.
    """
    none = torch.zeros(0, dtype=first_layer.tensors[-1].dtype)
    gamma, beta = (torch.cat([getattr(norm, name) for norm in norms] or [none]) for name in ("weight", "bias"))
    tensors = (gamma, beta, *first_layer.tensors, *(tensor for layer in linear for tensor in layer))
    outputs: torch.Tensor = _Outputs.apply(  # type: ignore[no-untyped-call]
        positions, lists, first_layer, norms, training, activation, threads, workers, *tensors
    )
    return outputs
