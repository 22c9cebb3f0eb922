"""Exploration in self-play: noise in the root's priors, and first moves drawn at random (Silver et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.system.bounds import check_numbers, check_used
from search.system.options import OptionError


@dataclass(frozen=True)
class Exploration:
    """Amount of exploration; the defaults are AlphaZero's for shogi."""

    noise_share: float = 0.25
    """Share of noise in the priors at the root; 0 means no noise."""
    noise_alpha: float = 0.15
    """Parameter of the noise's Dirichlet distribution: the smaller, the fewer moves it prefers."""
    soft_plies: int = 30
    """Plies at the start of a game whose moves are drawn by the shares of the visits; later the most visited move is
    played."""
    soft_temperature: float = 1.0
    """Temperature of these shares, which are of the visits to the power of 1 / temperature."""

    def check(self) -> None:
        """Raise OptionError for numbers that cannot be used."""
        if not 0 <= self.noise_share <= 1:
            raise OptionError(f"`noise_share` {self.noise_share}: a share from 0 to 1 is needed", "noise_share")
        for name in ("noise_alpha", "soft_temperature"):
            if not 1e-3 <= getattr(self, name) <= 1e3:
                raise OptionError(f"`{name}` {getattr(self, name)}: choose 0.001 to 1000", name)
        check_numbers(self, "soft_plies", least=0)
        check_used(self, "noise_alpha", "noise_share")
        check_used(self, "soft_temperature", "soft_plies")

    def stir(self, priors: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return priors f4 (moves,) mixed with noise; their sum is unchanged."""
        noise = random.dirichlet(np.full(len(priors), self.noise_alpha))
        return np.asarray((1 - self.noise_share) * priors + self.noise_share * noise, np.float32)

    def choose(self, visits: np.ndarray, ply: int, random: np.random.Generator) -> int:
        """Return the index of the move to play, by visits i8 (moves,), at least one of them above 0."""
        if ply >= self.soft_plies:
            return int(np.argmax(visits))
        weights = (visits / visits.max()) ** (1 / self.soft_temperature)
        return int(random.choice(len(visits), p=weights / weights.sum()))
