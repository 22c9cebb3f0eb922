"""The sequential probability ratio test over pairs of games, which decides when a match can end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from search.system.options import OptionError

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Share of a pair's two points for each of the five results of the pentanomial model."""
UNMET = 1e-3
"""Count that stands in for a result that no pair had; 0 would make that result impossible."""
_BISECTIONS = 60


@dataclass(frozen=True)
class Sprt:
    """A test of elo0 against elo1 in logistic Elo (A. Wald, "Sequential Analysis", 1947)."""

    elo0: float
    """First hypothesis: the first player is stronger by this many Elo. If true, the test accepts elo1 with probability
    `alpha`."""
    elo1: float
    """Second hypothesis: the first player is stronger by this many Elo. If true, the test accepts elo0 with probability
    `beta`."""
    alpha: float = 0.05
    """Probability of accepting elo1 when elo0 is true."""
    beta: float = 0.05
    """Probability of accepting elo0 when elo1 is true."""

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise OptionError(f"`sprt` {self.elo0:g} {self.elo1:g}: must be two Elo, rising, within 1,000", "sprt")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise OptionError(
                f"`alpha` {self.alpha:g}, `beta` {self.beta:g}: must be above 0 and below 0.5", "alpha", "beta"
            )

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at or below which the test accepts elo0."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at or above which the test accepts elo1."""
        return math.log((1 - self.beta) / self.alpha)

    def verdict(self, counts: Sequence[int]) -> str:
        """Return the accepted hypothesis, `elo0` or `elo1`; empty while the test is undecided."""
        ratio = self.ratio(counts)
        return "elo1" if ratio >= self.upper else "elo0" if ratio <= self.lower else ""

    def ratio(self, counts: Sequence[int]) -> float:
        """Return the logarithm of the generalised likelihood ratio of elo1 to elo0.

        `counts` are the numbers of pairs with 0, 1/2, 1, 1 1/2 and 2 points. Each likelihood is the maximum over
        distributions on the five results whose mean the hypothesis gives (M. Van den Bergh, "Comments on Normalized
        Elo" and "A Practical Introduction to the GSPRT", as in Fishtest). An observed share p becomes
        p / (1 + x (a - s)), see `_tilt`.
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
    """Lagrange multiplier x of the likeliest shares with this mean.

    It is the root of sum p (a - s) / (1 + x (a - s)), which falls as x grows, between the values at which a share would
    be negative.
    """
    low, high = -1 / (1 - mean), 1 / mean
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        slope = sum(
            share * (points - mean) / (1 + middle * (points - mean))
            for share, points in zip(shares, POINTS, strict=True)
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
