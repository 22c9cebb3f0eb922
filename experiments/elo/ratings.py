"""Ratings of many players from all their games together: the Bradley-Terry model, with a draw as half a win for each.

Errors come from pairs of games, as in `experiments.elo.strength`: the two games of one opening with colours exchanged
are one observation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from experiments.elo.strength import CONFIDENCE, FEWEST_PAIRS, unmet_share

ELO = 400 / math.log(10)
"""Elo per unit of log-odds."""
_NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Half an interval in standard deviations."""
_STEPS = 200
_CLOSE = 1e-10


@dataclass(frozen=True)
class Meeting:
    """The games of two players against each other."""

    first: int
    """Index of a player."""
    second: int
    pairs: tuple[tuple[float, int], ...]
    """(First player's points, games) of every pair; a game without its twin is a pair of one game."""
    draws: int

    @property
    def games(self) -> int:
        return sum(games for _, games in self.pairs)

    @property
    def points(self) -> float:
        """Points of the first player."""
        return sum(points for points, _ in self.pairs)

    @property
    def wins(self) -> int:
        """Wins of the first player."""
        return round(self.points - self.draws / 2)

    @property
    def losses(self) -> int:
        return self.games - self.draws - self.wins

    def pentanomial(self) -> list[int]:
        """Numbers of whole pairs in which the first player scored 0, 1/2, 1, 1 1/2 and 2 points."""
        return [sum(games == 2 and points == half / 2 for points, games in self.pairs) for half in range(5)]


@dataclass(frozen=True)
class Ratings:
    """Ratings of all players with their errors."""

    elo: np.ndarray
    """Elo, float64 (players,); the mean is 0."""
    covariance: np.ndarray
    """Covariance of `elo`, float64 (players, players)."""
    bounded: bool
    """True if the games bound every difference. A group of players that scored no point against the others, or did not
    meet them, could be any distance below; then one virtual draw is added to each meeting."""

    def error(self, player: int) -> float:
        """Half of the 95 % interval of a player's rating against the mean of all players."""
        return _NORMAL * math.sqrt(max(self.covariance[player, player], 0.0))

    def superiority(self, one: int, other: int) -> float:
        """Probability that player `one` is stronger than player `other`."""
        variance = self.covariance
        deviation = math.sqrt(max(variance[one, one] + variance[other, other] - 2 * variance[one, other], 0.0))
        gap = float(self.elo[one] - self.elo[other])
        # The deviation is 0, but for rounding, only of two players without games.
        return NormalDist().cdf(gap / deviation) if deviation > 1e-9 else 0.5


def rate(players: int, meetings: Sequence[Meeting]) -> Ratings:
    """Return the maximum-likelihood ratings and their covariance.

    Model: R. Bradley, M. Terry, "Rank Analysis of Incomplete Block Designs", 1952. The likelihood is concave, so
    Newton's steps, halved where they overshoot, reach its maximum. The covariance is the cluster-robust H+ S H+, where
    H+ is the pseudo-inverse of the curvature H and S sums the squared residuals of the pairs (H. White, "Maximum
    Likelihood Estimation of Misspecified Models", 1982). For two players it equals the pentanomial model's. A meeting
    with few pairs uses the binomial variance instead of squared residuals.
    """
    bounded = _is_bounded(players, meetings)
    more = 0.0 if bounded else 1.0
    met = [one for one in meetings if one.games]
    first = np.array([one.first for one in met], np.int64)
    second = np.array([one.second for one in met], np.int64)
    games = np.array([one.games + more for one in met])
    points = np.array([one.points + more / 2 for one in met])

    free = _common(players, first, second)

    def likelihood(theta: np.ndarray) -> float:
        gap = theta[first] - theta[second]
        return float(-(points * np.logaddexp(0, -gap) + (games - points) * np.logaddexp(0, gap)).sum())

    theta = np.zeros(players)
    for _ in range(_STEPS):
        share = _share(theta[first] - theta[second])
        slope = np.zeros(players)
        np.add.at(slope, first, points - games * share)
        np.add.at(slope, second, games * share - points)
        step = _pseudo_inverse(_laplacian(players, first, second, games * share * (1 - share)), free) @ slope
        while likelihood(theta + step) < likelihood(theta) - 1e-12 and np.abs(step).max() > _CLOSE:
            step = step / 2
        theta = theta + step
        if np.abs(step).max(initial=0.0) <= _CLOSE:
            break
    share = _share(theta[first] - theta[second])
    inverse = _pseudo_inverse(_laplacian(players, first, second, games * share * (1 - share)), free)
    squares = [_squares(one, expected) for one, expected in zip(met, share.tolist(), strict=True)]
    spread = _laplacian(players, first, second, np.array(squares))
    return Ratings(ELO * theta, ELO**2 * inverse @ spread @ inverse, bounded)


def _share(gap: np.ndarray) -> np.ndarray:
    """Expected points per game at these gaps in log-odds."""
    expected: np.ndarray = np.exp(-np.logaddexp(0, -gap))
    return expected


def _laplacian(players: int, first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum over meetings of weight times (e_first - e_second) (e_first - e_second)^T."""
    matrix = np.zeros((players, players))
    np.add.at(matrix, (first, first), weights)
    np.add.at(matrix, (second, second), weights)
    np.add.at(matrix, (first, second), -weights)
    np.add.at(matrix, (second, first), -weights)
    return matrix


def _common(players: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Projector on the directions that games do not determine, float64 (players, players).

    Games do not determine a rise common to all players of a group linked by meetings. The projector replaces each
    player's value by the mean of the group.
    """
    linked = np.eye(players, dtype=bool)
    linked[first, second] = linked[second, first] = True
    linked = _chained(linked)
    return linked / linked.sum(axis=1)


def _pseudo_inverse(laplacian: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Pseudo-inverse of a Laplacian whose null space has the projector `null`.

    Deciding by the size of eigenvalues which ones are 0 fails: rounding leaves some above any bound.
    """
    inverse: np.ndarray = np.linalg.inv(laplacian + null) - null
    return inverse


def _squares(meeting: Meeting, expected: float) -> float:
    """Variance that a meeting adds to its points.

    As in `measure_strength`, pairs that hardly differ must not give a tiny interval: half of the interval is at least
    the reach of results that were not seen, here the geometric mean of both sides.
    """
    count, binomial = len(meeting.pairs), expected * (1 - expected)
    if count < FEWEST_PAIRS:
        return meeting.games * binomial
    squares = sum((points - expected * games) ** 2 for points, games in meeting.pairs) * count / (count - 1)
    return max(squares, binomial * (meeting.games * unmet_share(count) / _NORMAL) ** 2)


def _is_bounded(players: int, meetings: Sequence[Meeting]) -> bool:
    """Whether every player reaches every other along points scored against the next player (L. Ford, "Solution of a
    Ranking Problem from Binary Comparisons", 1957)."""
    reach = np.eye(players, dtype=bool)
    for one in meetings:
        reach[one.first, one.second] |= one.points > 0
        reach[one.second, one.first] |= one.points < one.games
    return bool(_chained(reach).all())


def _chained(reach: np.ndarray) -> np.ndarray:
    """Transitive closure of a reflexive relation, bool (players, players)."""
    for _ in range(len(reach).bit_length()):
        reach = reach @ reach
    return reach
