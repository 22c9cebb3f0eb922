"""Another model of win rates than the logistic function of a score: that of nnue-pytorch, which Stockfish trains with.

Its two logistic functions, one for a win and one for a loss, are shifted by an offset: in chess the rest are draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lite.training.targets import MATE_SCORE, sigmoid


@dataclass(frozen=True)
class WinRateModel:
    """nnue-pytorch's model of win rates: (1 + sigmoid((s - offset) / scale) - sigmoid((-s - offset) / scale)) / 2."""

    offset: float
    """Offset of both logistic functions in centipawns."""
    scale: float
    """Scale of both logistic functions: centipawns per logit."""
    cp_per_logit: float
    """Centipawns per logit of the network."""

    def of_scores(self, score: np.ndarray) -> np.ndarray:
        """Return the win rates f8 of scores in centipawns; a mate is 0 or 1."""
        centipawns = np.asarray(score, np.float64)
        win, loss = (sigmoid((sign * centipawns - self.offset) / self.scale) for sign in (1, -1))
        mate = np.abs(centipawns) >= MATE_SCORE
        return np.where(mate, (centipawns > 0).astype(np.float64), 0.5 * (1 + win - loss))

    def of_logits(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the win rates of a network's logits."""
        win, loss = (torch.sigmoid((sign * self.cp_per_logit * logits - self.offset) / self.scale) for sign in (1, -1))
        return 0.5 * (1 + win - loss)
