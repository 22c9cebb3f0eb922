"""Simultaneous perturbation: all numbers are moved a little at once, one way and the other, and the pair of games
between the two says where to go (Spall, "Multivariate stochastic approximation using a simultaneous perturbation
gradient approximation", IEEE TAC 37, 1992). The schedule is the one that Fishtest and OpenBench have made usual.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search.alphabeta.parameters import Parameter

DRIFT = 0.2
"""The gain of a tuning is this by the root of its pairs. Chance alone then moves a number by half its step or so:
a pair's result has a standard deviation of 1.5, and the schedule takes 1.55 times the last pair's step on average
(root mean square). At 10,000 pairs it is the 0.002 that users of OpenBench and Fishtest choose for such lengths."""
ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
"""Exponents by which steps and perturbations shrink, and the share of the pairs by which the first steps are damped."""


@dataclass(frozen=True)
class Trial:
    """A pair of games that is to be played."""

    number: int
    """Of the pair, which `PairTask` tells its opening by."""
    first: dict[str, int]
    """The parameters that are not at their defaults, of the player moved one way."""
    second: dict[str, int]
    """Of the one moved the other way."""


class Spsa:
    """The values under way. They follow from the seed and the results alone, in the order in which these come in."""

    def __init__(self, parameters: Sequence[Parameter], pairs: int, gain: float | None, seed: int) -> None:
        """`pairs` is how many there are to be; `gain` the rate at the end, by default from their number."""
        self._parameters = tuple(parameters)
        self._pairs, self._seed = pairs, seed
        self._gain = DRIFT / math.sqrt(pairs) if gain is None else gain
        self._steps = np.array([one.step for one in parameters], np.float64)
        self._low = np.array([one.low for one in parameters], np.float64)
        self._high = np.array([one.high for one in parameters], np.float64)
        self._values = np.array([one.default for one in parameters], np.float64)
        self.done = 0
        """Pairs whose results are in."""

    @property
    def values(self) -> dict[str, float]:
        """By name."""
        return {one.name: float(value) for one, value in zip(self._parameters, self._values, strict=True)}

    def trial(self, number: int) -> Trial:
        """A pair of games around the values as they are."""
        signs, dice = self._signs(number)
        away = self._steps * self._reach(number) * signs
        rounding = dice.random(len(self._parameters))  # to a whole number above or below by chance: without bias
        sides = []
        for moved in (self._values + away, self._values - away):
            whole = np.floor(np.clip(moved, self._low, self._high) + rounding).astype(np.int64)
            whole = np.minimum(whole, self._high.astype(np.int64))
            sides.append({one.name: int(value) for one, value in zip(self._parameters, whole, strict=True)})
        return Trial(number, *sides)

    def learn(self, number: int, result: int) -> None:
        """Take a step by a pair's result, the first player's wins less its losses, -2 to 2."""
        signs, _ = self._signs(number)
        rate = self._gain * self._shrink(number) * self._reach(number)
        self._values = np.clip(self._values + rate * result * self._steps * signs, self._low, self._high)
        self.done += 1

    def _signs(self, number: int) -> tuple[np.ndarray, np.random.Generator]:
        dice = np.random.default_rng((self._seed, number))
        return dice.integers(0, 2, len(self._parameters)) * 2.0 - 1.0, dice

    def _reach(self, number: int) -> float:
        """How far a pair's players are from the values, in steps: one at the end."""
        return float((self._pairs / (min(number, self._pairs - 1) + 1)) ** GAMMA)

    def _shrink(self, number: int) -> float:
        """A pair's rate, the perturbation left out, in that of the last."""
        damping = STABILITY * self._pairs
        done = min(number, self._pairs - 1) + 1
        return float(((damping + self._pairs) / (damping + done)) ** ALPHA / self._reach(number) ** 2)


def result_of(counts: Mapping[str, int | float]) -> int:
    """A pair's result, of what `PairTask` counts: the first player's wins less its losses."""
    won, lost = (
        sum(int(counts.get(f"{what} as {colour}", 0)) for colour in ("black", "white")) for what in ("wins", "losses")
    )
    return won - lost
