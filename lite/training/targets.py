"""Training targets: the result of the game and the score of a search, blended.

A score in centipawns becomes a win rate by `sigmoid(score / cp_per_logit)`. The scale belongs to the engine that gave
the scores: it is fitted so that those win rates match the results of the same games (`fit_cp_per_logit`). A network
learns win rates, so its output is a logit whatever that scale was. The scale stored with it, which turns its logits
into centipawns, is the scores' own unless a run asks for another (`net_cp_per_logit`): a network that learnt from
scores of 1200 per logit may report centipawns of 600 per logit, and both mean the same win rates.

A position without a score learns from its game's result alone, whatever the blend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lite.records.batch import Batch
from lite.records.formats import NO_GAME

MATE_SCORE = 30000
"""Scores at least this far from zero are mates (stored as +-32000): certain, and no evidence for a scale."""

FITTED_SCALES = (20.0, 5000.0)
"""Range of plausible fitted scales: at their ends 100 centipawns, a pawn, win 99.3 % and 50.5 % of the games."""

ScoreWinRates = Callable[[np.ndarray], np.ndarray]
"""Function from scores in centipawns to win rates f8."""


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return the logistic function f8 of logits of any size."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -700, 700))))


def score_win_rates(score: np.ndarray, cp_per_logit: float) -> np.ndarray:
    """Return the expected result 0..1, f8, of scores in centipawns; a mate is 0 or 1."""
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
    win_rates: ScoreWinRates | None = None,
) -> np.ndarray:
    """Return targets f4 (B,): `lambda_` times the score's win rate plus 1 - `lambda_` times the result.

    Results are 1 win, 0.5 draw, 0 loss. Positions without a score (`scored`, bool (B,)) have the result as target,
    positions without a game (`played`, bool (B,)) the score's win rate. `lambda_` 0 learns from results alone, 1 from
    scores alone, as in other trainers of this field. win_rates: of scores, in place of `score_win_rates`.
    """
    expected = score_win_rates(score, cp_per_logit) if win_rates is None else win_rates(score)
    target = np.where(played, (1 - lambda_) * result + lambda_ * expected, expected)
    return np.where(scored, target, result).astype(np.float32)


def drawn_games(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each position's game was drawn, f4 (B,), and whether it comes from a game, bool (B,).

    Draws have no extra weight although they are rare: the search needs their true probability.
    """
    return (batch.result == 0.5).astype(np.float32), batch.kind_of_result & NO_GAME == 0


def lambda_at(start: float, end: float | None, step: int, steps: int) -> float:
    """Return the scores' weight at step 0 .. steps-1: `start`, or linear from there to `end` at the last step."""
    return start if end is None else start + (end - start) * step / max(1, steps - 1)


@dataclass(frozen=True)
class TargetSchedule:
    """The targets of a run, whose blend may change from step to step."""

    lambda_: float
    lambda_end: float | None
    cp_per_logit: float
    """Scale of the scores."""
    steps: int
    """Steps of the run."""
    win_rates: ScoreWinRates | None = None
    """Win rates of scores; None means the logistic function at `cp_per_logit`."""

    def at(self, batch: Batch, step: int) -> np.ndarray:
        """Return the targets f4 (B,) of a batch at step 0 .. steps-1."""
        lambda_ = lambda_at(self.lambda_, self.lambda_end, step, self.steps)
        played = batch.kind_of_result & NO_GAME == 0
        return blend(batch.result, batch.score, batch.scored, lambda_, self.cp_per_logit, played, self.win_rates)


def fit_cp_per_logit(score: np.ndarray, result: np.ndarray) -> float:
    """Return the scale whose win rates predict the results best.

    Logistic regression without intercept, by Newton's method. Draws count as half a win, mates are left out. Raises
    ValueError where scores do not predict results, or predict all of them.
    """
    use = (np.abs(score.astype(np.int64)) < MATE_SCORE) & (score != 0)
    x, y = score[use].astype(np.float64) / 1000, result[use].astype(np.float64)
    if len(x) < 2:
        raise ValueError("no scores to fit a scale to")
    if (x * (y - 0.5) > 0).all():  # the likelihood has no maximum
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
