"""Quantisation of a trained NNUE to the integers of an `nn.bin`, at that format's own scales.

Rows and activations have 127 units to one, weights of hidden layers 64, so a sum has 8128 units and a shift of six bits
gives activations again. The output has 9600 units to one logit (`lite.networks.nnue.OUTPUT_SCALE`), so that YaneuraOu
shows a value of 600 for it. Training keeps the weights within int8: nothing is clipped here, only rounded. Shifts round
down, so half a step is added to the biases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from export.folded import FoldedNetwork
from export.quantise import INT16, INT32, ROUNDING, WEIGHT_LIMIT
from lite.networks.nnue import ACTIVATION_SCALE, OUTPUT_SCALE, WEIGHT_SCALE
from search.evaluation.network import ACTIVATION_LIMIT, EvalNetwork, Layer
from search.evaluation.nnue_file import FV_SCALE, SHIFT
from search.score import CP_PER_LOGIT


def quantise_nnue(
    folded: FoldedNetwork, cp_per_logit: float = CP_PER_LOGIT, provenance: dict[str, Any] | None = None
) -> EvalNetwork:
    """Return the network in integers. Raises ValueError if these would overflow."""
    largest = float(max(folded.largest_sums().max(), np.abs(folded.rows).max(), np.abs(folded.bias).max()))
    if largest * ACTIVATION_SCALE + ROUNDING > INT16:
        raise ValueError(
            f"overflow: a position's sum can reach {largest:.0f}, and int16 sums of {ACTIVATION_SCALE} units to one "
            f"hold {INT16 / ACTIVATION_SCALE:.0f}; train with more weight decay"
        )
    layers = []
    for number, (weight, bias) in enumerate(folded.layers, 1):
        last = number == len(folded.layers)
        unit = OUTPUT_SCALE if last else ACTIVATION_SCALE * WEIGHT_SCALE  # units of the layer's sums
        integer = np.rint(weight * (unit / ACTIVATION_SCALE))
        constant = np.rint(bias * unit) + (0 if last else 1 << SHIFT - 1)
        if np.abs(integer).max() > WEIGHT_LIMIT:
            raise ValueError(f"overflow: a weight of layer {number} is {np.abs(weight).max():.3f}, too large for int8")
        worst = float((np.abs(integer).sum(1) * ACTIVATION_LIMIT + np.abs(constant)).max())
        if worst > INT32:
            raise ValueError(f"overflow: the sums of layer {number} can reach {worst:.0f}, which int32 does not hold")
        layers.append(Layer(integer.astype(np.int8), constant.astype(np.int32), 0 if last else SHIFT))
    return EvalNetwork(
        folded.feature_set,
        np.rint(folded.rows * ACTIVATION_SCALE).astype(np.int16),
        np.rint(folded.bias * ACTIVATION_SCALE).astype(np.int16),
        tuple(layers),
        folded.perspectives,
        output_divisor=FV_SCALE,
        logit_per_output=FV_SCALE / OUTPUT_SCALE,
        cp_per_logit=float(cp_per_logit),
        provenance=provenance or {},
    )
