"""Scale and offset of a network's output, fitted to the results of games.

A network's logit is the chance of a win that it was trained for. Where it learnt from scores of another scale, or where
quantisation moved it, `slope * logit + offset` predicts results better. The slope becomes part of the scale of the
output, and so of the FV_SCALE that an nn.bin is exported with; the offset becomes part of the output's bias. A draw
output shares the scale and is no part of the fit: its integers are divided by the slope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from export.positions import Sample
from export.quantise import WEIGHT_LIMIT, quantised_logits
from lite.training.metrics import log_losses
from lite.training.targets import sigmoid
from search.evaluation.network import EvalNetwork

SLOPES = (0.2, 5.0)
"""Range of plausible slopes."""


@dataclass(frozen=True)
class OutputFit:
    """Scale and offset of the output that predict the results best."""

    slope: float
    """Factor on the logit."""
    offset: float
    """Added to the logit after the factor."""
    log_loss_change: float
    """Change of the log loss on the sample that it was fitted to, in nats per position."""


def fit_output(net: EvalNetwork, sample: Sample) -> tuple[EvalNetwork, OutputFit]:
    """Return the network with a fitted output, and the fit. Raises ValueError without results, or if no scale fits."""
    known = np.zeros(0, np.bool_) if sample.result is None else ~np.isnan(sample.result)
    if not known.any():
        raise ValueError("no position has a result to fit the output to")
    assert sample.result is not None
    logits, result = quantised_logits(net, sample)[known], sample.result[known].astype(np.float64)
    slope, offset = _regression(logits, result)
    before, after = (float(log_losses(said, result).mean()) for said in (logits, slope * logits + offset))
    output, kinds = net.layers[-1], len(net.outputs)
    raw = round(offset / slope * net.output_divisor / net.logit_per_output)
    weight, bias = output.weight.copy(), output.bias.copy()
    bias[..., ::kinds] += np.int32(raw)  # the value of every bucket
    if kinds == 2:
        draws = np.rint(weight[..., 1::2, :] / slope)
        if np.abs(draws).max() > WEIGHT_LIMIT:
            raise ValueError(
                f"the weights of the draw output do not fit into int8 at the value's fitted slope {slope:.3g}"
            )
        weight[..., 1::2, :], bias[..., 1::2] = draws, np.rint(bias[..., 1::2] / slope)
    fitted = replace(
        net,
        layers=(*net.layers[:-1], replace(output, weight=weight, bias=bias)),
        logit_per_output=net.logit_per_output * slope,
    )
    return fitted, OutputFit(slope, offset, after - before)


def _regression(logits: np.ndarray, result: np.ndarray) -> tuple[float, float]:
    """Return slope and offset of the logistic regression of results 0..1 on logits, by Newton's method."""
    x = np.stack((logits, np.ones_like(logits)), 1)
    found = np.array([1.0, 0.0])
    for _ in range(50):
        rate = sigmoid(x @ found)
        curvature = (x * (rate * (1 - rate))[:, None]).T @ x + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, x.T @ (result - rate))
        found = found + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    slope, offset = found.tolist()
    if not SLOPES[0] <= slope <= SLOPES[1]:
        raise ValueError(f"the results do not follow the network's values: a factor of {slope:.3g} on them fits best")
    return slope, offset
