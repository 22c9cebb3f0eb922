"""Pairs of games as jobs: two players who start every pair with empty memory."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.games.player import Player, PuctPlayer
from experiments.jobs.protocol import Worker
from experiments.matches.alphabeta_pairs import PairWorker
from experiments.matches.pair import PairSettings


@dataclass(frozen=True)
class PairTask:
    """Everything a worker needs to play pairs; a job is a pair's number."""

    first: Player | PuctPlayer
    second: Player | PuctPlayer
    """Second player, of the same kind as the first."""
    settings: PairSettings

    def open(self) -> Worker:
        """Create a worker. Raises TypeError for players of two kinds, whose nodes do not compare."""
        if isinstance(self.first, Player) and isinstance(self.second, Player):
            return PairWorker(self.settings, self.first, self.second)
        if isinstance(self.first, PuctPlayer) and isinstance(self.second, PuctPlayer):
            from experiments.matches.puct_pairs import PuctPairWorker  # needs ONNX Runtime

            return PuctPairWorker(self.settings, self.first, self.second)
        raise TypeError("a player by PUCT and one by alpha-beta do not meet in this process")
