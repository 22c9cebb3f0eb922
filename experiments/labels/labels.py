"""Labels of positions: the static value, quiescence or a search of a network, or another engine's search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from experiments.labels.study import QUIESCENCE, SEARCH, STATIC, UNLABELLED, Studio
from lite.training.targets import MATE_SCORE, sigmoid
from search.evaluation.network import EvalNetwork

Label = Literal["static", "quiescence", "search", "engine"]
HOW = {"static": STATIC, "quiescence": QUIESCENCE, "search": SEARCH}


class Labeller(Protocol):
    """Labels positions."""

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores int16 (n,), moves uint16 (n,)) of hcp codes uint8 (n, 32).

        Scores are centipawns for the mover, UNLABELLED without a label; moves are best moves, 0 if unknown. Raises
        Stopped.
        """

    def forget(self) -> None:
        """Clear memory, so that later labels do not depend on earlier ones."""

    def stop(self) -> None:
        """Stop the running work soon; may be called from any thread."""


@dataclass(frozen=True)
class NetworkLabels:
    """Labels by a network: its static value, its quiescence or its search."""

    network: EvalNetwork
    label: Label = "static"
    nodes: int = 0
    """Nodes per search; 0 means no limit."""
    depth: int = 0
    """Depth per search; 0 means no limit."""

    def open(self) -> Labeller:
        """Create a labeller with memory of its own."""
        return _Network(self)


class _Network:
    def __init__(self, labels: NetworkLabels) -> None:
        self._labels = labels
        self._studio = Studio(labels.network)

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        labels = self._labels
        return self._studio.study(codes, HOW[labels.label], labels.nodes, labels.depth)

    def forget(self) -> None:
        self._studio.forget()

    def stop(self) -> None:
        self._studio.stop()


def blend_results(scores: np.ndarray, results: np.ndarray, share: float, cp_per_logit: float) -> np.ndarray:
    """Return scores int16 (n,) whose win rates are mixed with game results by `share`.

    `results` float64 (n,) are for the mover, NaN for positions without a game. Mate scores stay. A blended score is at
    most ten logits and stays below mate scores.
    """
    logits = scores / cp_per_logit
    rate = (1 - share) * sigmoid(logits) + share * results
    with np.errstate(divide="ignore"):
        blended = np.clip(np.log(rate / (1 - rate)), -10, 10) * cp_per_logit
    blended = np.clip(blended, 1 - MATE_SCORE, MATE_SCORE - 1)
    keep = np.isnan(results) | (scores == UNLABELLED) | (np.abs(scores.astype(np.int64)) >= MATE_SCORE)
    return np.where(keep, scores, np.rint(np.nan_to_num(blended))).astype(np.int16)
