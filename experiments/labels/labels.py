"""Labels of positions by a network's static value, quiescence or search, and the conversion of win rates to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from experiments.labels.study import QUIESCENCE, SEARCH, STATIC, UNLABELLED, Studio
from lite.training.targets import MATE_SCORE, sigmoid
from search.evaluation.network import EvalNetwork

Label = Literal["static", "quiescence", "search", "engine", "network", "recorded", "result"]
LOGIT_LIMIT = 10.0
"""Largest logit of a score that is made of a win rate."""
SETTLED_CP = 3
"""Largest difference between quiescence and static value of a settled position, in centipawns."""
HOW = {"static": STATIC, "quiescence": QUIESCENCE, "search": SEARCH}


class Labeller(Protocol):
    """Gives each position a score and, if known, a best move."""

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores int16 (n,), moves uint16 (n,)) of hcp codes uint8 (n, 32).

        Scores are centipawns for the mover, UNLABELLED without a label; moves are best moves, 0 if unknown. Raises
        Stopped.
        """

    def forget(self) -> None:
        """Clear memory, so that later labels do not depend on earlier ones."""

    def stop(self) -> None:
        """Stop the running work soon; may be called from any thread."""


class LabelSource(Protocol):
    """Everything a worker needs to label positions; picklable."""

    def open(self) -> Labeller:
        """Create a labeller with memory of its own. Raises OSError or ValueError."""


@dataclass(frozen=True)
class NetworkLabels:
    """Labels by a network: its static value, its quiescence or its search."""

    network: EvalNetwork
    label: Label = "static"
    nodes: int = 0
    """Nodes per search; 0 means no limit."""
    depth: int = 0
    """Depth per search; 0 means no limit."""

    @property
    def cp_per_logit(self) -> float:
        """Scale of the scores."""
        return self.network.cp_per_logit

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


@dataclass(frozen=True)
class RecordedLabels:
    """The scores that records have, of settled positions: those whose quiescence by a network is its static value.

    The label of a settled position is 0, in place of the score, which its code does not have.
    """

    network: EvalNetwork

    def open(self) -> Labeller:
        """Create a labeller with memory of its own."""
        return _Settled(self.network)


class _Settled:
    def __init__(self, network: EvalNetwork) -> None:
        self._studio = Studio(network)

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        static, _ = self._studio.study(codes, STATIC)
        quiescence, _ = self._studio.study(codes, QUIESCENCE)
        changed = np.abs(quiescence.astype(np.int64) - static) > SETTLED_CP
        scores = np.where((static == UNLABELLED) | changed, UNLABELLED, 0).astype(np.int16)
        return scores, np.zeros(len(codes), np.uint16)

    def forget(self) -> None:
        self._studio.forget()

    def stop(self) -> None:
        self._studio.stop()


@dataclass(frozen=True)
class NoLabels:
    """No scores: positions learn from their games' results."""

    def open(self) -> Labeller:
        """Create a labeller."""
        return _Nothing()


class _Nothing:
    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(codes), np.int16), np.zeros(len(codes), np.uint16)

    def forget(self) -> None: ...

    def stop(self) -> None: ...


def scores_of_rates(rates: np.ndarray, cp_per_logit: float) -> np.ndarray:
    """Return scores int16 (n,) of win rates float64 (n,), at most LOGIT_LIMIT logits."""
    with np.errstate(divide="ignore"):
        logits = np.clip(np.log(rates / (1 - rates)), -LOGIT_LIMIT, LOGIT_LIMIT)
    return np.rint(np.clip(logits * cp_per_logit, 1 - MATE_SCORE, MATE_SCORE - 1)).astype(np.int16)


def blend_results(scores: np.ndarray, results: np.ndarray, share: float, cp_per_logit: float) -> np.ndarray:
    """Return scores int16 (n,) whose win rates are mixed with game results by `share`.

    `results` float64 (n,) are for the mover, NaN for positions without a game. Mate scores stay. A blended score is at
    most ten logits and stays below mate scores.
    """
    rate = (1 - share) * sigmoid(scores / cp_per_logit) + share * results
    keep = np.isnan(results) | (scores == UNLABELLED) | (np.abs(scores.astype(np.int64)) >= MATE_SCORE)
    return np.where(keep, scores, scores_of_rates(np.where(keep, 0.5, rate), cp_per_logit))
