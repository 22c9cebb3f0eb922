"""Quantisation of a folded float64 network to the integers that the search evaluates, and its cost.

A ReLU commutes with the unit of its input, so every lane of the rows and every hidden neuron gets its own unit, such
that its activations fill 0..127, and the weights that read it are multiplied by that unit. In a
layer whose inputs have units u, weights w*u are divided by a unit v for each neuron (so that they fill int8); its sums
then have unit v and its activations, after a shift of s bits, v*2^s. The last v is the logit's unit. int16 rows bound a
lane's unit from below: no position's sum may leave int16. Shifts round down, so half a step is added to the biases. The
shifts are found by trial: the combination whose win rates are closest on a sample is kept.

An activation that training limits to 1 does not commute: 127 then stands for 1, or for less where the sample stays
below, in lanes and in hidden neurons. The shift is that of the whole layer, so a neuron with a few weights that int8
does not hold in its unit has them clipped: a shift that holds every weight would round all others coarsely. The
square of a lane with unit u has the unit 128 u^2, the product of two lanes 128 u v. Products, and squares of hidden
sums, round down without half a step; half a step of their mean is added to the next layer's biases instead.

The sum of a shortcut is added to the value, so it has the value's unit. Stacks have a unit for each of their neurons,
and the shifts and the value's unit in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from export.folded import FoldedNetwork
from export.positions import Sample
from lite.networks.units import SQUARE_GAIN
from lite.training.metrics import log_losses
from lite.training.targets import sigmoid
from search.evaluation.network import (
    ACTIVATION_LIMIT,
    CLIPPED,
    DUAL,
    LANES,
    MAX_LAYER,
    MAX_LAYERS,
    MAX_SQUARED_SHIFT,
    PAIRWISE,
    SQUARE_SHIFT,
    SQUARED,
    EvalNetwork,
    Layer,
)
from search.evaluation.static_evaluation import static_logits
from search.score import CP_PER_LOGIT

ACTIVATION_NAMES = {"relu": CLIPPED, "clipped": CLIPPED, "squared": SQUARED, "dual": DUAL, "pairwise": PAIRWISE}
"""The search's numbers of the activations, by their names in training."""
MIN_ROW_SCALE = 16
MAX_ROW_SCALE = 2048
INT16, INT32 = (1 << 15) - 1, (1 << 31) - 1
ROUNDING = 85
"""Most integers by which rounding can exceed the bound of a sum: half of one for each of 40 rows and the bias, and half
of the widest shift."""
WEIGHT_LIMIT = 127
INPUT_SHIFTS = range(2, 8)
CUT_INPUT_SHIFTS = range(6)
"""Input shifts where training limits activations: 127 stands for 1 then, and int16 holds a few hundred times that."""
EXTRA_SHIFTS = range(-2, 2)
"""Steps tried around the shift at which half of a layer's live neurons fill both int8 and 0..127."""
RANGE_QUANTILE = 0.9999
"""Quantile of the sample beyond which activations are clipped to 127; 0.999 has finer steps and larger errors."""
UNSEEN_MARGIN = 1.5
"""Factor on the ranges of random games, which do not show the largest activations."""
SHIFT_LIMIT = 20


def largest_scales(folded: FoldedNetwork) -> tuple[np.ndarray, float]:
    """Return the largest scale of each lane's int16 rows, f8 [N], and the bound of all lanes' sums in float units.

    Raises ValueError if a position's sum, or a row, could leave int16 even at MIN_ROW_SCALE to one.
    """
    bound = np.maximum(folded.largest_sums(), np.abs(folded.rows).max(0))
    bound = np.maximum(bound, np.abs(folded.bias))
    largest = float(bound.max())
    if largest * MIN_ROW_SCALE + ROUNDING > INT16:
        raise ValueError(
            f"overflow: a position's sum can reach {largest:.0f}, and int16 rows at {MIN_ROW_SCALE} to one hold "
            f"{INT16 / MIN_ROW_SCALE:.0f}; train with weight decay or clip the first layer"
        )
    return np.minimum((INT16 - ROUNDING) / np.maximum(bound, 1e-9), MAX_ROW_SCALE), largest


def _ranges(inputs: np.ndarray, margin: float) -> np.ndarray:
    """Return the float value of activation 127 for each column; dead columns get a 64th of the largest value."""
    quantiles = np.quantile(inputs, RANGE_QUANTILE, axis=0) * margin
    return np.maximum(quantiles, max(float(quantiles.max()) / 64, 1e-6))


def _stack_ranges(inputs: np.ndarray, stack: np.ndarray, count: int, margin: float) -> np.ndarray:
    """Return `_ranges` of each stack [count, columns], at least those of all stacks together.

    stack: the stack of each position (B,).
    """
    ranges = np.repeat(_ranges(inputs, margin)[None], count, 0)
    for one in np.unique(stack):
        ranges[one] = np.maximum(ranges[one], np.quantile(inputs[stack == one], RANGE_QUANTILE, axis=0) * margin)
    return ranges


@dataclass(frozen=True, eq=False)
class _Inputs:
    """The inputs of a layer, in integers."""

    units: np.ndarray
    """Units of the inputs, f8 [in], or [stacks, in]."""
    lost: np.ndarray
    """Mean that rounding down takes from each input, in these units; of the same shape."""


def _quantise_layer(
    weight: np.ndarray,
    bias: np.ndarray,
    inputs: _Inputs,
    ranges: np.ndarray | None,
    extra_shift: int,
    number: int,
    limit: float,
    least_unit: float = 0.0,
    half_step: bool = True,
) -> tuple[Layer, np.ndarray]:
    """Return a layer in integers, and the units of its outputs [out].

    All arrays may have stacks in front. ranges: ranges of the activations; None at the output layer, whose rows share
    one unit, not below `least_unit`. limit: largest float value of activation 127. half_step: whether half a step of
    the shift is added to the biases.
    """
    weight = weight * inputs.units[..., None, :]
    largest = np.abs(weight).max(-1)
    largest = np.maximum(largest, max(float(largest.max()), 1e-9) / 1024)
    shift = 0
    if ranges is None:
        sum_units = np.full(bias.shape, max(largest.max() / WEIGHT_LIMIT, least_unit))
    else:
        wanted = ranges / ACTIVATION_LIMIT
        alive = ranges > ranges.max() / 32  # dead neurons are ignored
        shift = int(np.floor(np.median(np.log2(wanted / (largest / WEIGHT_LIMIT))[alive]))) + extra_shift
        shift = max(0, min(SHIFT_LIMIT if half_step else MAX_SQUARED_SHIFT, shift))
        sum_units = np.maximum(wanted / (1 << shift), largest / WEIGHT_LIMIT)
        sum_units = np.minimum(sum_units, limit / ACTIVATION_LIMIT / (1 << shift))
    integer = np.clip(np.rint(weight / sum_units[..., None]), -WEIGHT_LIMIT, WEIGHT_LIMIT)
    constant = np.rint(bias / sum_units + (integer * inputs.lost[..., None, :]).sum(-1))
    constant += (1 << shift) >> 1 if half_step else 0
    worst = float((np.abs(integer).sum(-1) * ACTIVATION_LIMIT + np.abs(constant)).max())
    if worst > INT32:
        raise ValueError(f"overflow: the sums of layer {number} can reach {worst:.0f}, which int32 does not hold")
    return Layer(integer.astype(np.int8), constant.astype(np.int32), shift), sum_units * (1 << shift)


def _with_lanes(folded: FoldedNetwork) -> FoldedNetwork:
    """Return the network with lanes of zeros up to a multiple of 32, and weights of zero for them.

    Of an activation by pairs both halves get equally many.
    """
    halves = 2 if folded.activates.pairwise else 1
    width = folded.rows.shape[1]
    block, extra = width // halves, -width % LANES // halves
    weight, bias = folded.layers[0]
    parts = weight.reshape(*weight.shape[:-1], -1, block)
    padded = _pad(parts, extra).reshape(*weight.shape[:-1], -1)
    rows, first_bias = (_pad(part.reshape(-1, halves, block), extra) for part in (folded.rows, folded.bias))
    layers = ((padded, bias), *folded.layers[1:])
    return replace(folded, rows=rows.reshape(len(rows), -1), bias=first_bias.ravel(), layers=layers)


def _pad(array: np.ndarray, extra: int) -> np.ndarray:
    """Return the array with `extra` zeros appended along its last dimension."""
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, extra)])


def _first_inputs(folded: FoldedNetwork, unit: np.ndarray, products: np.ndarray) -> _Inputs:
    """Return the first layer's inputs from the lanes' units [N]; `products`: share of products above 0 [in]."""
    activates = folded.activates
    if activates.pairwise:
        first, second = np.split(unit, 2)
        return _Inputs(np.tile(first * second * (1 << SQUARE_SHIFT), folded.perspectives), 0.5 * products)
    of_view = [unit] * activates.clipped + [unit**2 * (1 << SQUARE_SHIFT)] * activates.squared
    units = np.tile(np.concatenate(of_view), folded.perspectives)
    return _Inputs(units, np.zeros_like(units))


def _quantise_at(
    folded: FoldedNetwork, scales: np.ndarray, input_shift: int, extra_shift: int, seen: _Seen, **rest: Any
) -> EvalNetwork:
    """Return the integers at given scales of the lanes [N], ranges of the hidden layers, and shifts."""
    rows = np.rint(folded.rows * scales).astype(np.int16)
    bias = (np.rint(folded.bias * scales) + ((1 << input_shift) >> 1)).astype(np.int16)
    inputs = _first_inputs(folded, (1 << input_shift) / scales, seen.products)
    hidden_layers, (last_weight, last_bias) = list(folded.layers[:-1]), folded.layers[-1]
    shortcut, least_unit, direct = None, 0.0, inputs
    if folded.shortcut:
        weight, constant = hidden_layers[0]
        hidden_layers[0] = weight[..., :-1, :], constant[..., :-1]
        shortcut = weight[..., -1:, :], constant[..., -1:]
        least_unit = float(np.abs(shortcut[0] * inputs.units).max()) / WEIGHT_LIMIT
    layers = []
    for number, (weight, constant) in enumerate(hidden_layers, 1):
        squares = number == 1 and folded.hidden_squares
        arguments = (seen.ranges[number - 1], extra_shift, number, folded.limit)
        layer, units = _quantise_layer(weight, constant, inputs, *arguments, half_step=not squares)
        layers.append(layer)
        inputs = _Inputs(units, np.zeros_like(units))
        if squares:
            of_squares = SQUARE_GAIN * units**2 * (1 << SQUARE_SHIFT)
            inputs = _Inputs(np.concatenate((of_squares, units), -1), 0.5 * seen.hidden_above)
    number = len(folded.layers)
    output, units = _quantise_layer(last_weight, last_bias, inputs, None, extra_shift, number, folded.limit, least_unit)
    unit = float(units.flat[0])
    if shortcut is not None:
        row, _ = _quantise_layer(*shortcut, direct, None, extra_shift, 1, folded.limit, unit)
        layers[0] = Layer(
            np.concatenate((layers[0].weight, row.weight), -2),
            np.concatenate((layers[0].bias, row.bias), -1),
            layers[0].shift,
        )
    return EvalNetwork(
        folded.feature_set,
        rows,
        bias,
        (*layers, output),
        folded.perspectives,
        input_shift,
        ("value", "draw")[: last_bias.shape[-1] // folded.buckets],
        ACTIVATION_NAMES[folded.activation],
        logit_per_output=unit,
        buckets=folded.buckets,
        hidden_squares=folded.hidden_squares,
        shortcut=folded.shortcut,
        stacks=folded.stacks,
        **rest,
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """Ranges of a network's activations on a sample."""

    lane_range: np.ndarray
    """f8 [N]: float value of activation 127 of each lane."""
    ranges: list[np.ndarray]
    """Ranges of each hidden layer, f8 [out] or [stacks, out]."""
    products: np.ndarray
    """Share of the first layer's inputs that are above 0, f8 [in]."""
    hidden_above: np.ndarray
    """Share of the second layer's inputs that are above 0, f8 [in]."""

    @classmethod
    def of(cls, folded: FoldedNetwork, sample: Sample, margin: float) -> tuple[_Seen, np.ndarray]:
        """Return the ranges on the sample, and the outputs f8 (B, outputs); `margin` is a factor on ranges."""
        clipped = folded.clipped_sums(sample)
        first, *hidden, outputs = folded.activations_of(clipped, sample)
        lanes = np.minimum(_ranges(clipped, margin), folded.limit).reshape(folded.perspectives, -1).max(0)
        above = [(inputs > 0).mean(0) for inputs in (first, *hidden[:1])]
        if folded.hidden_squares:
            # Squares and clipped sums share a unit, and a square shows a sum below 0, too.
            squares, cut = np.split(hidden[0], 2, 1)
            hidden[0] = np.maximum(np.sqrt(squares / SQUARE_GAIN), cut)
        count = folded.stacks.count
        if count == 1:
            ranges = [_ranges(inputs, margin) for inputs in hidden]
        else:
            stack = folded.selected(sample)
            ranges = [_stack_ranges(inputs, stack, count, margin) for inputs in hidden]
        limited = [np.minimum(one, folded.limit) for one in ranges]
        return cls(lanes, limited, above[0], above[-1]), outputs


@dataclass(frozen=True)
class Cost:
    """Cost of quantisation on a sample: quantised minus float64. None where the sample has no results."""

    positions: int
    sign_flips: float
    """Share of positions whose predicted winner changed."""
    largest_error: float
    """Largest error of the logit."""
    mean_error: float
    """Root mean square error of the logit."""
    accuracy_change: float | None
    """Change of the share of decided positions whose winner is predicted."""
    log_loss_change: float | None
    """Change of the log loss, in nats per position."""


def quantised_logits(net: EvalNetwork, sample: Sample) -> np.ndarray:
    """Return the logits f8 (B,) that the search computes."""
    return static_logits(net, sample.pieces, sample.hands, sample.in_check)


def cost_of(exact: np.ndarray, found: np.ndarray, sample: Sample) -> Cost:
    """Return the cost of quantisation from the logits f8 (B,) of a sample, in float64 and in integers."""
    accuracy = log_loss = None
    if sample.result is not None and (known := ~np.isnan(sample.result)).any():
        result, said, meant = sample.result[known], found[known], exact[known]
        decided = result != 0.5
        if decided.any():
            won = result[decided] > 0.5
            accuracy = float(((said[decided] >= 0) == won).mean() - ((meant[decided] >= 0) == won).mean())
        log_loss = float(log_losses(said, result).mean() - log_losses(meant, result).mean())
    error = found - exact
    return Cost(
        len(sample),
        float(((found >= 0) != (exact >= 0)).mean()),
        float(np.abs(error).max()),
        float(np.sqrt((error**2).mean())),
        accuracy,
        log_loss,
    )


def quantise(
    folded: FoldedNetwork,
    sample: Sample,
    cp_per_logit: float = CP_PER_LOGIT,
    provenance: dict[str, Any] | None = None,
) -> EvalNetwork:
    """Return the network in integers, with the shifts that have the least error of the win rate on the sample.

    Raises ValueError if the integers would overflow or the search cannot evaluate the dimensions.
    """
    if not 1 <= len(folded.layers) <= MAX_LAYERS:
        raise ValueError(f"{len(folded.layers)} layers after the rows: the search evaluates 1 to {MAX_LAYERS}")
    widest = max(bias.shape[-1] for _, bias in folded.layers)
    if widest > MAX_LAYER:
        raise ValueError(f"a layer of {widest} outputs: the search evaluates up to {MAX_LAYER}")
    folded = _with_lanes(folded)
    largest, _ = largest_scales(folded)
    margin = 1.0 if sample.result is not None else UNSEEN_MARGIN
    rest = {"cp_per_logit": float(cp_per_logit), "provenance": provenance or {}}
    seen, outputs = _Seen.of(folded, sample, margin)
    rate = sigmoid(outputs[:, 0])
    best: tuple[float, EvalNetwork] | None = None
    # With limited activations rows must be at least as fine as activations.
    cut = [shift for shift in CUT_INPUT_SHIFTS if (ACTIVATION_LIMIT << shift) / folded.limit <= largest.min()]
    shifts = INPUT_SHIFTS if folded.limit == np.inf else cut
    for input_shift, extra_shift in product(shifts, EXTRA_SHIFTS if seen.ranges else (0,)):
        scales = np.minimum(largest, (ACTIVATION_LIMIT << input_shift) / seen.lane_range)
        net = _quantise_at(folded, scales, input_shift, extra_shift, seen, **rest)
        error = float(((sigmoid(quantised_logits(net, sample)) - rate) ** 2).mean())
        if best is None or error < best[0]:
            best = error, net
    if best is None:
        raise ValueError(
            f"overflow: int16 rows hold a position's largest sum at {largest.min():.0f} to one, and an activation that "
            f"is cut at 1 needs {ACTIVATION_LIMIT}; train with weight decay, or with the activation relu"
        )
    return best[1]
