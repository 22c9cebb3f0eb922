"""What self-play leaves to chance: noise among the root's priors, and the first moves (Silver et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from search.system.bounds import check_numbers, check_used


@dataclass(frozen=True)
class Exploration:
    """How much, as AlphaZero had it for shogi."""

    noise_share: float = 0.25
    """Share of the noise in the priors at the root; 0: none."""
    noise_alpha: float = 0.15
    """Of the Dirichlet distribution that it is drawn from: the smaller, the fewer moves it is about."""
    soft_plies: int = 30
    """For so many plies of a game the move is drawn by the visits' shares; from there on the most visited is played."""
    soft_temperature: float = 1.0
    """The shares are of the visits to the power of 1 / so much."""

    def check(self) -> None:
        """Raises ValueError in words for numbers that make no sense."""
        if not 0 <= self.noise_share <= 1:
            raise ValueError(f"--noise-share {self.noise_share}: a share from 0 to 1 is needed")
        for name in ("noise_alpha", "soft_temperature"):
            if not 1e-3 <= getattr(self, name) <= 1e3:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: choose 0.001 to 1000")
        check_numbers(self, "soft_plies", least=0)
        check_used(self, "noise_alpha", "noise_share")
        check_used(self, "soft_temperature", "soft_plies")

    def stir(self, priors: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Priors f4 (moves,) with noise among them; their sum stays."""
        noise = random.dirichlet(np.full(len(priors), self.noise_alpha))
        return np.asarray((1 - self.noise_share) * priors + self.noise_share * noise, np.float32)

    def choose(self, visits: np.ndarray, ply: int, random: np.random.Generator) -> int:
        """The index of the move to play, by visits i8 (moves,), of which one is above 0 at least."""
        if ply >= self.soft_plies:
            return int(np.argmax(visits))
        weights = (visits / visits.max()) ** (1 / self.soft_temperature)
        return int(random.choice(len(visits), p=weights / weights.sum()))
