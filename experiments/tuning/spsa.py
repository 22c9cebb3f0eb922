"""Simultaneous perturbation: all numbers are moved a little at once, one way and the other, and a pair of games
between the two settings gives the direction of a step.

Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation", IEEE TAC 37,
1992. The schedule is that of Fishtest and OpenBench.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.matches.pair import COLOURS
from experiments.matches.standing import side_points
from search.alphabeta.parameters import Parameter

DRIFT = 0.2
"""The default gain is this divided by the root of the pairs. Chance alone then moves a number by about half its step: a
pair's result has a standard deviation of 1.5, and the schedule takes 1.55 times the last pair's step on average
(root mean square). At 10,000 pairs it is the 0.002 that users of OpenBench and Fishtest choose for such lengths."""
ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
"""Exponents by which steps and perturbations shrink, and the share of the pairs by which the first steps are damped."""


@dataclass(frozen=True)
class Trial:
    """A pair of games to be played."""

    number: int
    """Number of the pair, which gives its opening."""
    first: dict[str, int]
    """Parameters of the player that is moved one way."""
    second: dict[str, int]
    """Parameters of the player that is moved the other way."""


class Spsa:
    """The values of the parameters, which follow from the seed and from the results in the order of their arrival."""

    def __init__(self, parameters: Sequence[Parameter], pairs: int, gain: float | None, seed: int) -> None:
        """`pairs`: number of pairs of the whole tuning. `gain`: the rate at its end, by default from `pairs`."""
        self._parameters = tuple(parameters)
        self._pairs, self._seed = pairs, seed
        self._gain = DRIFT / math.sqrt(pairs) if gain is None else gain
        self._steps = np.array([one.step for one in parameters], np.float64)
        self._low = np.array([one.low for one in parameters], np.float64)
        self._high = np.array([one.high for one in parameters], np.float64)
        self._values = np.array([one.default for one in parameters], np.float64)
        self.done = 0
        """Pairs whose results have been used."""

    @property
    def values(self) -> dict[str, float]:
        """The values by name."""
        return {one.name: float(value) for one, value in zip(self._parameters, self._values, strict=True)}

    def trial(self, number: int) -> Trial:
        """Return a pair of games around the present values."""
        signs, dice = self._signs(number)
        away = self._steps * self._reach(number) * signs
        rounding = dice.random(len(self._parameters))  # random rounding up or down has no bias
        sides = []
        for moved in (self._values + away, self._values - away):
            whole = np.floor(np.clip(moved, self._low, self._high) + rounding).astype(np.int64)
            whole = np.minimum(whole, self._high.astype(np.int64))
            sides.append({one.name: int(value) for one, value in zip(self._parameters, whole, strict=True)})
        return Trial(number, *sides)

    def learn(self, number: int, result: int) -> None:
        """Take a step by a pair's result: the first player's wins minus its losses, -2 to 2."""
        signs, _ = self._signs(number)
        rate = self._gain * self._shrink(number) * self._reach(number)
        self._values = np.clip(self._values + rate * result * self._steps * signs, self._low, self._high)
        self.done += 1

    def _signs(self, number: int) -> tuple[np.ndarray, np.random.Generator]:
        dice = np.random.default_rng((self._seed, number))
        return dice.integers(0, 2, len(self._parameters)) * 2.0 - 1.0, dice

    def _reach(self, number: int) -> float:
        """Return the distance of a pair's players from the values, in steps: 1 at the end."""
        return float((self._pairs / (min(number, self._pairs - 1) + 1)) ** GAMMA)

    def _shrink(self, number: int) -> float:
        """Return a pair's rate, without the perturbation, relative to the last pair's."""
        damping = STABILITY * self._pairs
        done = min(number, self._pairs - 1) + 1
        return float(((damping + self._pairs) / (damping + done)) ** ALPHA / self._reach(number) ** 2)


def result_of(counts: Mapping[str, int | float]) -> int:
    """Return a pair's result from its counts: the first player's wins minus its losses."""
    points = sum(side_points(counts, colour) for colour in COLOURS.values())
    return round(2 * points) - len(COLOURS)
