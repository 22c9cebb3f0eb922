"""Ratings of many players by all their games at once: the Bradley-Terry model, a draw being half a win of each.

Errors come from the pairs of games, as in `experiments.elo.strength`: a game and its twin from the same opening with
colours changed are one observation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from experiments.elo.strength import CONFIDENCE, FEWEST_PAIRS, unmet_share

ELO = 400 / math.log(10)
"""Of one unit of log-odds."""
_NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""Standard deviations that half of an interval has."""
_STEPS = 200
_CLOSE = 1e-10


@dataclass(frozen=True)
class Meeting:
    """What two players have played against each other."""

    first: int
    """Number of a player."""
    second: int
    pairs: tuple[tuple[float, int], ...]
    """(The first player's points, games) of every pair; a game without its twin is a pair of one."""
    draws: int

    @property
    def games(self) -> int:
        return sum(games for _, games in self.pairs)

    @property
    def points(self) -> float:
        """The first player's."""
        return sum(points for points, _ in self.pairs)

    @property
    def wins(self) -> int:
        """The first player's."""
        return round(self.points - self.draws / 2)

    @property
    def losses(self) -> int:
        return self.games - self.draws - self.wins

    def pentanomial(self) -> list[int]:
        """Whole pairs in which the first player has had 0, 1/2, 1, 1 1/2 and 2 points."""
        return [sum(games == 2 and points == half / 2 for points, games in self.pairs) for half in range(5)]


@dataclass(frozen=True)
class Ratings:
    """What the players' games say of them."""

    elo: np.ndarray
    """f8 (players,): their mean is 0."""
    covariance: np.ndarray
    """f8 (players, players): of `elo`."""
    bounded: bool
    """Whether the games bound every difference: a group that has had no point of the others, or no game with them,
    could be any distance below. Else one draw more is thought of in every meeting."""

    def error(self, player: int) -> float:
        """Half of the 95 % interval, against the mean of all."""
        return _NORMAL * math.sqrt(max(self.covariance[player, player], 0.0))

    def superiority(self, one: int, other: int) -> float:
        """Chance that one is stronger than another."""
        variance = self.covariance
        deviation = math.sqrt(max(variance[one, one] + variance[other, other] - 2 * variance[one, other], 0.0))
        gap = float(self.elo[one] - self.elo[other])
        # Whoever has played has a deviation; two who have not are equal, but for rounding.
        return NormalDist().cdf(gap / deviation) if deviation > 1e-9 else 0.5


def rate(players: int, meetings: Sequence[Meeting]) -> Ratings:
    """The likeliest ratings (R. Bradley, M. Terry, "Rank Analysis of Incomplete Block Designs", 1952) and their errors.

    The likelihood is concave, so Newton's steps, halved where they go too far, end at its maximum. The covariance is
    that of clusters, H+ S H+ with the curvature H, its pseudo-inverse H+, and the sum S over pairs of the squares of
    what each has had beyond its expectation (H. White, "Maximum Likelihood Estimation of Misspecified Models", 1982);
    of two players that is the pentanomial model's. Of a meeting with few pairs the binomial variance stands in for
    their squares.
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
    """Points of a game that are expected at these gaps in log-odds."""
    expected: np.ndarray = np.exp(-np.logaddexp(0, -gap))
    return expected


def _laplacian(players: int, first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum over meetings of weight times (e_first - e_second) (e_first - e_second)^T."""
    matrix = np.zeros((players, players))
    np.add.at(matrix, (first, first), weights)
    np.add.at(matrix, (second, second), weights)
    np.add.at(matrix, (first, second), -weights)
    np.add.at(matrix, (second, first), -weights)
    return matrix


def _common(players: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The projector on what games say nothing of, f8 (players, players): a rise that is common to all who are linked
    by meetings. It puts the mean of their group in the place of each."""
    linked = np.eye(players, dtype=bool)
    linked[first, second] = linked[second, first] = True
    linked = _chained(linked)
    return linked / linked.sum(axis=1)


def _pseudo_inverse(laplacian: np.ndarray, null: np.ndarray) -> np.ndarray:
    """That of a Laplacian whose null space has this projector.

    Its least eigenvalues are not looked at to tell which of them are 0: rounding leaves some of those above any bound.
    """
    inverse: np.ndarray = np.linalg.inv(laplacian + null) - null
    return inverse


def _squares(meeting: Meeting, expected: float) -> float:
    """What a meeting adds to the variance of its points.

    As in `measure_strength`, pairs that hardly differ trust in no more than has been met: half of the interval is at
    least as far as unmet pairs can take it, here to both sides by the geometric mean of both."""
    count, binomial = len(meeting.pairs), expected * (1 - expected)
    if count < FEWEST_PAIRS:
        return meeting.games * binomial
    squares = sum((points - expected * games) ** 2 for points, games in meeting.pairs) * count / (count - 1)
    return max(squares, binomial * (meeting.games * unmet_share(count) / _NORMAL) ** 2)


def _is_bounded(players: int, meetings: Sequence[Meeting]) -> bool:
    """Whether from each player to each other a way leads along points that one has had of the next (L. Ford, "Solution
    of a Ranking Problem from Binary Comparisons", 1957)."""
    reach = np.eye(players, dtype=bool)
    for one in meetings:
        reach[one.first, one.second] |= one.points > 0
        reach[one.second, one.first] |= one.points < one.games
    return bool(_chained(reach).all())


def _chained(reach: np.ndarray) -> np.ndarray:
    """Who reaches whom in any number of steps, of who does in at most one: bool (players, players)."""
    for _ in range(len(reach).bit_length()):
        reach = reach @ reach
    return reach
