"""Scores of a game's positions, averaged with those of the positions that follow.

A search sees some plies ahead; the searches of the following moves see further, and the game was played by them. Their
mean, weighted less and less, is the return of TD(lambda) (Sutton 1988) with the scores of searches as values.
"""

from __future__ import annotations

import numpy as np

from experiments.labels.labels import scores_of_rates
from lite.training.targets import sigmoid

PLIES = 12
"""Following plies that count."""


def following_scores(positions: np.ndarray, counts: np.ndarray, discount: float, cp_per_logit: float) -> np.ndarray:
    """Return scores int16 (n,) of `labelled_dtype` positions (n,), game after game of `counts` (games,) positions.

    The win rate of a position is the weighted mean of its own and of those of the next PLIES plies, for its mover; each
    ply has `discount` times the weight of the ply before. After a game's last position its result counts. Plies whose
    positions are left out or have no score count nothing. The score of a position that had none has no meaning.
    """
    white = positions["turn"] == 1
    rates = _for_black(sigmoid(positions["score"] / cp_per_logit), white)
    results = _for_black(positions["result"].astype(np.float64), white)
    plies = positions["ply"].astype(np.int64)
    ends = np.repeat(np.cumsum(counts), counts)
    left = plies[ends - 1] - plies
    total, weights = np.zeros(len(positions)), np.zeros(len(positions))
    for number in range(PLIES + 1):
        place = np.arange(len(positions)) + number
        inside = place < ends
        place = np.where(inside, place, 0)
        distance = np.where(inside, plies[place] - plies, 0)
        score_weight = discount**distance * (inside & positions["scored"][place] & (distance <= PLIES))
        result_weight = discount**number * (left < number)
        total += rates[place] * score_weight + results * result_weight
        weights += score_weight + result_weight
    mean = np.divide(total, weights, out=np.full(len(positions), 0.5), where=weights > 0)
    return scores_of_rates(_for_black(mean, white), cp_per_logit)


def _for_black(rates: np.ndarray, white: np.ndarray) -> np.ndarray:
    """Return the mover's win rates for black, or black's for the mover; `white` marks positions with white to move."""
    return np.where(white, 1 - rates, rates)
