"""From the folded float64 network to the integers that the search evaluates, and what that costs.

Rows become int16 at 256 to one (or the largest power of two at which no position's sum can leave int16), activations u8
with 127 for some 4 to 16 float units, weights int8 with a scale of their own for each layer. The scales are tied: an
input unit u and weights of unit w make sums of unit u*w, and a shift of s bits then makes activations of unit u*w*2^s.
Each layer takes the smallest w that its largest weight allows and its activations' range asks for. Shifts round down,
so half a step is put into the biases. The logit's unit is the last u*w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from export.folded import FoldedNetwork
from export.positions import Sample
from lite.metrics import log_losses
from search.network import ACTIVATION_LIMIT, LANES, MAX_LAYER, MAX_LAYERS, EvalNetwork, Layer
from search.score import CP_PER_LOGIT
from search.static_evaluation import evaluate_batch

ROW_SCALE = 256
MIN_ROW_SCALE = 16
INT16, INT32 = (1 << 15) - 1, (1 << 31) - 1
WEIGHT_LIMIT = 127
INPUT_SHIFTS = range(7)
"""Tried in turn: 127 stands for 0.5 to 32 float units at a row scale of 256."""
RANGE_QUANTILE = 0.9999
"""Hidden activations beyond this quantile are cut off at 127."""
SHIFT_LIMIT = 20


def row_scale(folded: FoldedNetwork, wanted: int = ROW_SCALE) -> tuple[int, float]:
    """The largest power of two up to `wanted` at which every row and every position's sum fits int16, and the bound of
    the sums in float units. Raises ValueError in words if even MIN_ROW_SCALE is too much."""
    bound = max(float(folded.largest_sums().max()), float(np.abs(folded.rows).max()))
    scale = wanted
    # A rounded row is off by half a unit, and forty of them and a bias and half a shift are added up.
    while scale >= MIN_ROW_SCALE and bound * scale + 64 > INT16:
        scale //= 2
    if scale < MIN_ROW_SCALE:
        raise ValueError(
            f"overflow: a position's sum can reach {bound:.0f}, and int16 rows at {MIN_ROW_SCALE} to one hold "
            f"{INT16 / MIN_ROW_SCALE:.0f}; train with weight decay or clip the first layer"
        )
    return scale, bound


def _quantise_layer(
    weight: np.ndarray, bias: np.ndarray, input_unit: float, limit: float | None, number: int
) -> tuple[Layer, float]:
    """A layer in integers, the unit of its outputs. `limit`: the float value of activation 127, None at the output."""
    largest = float(np.abs(weight).max()) or 1.0
    weight_unit, shift = largest / WEIGHT_LIMIT, 0
    if limit is not None:
        unit = limit / ACTIVATION_LIMIT
        shift = max(0, min(SHIFT_LIMIT, math.floor(math.log2(unit / (input_unit * weight_unit)))))
        weight_unit = max(unit / (input_unit * (1 << shift)), weight_unit)
    sum_unit = input_unit * weight_unit
    integer = np.rint(weight / weight_unit).astype(np.int64)
    constant = np.rint(bias / sum_unit) + ((1 << shift) >> 1)
    worst = np.abs(integer).sum(1) * ACTIVATION_LIMIT + np.abs(constant)
    if worst.max() > INT32:
        raise ValueError(f"overflow: the sums of layer {number} can reach {worst.max():.0f}, which int32 does not hold")
    return Layer(integer.astype(np.int8), constant.astype(np.int32), shift), sum_unit * (1 << shift)


def _with_lanes(folded: FoldedNetwork) -> FoldedNetwork:
    """The same network with lanes of zeros up to a multiple of 32, and weights of zero for them."""
    width = folded.rows.shape[1]
    extra = -width % LANES
    weight, bias = folded.layers[0]
    views = weight.reshape(len(weight), folded.perspectives, width)
    padded = np.pad(views, ((0, 0), (0, 0), (0, extra))).reshape(len(weight), -1)
    rows, first_bias = np.pad(folded.rows, ((0, 0), (0, extra))), np.pad(folded.bias, (0, extra))
    layers = ((padded, bias), *folded.layers[1:])
    return FoldedNetwork(folded.feature_set, rows, first_bias, layers, folded.perspectives)


def _quantise_at(folded: FoldedNetwork, scale: int, input_shift: int, limits: list[float], **rest: Any) -> EvalNetwork:
    rows = np.rint(folded.rows * scale).astype(np.int16)
    # Half a step only where something is shifted away, and not in the lanes of zeros: an activation there costs nothing
    # either way, as its weights are zero.
    bias = (np.rint(folded.bias * scale) + ((1 << input_shift) >> 1)).astype(np.int16)
    unit = (1 << input_shift) / scale
    layers = []
    for number, (weight, constant) in enumerate(folded.layers, 1):
        limit = limits[number - 1] if number < len(folded.layers) else None
        layer, unit = _quantise_layer(weight, constant, unit, limit, number)
        layers.append(layer)
    outputs = ("value", "draw")[: len(folded.layers[-1][1])]
    return EvalNetwork(
        folded.feature_set,
        rows,
        bias,
        tuple(layers),
        folded.perspectives,
        input_shift,
        outputs,
        logit_per_output=unit,
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


def measure_cost(folded: FoldedNetwork, net: EvalNetwork, sample: Sample, exact: np.ndarray | None = None) -> Cost:
    """Compare the two on a sample; `exact` are the folded network's logits if they are at hand."""
    exact = folded.logits(sample) if exact is None else exact
    found = quantised_logits(net, sample)
    accuracy = log_loss = None
    if sample.result is not None:
        won = sample.result[sample.result != 0.5] > 0.5
        decided = sample.result != 0.5
        if len(won):
            accuracy = float(((found[decided] >= 0) == won).mean() - ((exact[decided] >= 0) == won).mean())
        log_loss = float(log_losses(found, sample.result).mean() - log_losses(exact, sample.result).mean())
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
    wanted_scale: int = ROW_SCALE,
) -> EvalNetwork:
    """The network in integers: of all input shifts the one with the least error on the sample.

    Raises ValueError in words where the integers would overflow or the search cannot evaluate the dimensions.
    """
    if not 1 <= len(folded.layers) <= MAX_LAYERS:
        raise ValueError(f"{len(folded.layers)} layers after the rows: the search evaluates 1 to {MAX_LAYERS}")
    widest = max(len(bias) for _, bias in folded.layers)
    if widest > MAX_LAYER:
        raise ValueError(f"a layer of {widest} outputs: the search evaluates up to {MAX_LAYER}")
    scale, _ = row_scale(folded, wanted_scale)
    *hidden, outputs = folded.activations(sample)
    exact = outputs[:, 0]
    limits = [max(float(np.quantile(inputs.max(1), RANGE_QUANTILE)), 1e-3) for inputs in hidden[1:]]
    padded = _with_lanes(folded)
    best: tuple[float, EvalNetwork] | None = None
    for shift in INPUT_SHIFTS:
        net = _quantise_at(padded, scale, shift, limits, cp_per_logit=float(cp_per_logit), provenance=provenance or {})
        error = float(((quantised_logits(net, sample) - exact) ** 2).mean())
        if best is None or error < best[0]:
            best = error, net
    assert best is not None
    return best[1]
