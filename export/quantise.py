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


def _quantise_layer(
    weight: np.ndarray,
    bias: np.ndarray,
    units: np.ndarray,
    ranges: np.ndarray | None,
    extra_shift: int,
    number: int,
    limit: float,
) -> tuple[Layer, np.ndarray]:
    """Return a layer in integers, and the units of its outputs.

    units: units of the inputs. ranges: ranges of the activations; None at the output layer, whose rows share one unit.
    limit: largest float value of activation 127.
    """
    weight = weight * units
    largest = np.abs(weight).max(1)
    largest = np.maximum(largest, max(float(largest.max()), 1e-9) / 1024)
    shift = 0
    if ranges is None:
        sum_units = np.full(len(bias), largest.max() / WEIGHT_LIMIT)
    else:
        wanted = ranges / ACTIVATION_LIMIT
        alive = ranges > ranges.max() / 32  # dead neurons are ignored
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
    """Return the network with lanes of zeros up to a multiple of 32, and weights of zero for them."""
    width = folded.rows.shape[1]
    extra = -width % LANES
    weight, bias = folded.layers[0]
    parts = weight.reshape(len(weight), -1, width)
    padded = np.pad(parts, ((0, 0), (0, 0), (0, extra))).reshape(len(weight), -1)
    rows, first_bias = np.pad(folded.rows, ((0, 0), (0, extra))), np.pad(folded.bias, (0, extra))
    layers = ((padded, bias), *folded.layers[1:])
    return replace(folded, rows=rows, bias=first_bias, layers=layers)


def _clipped_lanes(folded: FoldedNetwork, inputs: np.ndarray) -> np.ndarray:
    """Return the clipped sums f8 (B, perspectives * N) from a first layer's inputs."""
    if not folded.activates.clipped:
        return np.sqrt(inputs)
    parts = inputs.reshape(len(inputs), folded.perspectives, folded.activates.parts, -1)
    return parts[:, :, 0].reshape(len(inputs), -1)


def _quantise_at(
    folded: FoldedNetwork, scales: np.ndarray, input_shift: int, extra_shift: int, ranges: list[np.ndarray], **rest: Any
) -> EvalNetwork:
    """Return the integers at given scales of the lanes [N], ranges of the hidden layers, and shifts."""
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
    outputs = evaluate_batch(net, sample.pieces, sample.hands, sample.in_check)[:, 0]
    return np.trunc(outputs / net.output_divisor) * net.logit_per_output


def measure_cost(folded: FoldedNetwork, net: EvalNetwork, sample: Sample) -> Cost:
    """Return the cost of quantisation on a sample."""
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
    """Return the network in integers, with the shifts that have the least error of the win rate on the sample.

    Raises ValueError if the integers would overflow or the search cannot evaluate the dimensions.
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
    # With limited activations rows must be at least as fine as activations.
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
