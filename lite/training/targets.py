"""What a position should be worth: the game's result and the score of a search, blended.

A score in centipawns becomes a win rate by `sigmoid(score / cp_per_logit)`. The scale belongs to the engine that gave
the scores: it is fitted so that those win rates match the results of the same games (`fit_cp_per_logit`). A network
learns win rates, so its output is a logit whatever that scale was; the scale stored with it, the one number that turns
its logits into centipawns, is the scores' own unless a run asks for another (`net_cp_per_logit`): a network that learnt
from scores of 1200 to a logit may speak in centipawns of 600 to one, and both mean the same win rates.

A position without a score learns from its game's result alone, whatever the blend.
"""

from __future__ import annotations

import numpy as np

from lite.records.decode import Batch
from lite.records.formats import NO_GAME

MATE_SCORE = 30000
"""Scores at least this far from zero are found mates (stored as +-32000): certain, and no evidence for a scale."""

FITTED_SCALES = (20.0, 5000.0)
"""Fitted scales that scores of a search can have: by them 100 centipawns, a pawn, win 99.3 % of the games to 50.5 %."""


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """The logistic function f8 of logits of any size."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -700, 700))))


def win_rate(score: np.ndarray, cp_per_logit: float) -> np.ndarray:
    """Expected result 0..1, f8, of scores in centipawns; a found mate is 0 or 1."""
    logit = np.asarray(score, np.float64) / cp_per_logit
    mate = np.abs(np.asarray(score, np.int64)) >= MATE_SCORE
    return np.where(mate, (logit > 0).astype(np.float64), sigmoid(logit))


def blend(
    result: np.ndarray,
    score: np.ndarray,
    scored: np.ndarray,
    lambda_: float,
    cp_per_logit: float,
    played: np.ndarray | bool = True,
) -> np.ndarray:
    """Targets f4 (B,): `lambda_` of the score's win rate and the rest of the result (1 win, 0.5 draw, 0 loss); where
    `scored`, bool (B,), says that there is no score, the result; where `played`, bool (B,), says that no game stands
    behind the position, the score's win rate.

    `lambda_` 0 learns from results alone, 1 from scores alone, as in other trainers of this field.
    """
    expected = win_rate(score, cp_per_logit)
    target = np.where(played, (1 - lambda_) * result + lambda_ * expected, expected)
    return np.where(scored, target, result).astype(np.float32)


def drawn_games(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Whether each position's game was drawn, f4 (B,), and whether there was a game to say so, bool (B,).

    A network learns the chance of it as it is, without more weight for what is rare: the search counts on the number.
    """
    return (batch.result == 0.5).astype(np.float32), batch.kind_of_result & NO_GAME == 0


def lambda_at(start: float, end: float | None, step: int, steps: int) -> float:
    """The scores' weight at step 0 .. steps-1: `start`, or on the straight line from there to `end` at the last."""
    return start if end is None else start + (end - start) * step / max(1, steps - 1)


def fit_cp_per_logit(score: np.ndarray, result: np.ndarray) -> float:
    """The scale whose win rates explain the results best (logistic regression without intercept, Newton's method).

    Draws count as half a win, found mates are left out. Raises ValueError where scores say nothing about results, or
    all about them.
    """
    use = (np.abs(score.astype(np.int64)) < MATE_SCORE) & (score != 0)
    x, y = score[use].astype(np.float64) / 1000, result[use].astype(np.float64)
    if len(x) < 2:
        raise ValueError("no scores to fit a scale to")
    if (x * (y - 0.5) > 0).all():  # the steeper, the better, without end
        raise ValueError("every score predicts its result, so no scale fits")
    slope = 0.0
    # From 0 no step overshoots: with all x made positive the gradient is convex above 0 and concave below.
    for _ in range(100):
        rate = sigmoid(slope * x)
        curvature = float(np.sum(x * x * rate * (1 - rate))) + 1e-12
        change = float(np.sum(x * (y - rate))) / curvature
        slope += change
        if abs(change) < 1e-10:
            break
    least, most = FITTED_SCALES
    if abs(change) >= 1e-10 or not 1000 / most <= slope <= 1000 / least:
        raise ValueError(
            f"scores and results disagree: no scale from {least:.0f} to {most:.0f} cp per logit fits (slope "
            f"{slope:.3g} per 1000 cp): check that the scores are the mover's"
        )
    return float(1000 / slope)
