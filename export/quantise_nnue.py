"""Quantisation of a trained NNUE to the integers of an `nn.bin`, at that format's own scales.

Rows and activations have 127 units to one, weights of hidden layers 64, so a sum has 8128 units and a shift of six bits
gives activations again. The output has 9600 units to one logit (`lite.networks.units.OUTPUT_SCALE`), so that YaneuraOu
shows a value of 600 for it; the row of a shortcut is added to it, and so has its units. Training keeps the weights
within int8: nothing is clipped here, only rounded. Shifts round down, so half a step is added to the biases.

A product of two halves of an SFNN's sums, `a * b >> 7`, is 127 / 128 of what its factors stand for, which the weights
that read it make up for, and it is rounded down as well: half a step of the share of products that are not 0 is added
to the next layer's biases, as `export.quantise` does. What mean error remains on a sample is taken from the output.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from export.folded import FoldedNetwork
from export.positions import Sample
from export.quantise import ACTIVATION_NAMES, INT32, ROUNDING, WEIGHT_LIMIT, quantised_logits
from lite.networks.units import ACTIVATION_SCALE, OUTPUT_SCALE, SQUARE_GAIN, WEIGHT_SCALE
from search.evaluation.network import ACTIVATION_LIMIT, EvalNetwork, Layer
from search.evaluation.nnue_file import FV_SCALE, SHIFT
from search.score import CP_PER_LOGIT

SFNN_SUM_BITS = 15
"""Bits at which sums of an SFNN wrap: YaneuraOu doubles them within int16."""
COUNTED = 5_000
"""Positions on which products that are not 0 are counted."""
CENTRED = 100
"""Least positions of a stack whose mean error counts."""


def quantise_nnue(
    folded: FoldedNetwork,
    cp_per_logit: float = CP_PER_LOGIT,
    provenance: dict[str, Any] | None = None,
    sample: Sample | None = None,
) -> EvalNetwork:
    """Return the network in integers. Raises ValueError if these would overflow.

    sample: positions on which the share of products that are not 0 is counted, and whose mean error is taken from the
    output's biases. Without it all products count.
    """
    pairwise = folded.activates.pairwise
    sum_bits = SFNN_SUM_BITS if pairwise else 16
    largest = float(max(folded.largest_sums().max(), np.abs(folded.rows).max(), np.abs(folded.bias).max()))
    most = (1 << sum_bits - 1) - 1
    if largest * ACTIVATION_SCALE + ROUNDING > most:
        raise ValueError(
            f"overflow: a position's sum can reach {largest:.0f}, and sums of {sum_bits} bits at {ACTIVATION_SCALE} "
            f"units to one hold {most / ACTIVATION_SCALE:.0f}; train with more weight decay"
        )
    layers = []
    for number, (weight, bias) in enumerate(folded.layers, 1):
        last = number == len(folded.layers)
        units = np.full(bias.shape[-1], OUTPUT_SCALE if last else ACTIVATION_SCALE * WEIGHT_SCALE)  # of the sums
        half_step = np.full(bias.shape[-1], 0 if last else 1 << SHIFT - 1)
        if number == 1 and folded.shortcut:
            units[-1], half_step[-1] = OUTPUT_SCALE, 0
        per_input = units / (ACTIVATION_SCALE * SQUARE_GAIN if number == 1 and pairwise else ACTIVATION_SCALE)
        integer = np.rint(weight * per_input[:, None])
        constant = bias * units + half_step
        if number == 1 and pairwise:
            constant = constant + integer @ (0.5 * _products_above_0(folded, sample))
        constant = np.rint(constant)
        if np.abs(integer).max() > WEIGHT_LIMIT:
            raise ValueError(
                f"overflow: a weight of layer {number} is {np.abs(weight).max():.3f}, too large for int8; "
                "train with more weight decay"
            )
        worst = float((np.abs(integer).sum(-1) * ACTIVATION_LIMIT + np.abs(constant)).max())
        if worst > INT32:
            raise ValueError(f"overflow: the sums of layer {number} can reach {worst:.0f}, which int32 does not hold")
        layers.append(Layer(integer.astype(np.int8), constant.astype(np.int32), 0 if last else SHIFT))
    net = EvalNetwork(
        folded.feature_set,
        np.rint(folded.rows * ACTIVATION_SCALE).astype(np.int16),
        np.rint(folded.bias * ACTIVATION_SCALE).astype(np.int16),
        tuple(layers),
        folded.perspectives,
        activation=ACTIVATION_NAMES[folded.activation],
        output_divisor=FV_SCALE,
        logit_per_output=FV_SCALE / OUTPUT_SCALE,
        cp_per_logit=float(cp_per_logit),
        provenance=provenance or {},
        sum_bits=sum_bits,
        hidden_squares=folded.hidden_squares,
        shortcut=folded.shortcut,
        stacks=folded.stacks,
    )
    return net if sample is None else _without_mean_error(net, folded, sample)


def _without_mean_error(net: EvalNetwork, folded: FoldedNetwork, sample: Sample) -> EvalNetwork:
    """Return the network with the mean error of each stack on the sample taken from the output's bias.

    Stacks that fewer than CENTRED positions choose stay as they are.
    """
    error = quantised_logits(net, sample) - folded.logits(sample)
    stack = folded.stacks.index(sample.pieces, sample.hands)
    count = np.bincount(stack, minlength=folded.stacks.count)
    mean = np.bincount(stack, error, folded.stacks.count) / np.maximum(count, 1)
    taken = np.rint(np.where(count >= CENTRED, mean, 0) * OUTPUT_SCALE).astype(np.int32)
    *hidden, last = net.layers
    output = replace(last, bias=last.bias - (taken[:, None] if folded.stacks.count > 1 else taken))
    return replace(net, layers=(*hidden, output))


def _products_above_0(folded: FoldedNetwork, sample: Sample | None) -> np.ndarray:
    """Return the share of positions at which each of the first layer's inputs is above 0, f8 [in]."""
    if sample is None:
        return np.ones(folded.layers[0][0].shape[-1])
    return np.asarray((folded.activations(sample.part(0, COUNTED))[0] > 0).mean(0))
