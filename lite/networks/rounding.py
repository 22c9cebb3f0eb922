"""Rounding in training as the exported network rounds: the integers that the search will compute, with gradients.

A network learns in float32 and plays in integers (`export.quantise`, `export.quantise_nnue`). Steps that compute with
rounded weights and activations let the weights adapt to the rounding. Gradients ignore it ("straight through": Bengio,
Leonard, Courville, "Estimating or Propagating Gradients Through Stochastic Neurons", 2013), so that small steps add up.

A weight that reads inputs of unit u and adds to a sum of unit v is a multiple of v / u. An nn.bin has fixed units. For
all other networks a layer's units are those that `export.quantise` begins with: the largest activation of the batch is
127, and so is the largest weight of each neuron. All stacks use the same units here. The int16 rows of these networks
are much finer than activations and are not rounded, those of an nn.bin are (`FactoredNetwork`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from lite.networks.activation import Activation
from lite.networks.units import ACTIVATION_SCALE, OUTPUT_SCALE, SQUARE_GAIN, WEIGHT_SCALE
from lite.workers import ALONE, Workers
from search.evaluation.network import ACTIVATION_LIMIT, SQUARE_SHIFT

UNIT = 1 / ACTIVATION_SCALE
"""Unit of the rows of an nn.bin, and of activations that are limited to 1."""
_MOST_SHIFT = 20
_WITHIN = 1 / 512
"""Steps that a product may lie below a whole number: products of integers are multiples of 1 / 128, but for float32."""

Linear = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""Function of inputs (B, in), weight [..., out, in] and bias [..., out] to sums (B, out)."""


def pass_through(numbers: torch.Tensor, rounded: torch.Tensor) -> torch.Tensor:
    """Return the rounded numbers, with the gradient of the exact ones."""
    return numbers + (rounded - numbers).detach()


def round_to(numbers: torch.Tensor, unit: torch.Tensor | float) -> torch.Tensor:
    """Return numbers rounded to multiples of a unit."""
    return pass_through(numbers, torch.round(numbers.detach() / unit) * unit)


@dataclass(frozen=True)
class Rounding:
    """Rounding of the layers after the first one."""

    activation: Activation
    """Activation of the first layer."""
    views: int
    """Perspectives: parts of the first inputs with equal units."""
    fixed: bool = False
    """Whether the units are those of an nn.bin."""
    workers: Workers = ALONE
    """Processes that share a batch, over all of which the ranges of activations are taken."""

    def outputs(
        self,
        x: torch.Tensor,
        layers: Sequence[tuple[torch.Tensor, torch.Tensor]],
        linear: Linear,
        *,
        hidden_squares: bool = False,
        shortcut: bool = False,
        see_sums: Callable[[torch.Tensor], None] | None = None,
    ) -> torch.Tensor:
        """Return outputs (B, outputs) from the first layer's exact activations x (B, in).

        layers: (weight [out, in], bias [out]) of each later layer, perhaps with stacks in front. `hidden_squares` and
        `shortcut` as in `LayerStacks`; `see_sums` is called with each hidden layer's sums.
        """
        x, units = self.round_inputs(x)
        first, first_units = x, units
        for number, (weight, bias) in enumerate(layers[:-1]):
            if number == 0 and shortcut:
                weight, bias = weight[..., :-1, :], bias[..., :-1]
            ranges = None
            if not self.fixed:
                with torch.no_grad():
                    ranges = self._ranges(linear(x, weight, bias))
            sum_units, activation_units = self._hidden_units(weight, units, ranges)
            sums = linear(x, _rounded_weight(weight, sum_units[:, None] / units), bias)
            if see_sums is not None:
                see_sums(sums)
            x, units = self._activations(sums, activation_units, number == 0 and hidden_squares)
        weight, bias = layers[-1]
        row, row_bias = layers[0][0][..., -1:, :], layers[0][1][..., -1:]
        if self.fixed:
            unit = torch.tensor(1 / OUTPUT_SCALE).to(weight)
        else:
            largest = [(weight.detach() * units).abs().max()]
            largest += [(row.detach() * first_units).abs().max()] * shortcut
            unit = torch.stack(largest).max().clamp(min=1e-9) / ACTIVATION_LIMIT
        outputs = linear(x, _rounded_weight(weight, unit / units), bias)
        if not shortcut:
            return outputs
        direct = linear(first, _rounded_weight(row, unit / first_units), row_bias)
        return torch.cat((outputs[:, :1] + direct, outputs[:, 1:]), 1)

    def round_inputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the first inputs rounded, and their units [in]."""
        square = (1 << SQUARE_SHIFT) * UNIT**2
        if self.activation.pairwise:
            return self._round_down(x, square), x.new_full((x.shape[1],), square)
        parts = x.unflatten(1, (self.views, self.activation.clipped + self.activation.squared, -1))
        unit = x.new_full((parts.shape[3],), UNIT)
        if self.activation.ceiling == float("inf"):
            unit = self._ranges(parts[:, :, 0].flatten(0, 1)) / ACTIVATION_LIMIT
        found, units_of_parts = [], []
        if self.activation.clipped:
            cut = parts[:, :, 0]
            found.append(round_to(cut, unit))
            units_of_parts.append(unit)
        if self.activation.squared:
            squares = parts[:, :, -1]
            lanes = torch.round(squares.detach().sqrt() / UNIT)
            nearest = torch.floor(lanes * lanes / (1 << SQUARE_SHIFT) + 0.5)
            found.append(pass_through(squares, nearest * square))
            units_of_parts.append(torch.full_like(unit, square))
        return torch.stack(found, 2).flatten(1), torch.cat(units_of_parts).repeat(self.views)

    def _ranges(self, sums: torch.Tensor) -> torch.Tensor:
        """Return the largest number of each column, at least a 64th of the largest of all, up to the ceiling."""
        largest = sums.detach().amax(0) if len(sums) else sums.new_zeros(sums.shape[1])
        self.workers.largest(largest)
        return torch.maximum(largest, (largest.max() / 64).clamp(min=1e-6)).clamp(max=self.activation.ceiling)

    def _round_down(self, numbers: torch.Tensor, unit: torch.Tensor | float) -> torch.Tensor:
        """Return numbers rounded down to multiples of a unit, plus the mean of what most of them lose.

        In the exported network that mean is part of the next layer's bias: half a unit times the share of numbers above
        0 in each column.
        """
        exact = numbers.detach()
        above = (exact > 0).sum(0).to(exact)
        counts = torch.cat((above, above.new_full((1,), len(exact))))
        self.workers.total(counts)
        rounded = ((exact / unit + _WITHIN).floor() + 0.5 * counts[:-1] / counts[-1].clamp(min=1)) * unit
        return pass_through(numbers, rounded)

    def _hidden_units(
        self, weight: torch.Tensor, units: torch.Tensor, ranges: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the units of a hidden layer's sums [out] and of its activations [out]."""
        if ranges is None:
            unit = weight.new_full((weight.shape[-2],), UNIT)
            return unit / WEIGHT_SCALE, unit
        largest = (weight.detach() * units).abs().amax(-1).reshape(-1, weight.shape[-2]).amax(0)
        finest = torch.maximum(largest, largest.max().clamp(min=1e-9) / 1024) / ACTIVATION_LIMIT
        wanted = ranges / ACTIVATION_LIMIT
        alive = ranges > ranges.max() / 32
        shift = torch.floor(torch.median(torch.log2(wanted / finest)[alive])).clamp(0, _MOST_SHIFT)
        step = torch.exp2(shift)
        sum_units = torch.maximum(wanted / step, finest)
        sum_units = sum_units.clamp(max=self.activation.ceiling / ACTIVATION_LIMIT / step)
        return sum_units, sum_units * step

    def _activations(self, sums: torch.Tensor, unit: torch.Tensor, squares: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a hidden layer's activations rounded, and their units; with `squares` the squares come first."""
        limit = (ACTIVATION_LIMIT * unit).clamp(max=self.activation.ceiling)
        cut = torch.minimum(sums.clamp(min=0), limit)
        if not squares:
            return round_to(cut, unit), unit
        of_squares = SQUARE_GAIN * (1 << SQUARE_SHIFT) * unit**2
        exact = torch.minimum(SQUARE_GAIN * sums * sums, ACTIVATION_LIMIT * of_squares)
        if self.fixed:  # half a step is in the bias, whose square it is then
            moved = SQUARE_GAIN * (sums.detach() + unit / 2) ** 2
            rounded = (moved / of_squares).floor().clamp(max=ACTIVATION_LIMIT) * of_squares
            return torch.cat((pass_through(exact, rounded), round_to(cut, unit)), 1), torch.cat((of_squares, unit))
        parts = [self._round_down(part, one) for part, one in ((exact, of_squares), (cut, unit))]
        return torch.cat(parts, 1), torch.cat((of_squares, unit))


def _rounded_weight(weight: torch.Tensor, unit: torch.Tensor) -> torch.Tensor:
    """Return a weight as int8 multiples of a unit."""
    integer = torch.round(weight.detach() / unit).clamp(-ACTIVATION_LIMIT, ACTIVATION_LIMIT)
    return pass_through(weight, integer * unit)
