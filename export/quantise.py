"""From the folded float64 network to the integers that the search evaluates, and what that costs.

A ReLU does not mind the unit that its input is counted in, so every lane of the rows and every hidden neuron gets a
unit of its own, such that its activations fill 0..127, and the weights that read it are multiplied by that unit. In a
layer whose inputs have units u, weights w*u are divided by a unit v for each neuron (so that they fill int8); its sums
then have unit v and its activations, after a shift of s bits, v*2^s. The last v is the logit's unit. int16 rows bound a
lane's unit from below: no position's sum may leave int16. Shifts round down, so half a step is put into the biases. The
shifts themselves are tried out: of all combinations the one whose win rates are nearest on a sample is kept.

An activation that training cuts at 1 does mind: for a lane 127 stands for 1 then, or for less where the sample stays
below; for a hidden neuron too, and for 1 at the most. The shift is the whole layer's, so a neuron with a few weights
that int8 does not hold in that unit has them cut off: a shift that holds every weight rounds all others coarsely. The
square of a lane with unit u has the unit 128 u^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from export.folded import FoldedNetwork
from export.positions import Sample
from lite.training.metrics import log_losses
from lite.training.targets import sigmoid
from search.evaluation.network import (
    ACTIVATION_LIMIT,
    CLIPPED,
    DUAL,
    LANES,
    MAX_LAYER,
    MAX_LAYERS,
    SQUARE_SHIFT,
    SQUARED,
    EvalNetwork,
    Layer,
)
from search.evaluation.static_evaluation import evaluate_batch
from search.score import CP_PER_LOGIT

ACTIVATION_NAMES = {"relu": CLIPPED, "clipped": CLIPPED, "squared": SQUARED, "dual": DUAL}
"""What the search calls the activations of training."""
MIN_ROW_SCALE = 16
MAX_ROW_SCALE = 2048
INT16, INT32 = (1 << 15) - 1, (1 << 31) - 1
ROUNDING = 85
"""Integers by which the rounding of forty rows and a bias, half of one each, and half of the widest shift can exceed
the bound of a sum."""
WEIGHT_LIMIT = 127
INPUT_SHIFTS = range(2, 8)
CUT_INPUT_SHIFTS = range(6)
"""Where training cuts activations: 127 stands for 1 then, and int16 holds no more than a few hundred times that."""
EXTRA_SHIFTS = range(-2, 2)
"""Steps tried around the shift that lets half of a layer's live neurons fill both int8 and 0..127."""
RANGE_QUANTILE = 0.9999
"""Activations beyond this quantile of the sample are cut off at 127; 0.999 makes finer steps and larger errors."""
UNSEEN_MARGIN = 1.5
"""Random games do not show how far activations go: their ranges are widened by this."""
SHIFT_LIMIT = 20


def largest_scales(folded: FoldedNetwork) -> tuple[np.ndarray, float]:
    """The largest scale of each lane's int16 rows, f8 [N], and the bound of all lanes' sums in float units.

    Raises ValueError in words if a position's sum, or a row, could leave int16 even at MIN_ROW_SCALE to one.
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
    """Float value that activation 127 should stand for, of each column; dead ones take a share of the liveliest."""
    quantiles = np.quantile(inputs, RANGE_QUANTILE, axis=0) * margin
    return np.maximum(quantiles, max(float(quantiles.max()) / 64, 1e-6))


def _quantise_layer(
    weight: np.ndarray,
    bias: np.ndarray,
    units: np.ndarray,
    ranges: np.ndarray | None,
    extra_shift: int,
    number: int,
    limit: float,
) -> tuple[Layer, np.ndarray]:
    """A layer in integers, and the units of its outputs. units: of the inputs; ranges: of the outputs' activations,
    None at the output layer, whose rows share one unit; limit: what 127 may stand for at the most."""
    weight = weight * units
    largest = np.abs(weight).max(1)
    largest = np.maximum(largest, max(float(largest.max()), 1e-9) / 1024)
    shift = 0
    if ranges is None:
        sum_units = np.full(len(bias), largest.max() / WEIGHT_LIMIT)
    else:
        wanted = ranges / ACTIVATION_LIMIT
        alive = ranges > ranges.max() / 32  # what never speaks has no say
        shift = int(np.floor(np.median(np.log2(wanted / (largest / WEIGHT_LIMIT))[alive]))) + extra_shift
        shift = max(0, min(SHIFT_LIMIT, shift))
        sum_units = np.maximum(wanted / (1 << shift), largest / WEIGHT_LIMIT)
        sum_units = np.minimum(sum_units, limit / ACTIVATION_LIMIT / (1 << shift))
    integer = np.clip(np.rint(weight / sum_units[:, None]), -WEIGHT_LIMIT, WEIGHT_LIMIT)
    constant = np.rint(bias / sum_units) + ((1 << shift) >> 1)
    worst = float((np.abs(integer).sum(1) * ACTIVATION_LIMIT + np.abs(constant)).max())
    if worst > INT32:
        raise ValueError(f"overflow: the sums of layer {number} can reach {worst:.0f}, which int32 does not hold")
    return Layer(integer.astype(np.int8), constant.astype(np.int32), shift), sum_units * (1 << shift)


def _with_lanes(folded: FoldedNetwork) -> FoldedNetwork:
    """The same network with lanes of zeros up to a multiple of 32, and weights of zero for them."""
    width = folded.rows.shape[1]
    extra = -width % LANES
    weight, bias = folded.layers[0]
    parts = weight.reshape(len(weight), -1, width)
    padded = np.pad(parts, ((0, 0), (0, 0), (0, extra))).reshape(len(weight), -1)
    rows, first_bias = np.pad(folded.rows, ((0, 0), (0, extra))), np.pad(folded.bias, (0, extra))
    layers = ((padded, bias), *folded.layers[1:])
    return replace(folded, rows=rows, bias=first_bias, layers=layers)


def _clipped_lanes(folded: FoldedNetwork, inputs: np.ndarray) -> np.ndarray:
    """The clipped sums f8 (B, perspectives * N) behind a first layer's inputs."""
    if not folded.activates.clipped:
        return np.sqrt(inputs)
    parts = inputs.reshape(len(inputs), folded.perspectives, folded.activates.parts, -1)
    return parts[:, :, 0].reshape(len(inputs), -1)


def _quantise_at(
    folded: FoldedNetwork, scales: np.ndarray, input_shift: int, extra_shift: int, ranges: list[np.ndarray], **rest: Any
) -> EvalNetwork:
    """Integers at given scales of the lanes [N], ranges of the hidden layers and shifts."""
    rows = np.rint(folded.rows * scales).astype(np.int16)
    bias = (np.rint(folded.bias * scales) + ((1 << input_shift) >> 1)).astype(np.int16)
    activates, unit = folded.activates, (1 << input_shift) / scales
    of_view = [unit] * activates.clipped + [unit**2 * (1 << SQUARE_SHIFT)] * activates.squared
    units = np.tile(np.concatenate(of_view), folded.perspectives)
    layers = []
    for number, (weight, constant) in enumerate(folded.layers, 1):
        hidden = ranges[number - 1] if number < len(folded.layers) else None
        layer, units = _quantise_layer(weight, constant, units, hidden, extra_shift, number, folded.limit)
        layers.append(layer)
    return EvalNetwork(
        folded.feature_set,
        rows,
        bias,
        tuple(layers),
        folded.perspectives,
        input_shift,
        ("value", "draw")[: len(folded.layers[-1][1]) // folded.buckets],
        ACTIVATION_NAMES[folded.activation],
        logit_per_output=float(units[0]),
        buckets=folded.buckets,
        **rest,
    )


@dataclass(frozen=True)
class Cost:
    """What quantisation changed on a sample, quantised less float64. None where the sample has no results."""

    positions: int
    sign_flips: float
    """Share of positions whose predicted winner changed."""
    largest_error: float
    """Of the logit."""
    mean_error: float
    """Root of the mean square."""
    accuracy_change: float | None
    """Share of decided positions, draws left out."""
    log_loss_change: float | None


def quantised_logits(net: EvalNetwork, sample: Sample) -> np.ndarray:
    """Logits f8 (B,) as the search sees them."""
    outputs = evaluate_batch(net, sample.pieces, sample.hands, sample.in_check)[:, 0]
    return np.trunc(outputs / net.output_divisor) * net.logit_per_output


def measure_cost(folded: FoldedNetwork, net: EvalNetwork, sample: Sample) -> Cost:
    """Compare the two on a sample."""
    exact, found = folded.logits(sample), quantised_logits(net, sample)
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
    """The network in integers: of all shifts the ones with the least error of the win rate on the sample.

    Raises ValueError in words where the integers would overflow or the search cannot evaluate the dimensions.
    """
    if not 1 <= len(folded.layers) <= MAX_LAYERS:
        raise ValueError(f"{len(folded.layers)} layers after the rows: the search evaluates 1 to {MAX_LAYERS}")
    widest = max(len(bias) for _, bias in folded.layers)
    if widest > MAX_LAYER:
        raise ValueError(f"a layer of {widest} outputs: the search evaluates up to {MAX_LAYER}")
    folded = _with_lanes(folded)
    largest, _ = largest_scales(folded)
    *hidden, outputs = folded.activations(sample)
    rate = sigmoid(outputs[:, 0])
    margin = 1.0 if sample.result is not None else UNSEEN_MARGIN
    rest = {"cp_per_logit": float(cp_per_logit), "provenance": provenance or {}}
    hidden[0] = _clipped_lanes(folded, hidden[0])
    first, *ranges = (np.minimum(_ranges(inputs, margin), folded.limit) for inputs in hidden)
    lane_range = first.reshape(folded.perspectives, -1).max(0)
    best: tuple[float, EvalNetwork] | None = None
    # What is cut at a limit needs rows as fine at least as its activations.
    cut = [shift for shift in CUT_INPUT_SHIFTS if (ACTIVATION_LIMIT << shift) / folded.limit <= largest.min()]
    shifts = INPUT_SHIFTS if folded.limit == np.inf else cut
    for input_shift, extra_shift in product(shifts, EXTRA_SHIFTS if ranges else (0,)):
        scales = np.minimum(largest, (ACTIVATION_LIMIT << input_shift) / lane_range)
        net = _quantise_at(folded, scales, input_shift, extra_shift, ranges, **rest)
        error = float(((sigmoid(quantised_logits(net, sample)) - rate) ** 2).mean())
        if best is None or error < best[0]:
            best = error, net
    if best is None:
        raise ValueError(
            f"overflow: int16 rows hold a position's largest sum at {largest.min():.0f} to one, and an activation that "
            f"is cut at 1 needs {ACTIVATION_LIMIT}; train with weight decay, or with the activation relu"
        )
    return best[1]
