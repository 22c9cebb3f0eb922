"""Whether a match has gone on for long enough: the sequential probability ratio test, over pairs of games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of a pair's two points, one for each of the five counts of the pentanomial model."""
UNMET = 1e-3
"""Pairs that a result counts for which no pair had: without them, what was not met could never be."""
_BISECTIONS = 60


@dataclass(frozen=True)
class Sprt:
    """The test of elo0 against elo1, logistic Elo (A. Wald, "Sequential Analysis", 1947)."""

    elo0: float
    """If the first player is stronger by this, elo1 is taken for true with a probability of `alpha`."""
    elo1: float
    """If it is stronger by this, elo0 is taken for true with a probability of `beta`."""
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise ValueError(f"--sprt {self.elo0:g} {self.elo1:g}: two numbers within 1,000 Elo, the smaller first")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(f"--alpha {self.alpha:g} --beta {self.beta:g}: each must be above 0 and below 0.5")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio from which on elo0 is taken for true."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """And elo1."""
        return math.log((1 - self.beta) / self.alpha)

    def verdict(self, counts: Sequence[int]) -> str:
        """`elo1` or `elo0`, whichever is taken for true; empty as long as neither is."""
        ratio = self.ratio(counts)
        return "elo1" if ratio >= self.upper else "elo0" if ratio <= self.lower else ""

    def ratio(self, counts: Sequence[int]) -> float:
        """The logarithm of the generalised likelihood ratio of elo1 to elo0, by counts of pairs with 0, 1/2, 1, 1 1/2
        and 2 points.

        Each likelihood is the largest that any distribution over the five results has whose mean is that of the
        hypothesis (M. Van den Bergh, "Comments on Normalized Elo" and "A Practical Introduction to the GSPRT", which
        Fishtest follows). Where the observed share is p, the share there is p / (1 + x (a - s)), see `_tilt`.
        """
        met = [count or UNMET for count in counts]
        pairs = sum(met)
        shares = [count / pairs for count in met]
        means = [1 / (1 + 10 ** (-elo / 400)) for elo in (self.elo0, self.elo1)]
        tilts = [_tilt(shares, mean) for mean in means]
        return pairs * sum(
            share * math.log((1 + tilts[0] * (points - means[0])) / (1 + tilts[1] * (points - means[1])))
            for share, points in zip(shares, POINTS, strict=True)
        )


def _tilt(shares: Sequence[float], mean: float) -> float:
    """The Lagrange multiplier x of the likeliest shares with this mean: the root of sum p (a - s) / (1 + x (a - s)),
    which falls as x grows, between the values at which a share would be negative."""
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        slope = sum(
            share * (points - mean) / (1 + middle * (points - mean))
            for share, points in zip(shares, POINTS, strict=True)
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
