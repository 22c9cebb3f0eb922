"""What a value network is punished for: a function of its logits and of the targets alone."""

from __future__ import annotations

import torch
from torch.nn import functional


def value_loss(logits: torch.Tensor, target: torch.Tensor, exponent: float | None = None) -> torch.Tensor:
    """The loss (B,) of each logit (B,) against its win rate 0..1 (B,).

    Without `exponent` the binary cross-entropy; with one |sigmoid(logit) - target| ** exponent, as nnue-pytorch's
    `pow_exp` (2.5 there): unlike the cross-entropy it leaves small errors alone and does not pull harder the more
    certain a wrong network is.
    """
    if exponent is None:
        return functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    return (torch.sigmoid(logits) - target).abs() ** exponent
