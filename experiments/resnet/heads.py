"""Quality of the heads of a policy-value network besides the value: moves, draws and other rare events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lite.training.metrics import CalibrationBin, log_losses
from lite.training.targets import sigmoid

RARE_HEADS = ("draw", "sennichite", "declaration", "move_limit", "entered")
"""Heads that predict rare events."""
_GROUP_EDGES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99)
"""Quantiles of the predicted rate that bound the groups of a calibration: rates of rare events crowd near zero."""


@dataclass(frozen=True)
class RareHead:
    """Figures of a head that predicts a rare event, beside those of always predicting the base rate."""

    positions: int
    """Number of positions."""
    positives: int
    """Number of positions where the event happened."""
    base_rate: float
    """Share of positions where the event happened."""
    accuracy: float
    """Share of correct predictions with a threshold of one half."""
    base_accuracy: float
    """Accuracy of always predicting the more frequent outcome."""
    brier: float
    """Mean squared error of the predicted probability."""
    base_brier: float
    """Brier score of always predicting the base rate."""
    log_loss: float
    """Mean binary cross-entropy, in nats."""
    base_log_loss: float
    """Log loss of always predicting the base rate."""
    precision: float | None
    """Share of predicted events that happened; None if none is predicted."""
    recall: float | None
    """Share of events that are predicted; None without events."""
    precision_at_positives: float | None
    """Precision among the likeliest positions, as many as there are events; None without events."""
    average_precision: float | None
    """Mean precision over the events, likeliest first; None without events."""
    calibration: tuple[CalibrationBin, ...]
    """Groups of positions, from the least likely ones to the likeliest hundredth."""


@dataclass(frozen=True)
class HeadFigures:
    """Figures of all heads besides the value; None for a head that the network does not have."""

    policy_accuracy: float | None
    """Share of known moves that the policy holds likeliest; None without known moves."""
    policy_loss: float | None
    """Mean cross-entropy of the known moves, in nats; None without known moves."""
    draw: RareHead | None = None
    """Figures of the draw head."""
    sennichite: RareHead | None = None
    """Figures of the head for sennichite."""
    declaration: RareHead | None = None
    """Figures of the head for declarations."""
    move_limit: RareHead | None = None
    """Figures of the head for games that reach the move limit."""
    entered: RareHead | None = None
    """Figures of the head for entering kings."""


def measure_rare(logits: np.ndarray, happened: np.ndarray) -> RareHead:
    """Measure predictions of a rare event: logits float (B,) against `happened` bool (B,).

    Always predicting "no" has a high accuracy, so `base_accuracy` stands beside it, and the Brier score and log loss of
    always predicting the base rate. precision and recall use a threshold of one half. `precision_at_positives` is the
    precision among the most likely positions, as many as there are positives. `calibration` compares predicted and
    actual rates, from the least likely positions to the most likely hundredth.
    """
    logits = logits.astype(np.float64)
    rate = sigmoid(logits)
    base = float(happened.mean())
    said = rate >= 0.5
    hits = int((said & happened).sum())
    positives = int(happened.sum())
    order = np.argsort(-logits, kind="stable")
    found = np.cumsum(happened[order])
    entropy = -sum(p * np.log(p) for p in (base, 1 - base) if p > 0)
    return RareHead(
        positions=len(logits),
        positives=positives,
        base_rate=base,
        accuracy=float((said == happened).mean()),
        base_accuracy=max(base, 1 - base),
        brier=float(((rate - happened) ** 2).mean()),
        base_brier=base * (1 - base),
        log_loss=float(log_losses(logits, happened.astype(np.float64)).mean()),
        base_log_loss=float(entropy),
        precision=hits / int(said.sum()) if said.any() else None,
        recall=hits / positives if positives else None,
        precision_at_positives=float(found[positives - 1]) / positives if positives else None,
        average_precision=float((found / np.arange(1, len(found) + 1))[happened[order]].mean()) if positives else None,
        calibration=tuple(
            CalibrationBin(len(group), float(rate[group].mean()), float(happened[group].mean()))
            for group in np.split(order[::-1], (np.array(_GROUP_EDGES) * len(order)).astype(np.int64))
            if len(group)
        ),
    )
