"""The loss of a value network, a function of its logits and the targets."""

from __future__ import annotations

import torch
from torch.nn import functional

from lite.training.win_rate_model import WinRateModel


def value_loss(
    logits: torch.Tensor, target: torch.Tensor, exponent: float | None = None, model: WinRateModel | None = None
) -> torch.Tensor:
    """Return the loss (B,) of each logit (B,) against a target win rate 0..1 (B,).

    Without `exponent`: the binary cross-entropy. With one: |win rate - target| ** exponent, as nnue-pytorch's
    `pow_exp` (2.5 there). Unlike the cross-entropy it weighs small errors less, and its gradient does not grow with the
    confidence of a wrong prediction. The win rate is sigmoid(logit), or that of a model.
    """
    if model is not None:
        rate = model.of_logits(logits)
        if exponent is None:
            unknown = rate.isnan()  # PyTorch raises an error for such a rate, which ends all work on a GPU
            losses = functional.binary_cross_entropy(rate.masked_fill(unknown, 0.5), target, reduction="none")
            return losses.masked_fill(unknown, float("nan"))
        return (rate - target).abs() ** exponent
    if exponent is None:
        return functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (torch.sigmoid(logits) - target).abs() ** exponent
