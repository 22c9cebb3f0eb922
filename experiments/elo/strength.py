"""What the results of a match say of the difference in strength: Elo, and the interval in which it lies.

Two games from one opening with colours changed are no two observations: the opening's bias makes them differ, and both
sides' strength in it makes them alike. So the pair is what is counted, as in Fishtest's and fastchess's pentanomial
model; a game without its twin counts as a pair of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95
FEWEST_PAIRS = 4
"""Fewer say nothing of how much pairs differ."""
LOPSIDED = 1.2
"""Times as long as the other half of an interval one may be and still be told as one error."""


@dataclass(frozen=True)
class Strength:
    """An Elo difference and the ends of its 95 % interval; None stands for infinity, and for not known."""

    elo: float | None
    low: float | None
    high: float | None


def measure_strength(pairs: Sequence[tuple[float, int]]) -> Strength:
    """The strength that (points, games) of each pair show, by the ratio of points to games.

    The mean's variance is that of a ratio over clusters (Cochran, "Sampling Techniques", 1977, 6.4); with two games in
    every pair it is the pentanomial one. Few pairs get Student's wider interval, which still trusts that what was met
    is typical: four pairs that all were won show no variance. So the interval also reaches as far as pairs can take it
    that score quite otherwise and yet were not met, one time in 20.
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
    """The largest share of all pairs that may score quite otherwise than `count` pairs that were met, and yet be missed
    by them one time in 20."""
    return 1 - (1 - CONFIDENCE) ** (1 / count)


def elo_of(score: float) -> float | None:
    """The difference at which the stronger side is expected to score so (logistic); None where that is infinite."""
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else None


def in_words(elo: float | None, low: float | None, high: float | None) -> str:
    """`Elo +12 +- 30`, or what else can be said of a difference and its interval.

    The interval is even in points, and the further a difference is from 0, the more Elo lies in a point: one whose
    halves differ is told by its ends, `Elo +683 (+410 to +1200)`.
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
    """Student's t at the end of the interval: exact for one degree of freedom and two, from three on to a percent.

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
