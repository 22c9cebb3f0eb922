"""Strength from the results of a match: the Elo difference and its 95 % interval.

The two games of one opening with colours exchanged are not independent: the opening's bias makes them differ, and the
players' skill in it makes them alike. So pairs are counted, as in the pentanomial model of Fishtest and fastchess. A
game without its twin is a pair of one game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
FEWEST_PAIRS = 4
"""Fewer pairs do not show how much pairs differ."""
LOPSIDED = 1.2
"""Largest ratio of an interval's two halves that is still printed as one error."""


@dataclass(frozen=True)
class Strength:
    """An Elo difference and the ends of its 95 % interval; None means infinite or unknown."""

    elo: float | None
    low: float | None
    high: float | None


def measure_strength(pairs: Sequence[tuple[float, int]]) -> Strength:
    """Return the strength from (points, games) of each pair, by the ratio of points to games.

    The variance is that of a ratio over clusters (Cochran, "Sampling Techniques", 1977, 6.4); with two games in every
    pair it is the pentanomial one. Few pairs get Student's wider interval. That alone would be too narrow: four pairs
    that were all won show no variance. So the interval also covers pairs with the opposite result that a sample of this
    size misses one time in 20.
    """
    games = sum(games for _, games in pairs)
    if not games:
        return Strength(None, None, None)
    mean = sum(points for points, _ in pairs) / games
    count = len(pairs)
    if count < FEWEST_PAIRS:
        return Strength(elo_of(mean), None, None)
    squares = sum((points - mean * games) ** 2 for points, games in pairs)
    half = student(count - 1) * math.sqrt(squares * count / (count - 1)) / games
    unmet = unmet_share(count)
    return Strength(
        elo_of(mean),
        elo_of(mean - max(half, mean * unmet)),
        elo_of(mean + max(half, (1 - mean) * unmet)),
    )


def unmet_share(count: int) -> float:
    """Largest share of pairs that a sample of `count` pairs misses entirely one time in 20."""
    return 1 - (1 - CONFIDENCE) ** (1 / count)


def elo_of(score: float) -> float | None:
    """Return the logistic Elo difference of an expected score; None if it is infinite."""
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else None


def elo_text(elo: float | None, low: float | None, high: float | None) -> str:
    """Return a difference and its interval as text: `Elo +12 +- 30`.

    The interval is symmetric in points, not in Elo. If its halves differ by more than `LOPSIDED`, the text gives its
    ends: `Elo +683 (+410 to +1200)`.
    """
    if low is not None and high is not None and elo is not None:
        shorter, longer = sorted((elo - low, high - elo))
        if longer <= LOPSIDED * shorter:
            return f"Elo {elo:+.0f} +- {(high - low) / 2:.0f}"
        ends = f"{low:+.0f} to {high:+.0f}"
    elif low is not None:
        ends = f"above {low:+.0f}"
    elif high is not None:
        ends = f"below {high:+.0f}"
    else:
        return "too few games for an Elo"
    return f"Elo {ends}" if elo is None else f"Elo {elo:+.0f} ({ends})"


def student(freedom: int) -> float:
    """Return Student's t at the end of the interval: exact for one and two degrees of freedom, else to 1 %.

    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3, 26.7.4 and 26.7.5.
    """
    if freedom == 1:
        return math.tan(math.pi / 2 * CONFIDENCE)
    if freedom == 2:
        return CONFIDENCE * math.sqrt(2 / (1 - CONFIDENCE**2))
    normal = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    polynomials = (
        (normal**3 + normal) / 4,
        (5 * normal**5 + 16 * normal**3 + 3 * normal) / 96,
        (3 * normal**7 + 19 * normal**5 + 17 * normal**3 - 15 * normal) / 384,
    )
    return normal + sum(term / freedom**power for power, term in enumerate(polynomials, 1))
