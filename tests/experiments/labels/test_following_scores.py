"""Scores averaged over the positions that follow in a game."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.labels.following_scores import PLIES, following_scores
from lite.records.batch import labelled_dtype


def rate(score: float) -> float:
    return 1 / (1 + math.exp(-score / 600))


def games(counts: list[int], seed: int, longest_gap: int = 0) -> np.ndarray:
    """Return random positions, a third of them without a score; up to `longest_gap` plies are left out between two."""
    random = np.random.default_rng(seed)
    positions = np.zeros(sum(counts), labelled_dtype)
    positions["score"] = random.integers(-1500, 1500, len(positions))
    positions["scored"] = random.random(len(positions)) < 2 / 3
    first = 0
    for game, count in enumerate(counts):
        own = positions[first : first + count]
        own["ply"] = np.arange(count) + np.cumsum(random.integers(longest_gap + 1, size=count))
        own["turn"] = (own["ply"] + game) % 2
        black = (0.0, 0.5, 1.0)[random.integers(3)]
        own["result"] = np.where(own["turn"] == 1, 1 - black, black)
        first += count
    return positions


@pytest.mark.parametrize("discount", [0.3, 0.7])
@pytest.mark.parametrize("longest_gap", [0, 3, 20])
@pytest.mark.parametrize("counts", [[1], [5, 1, 40, 13, 2], [0, 3, 0, 30]])
def test_each_score_is_the_weighted_mean_of_its_game(counts: list[int], longest_gap: int, discount: float) -> None:
    positions, first = games(counts, 7, longest_gap), 0
    found = following_scores(positions, np.array(counts), discount, 600)
    for count in counts:
        for place in range(first, first + count):
            turn, total, weights = positions["turn"][place], 0.0, 0.0
            at = {int(positions["ply"][one]): one for one in range(first, first + count)}
            for distance in range(PLIES + 1):
                ply = positions["ply"][place] + distance
                if ply > max(at):
                    value = positions["result"][place]
                elif ply in at and positions["scored"][at[ply]]:
                    value = rate(positions["score"][at[ply]])
                    value = value if positions["turn"][at[ply]] == turn else 1 - value
                else:
                    continue
                total, weights = total + discount**distance * value, weights + discount**distance
            if weights and 0.001 < total / weights < 0.999:
                assert rate(found[place]) == pytest.approx(total / weights, abs=0.001)
        first += count


def test_a_small_discount_keeps_the_scores() -> None:
    positions = games([20, 20], 3)
    positions["scored"] = True
    assert following_scores(positions, np.array([20, 20]), 1e-9, 600).tolist() == positions["score"].tolist()
