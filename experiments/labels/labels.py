"""What a position is said to be worth: by a network, by a search, or by another engine."""

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
    """Says what positions are worth."""

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Scores i2, moves u2) of hcp codes u1 (n, 32): the mover's centipawns, UNLABELLED where there is none, and
        the best move, 0 where none is known. Raises Stopped."""

    def forget(self) -> None:
        """What follows is to depend on what is asked alone."""

    def stop(self) -> None:
        """End what is under way soon, from any thread."""


@dataclass(frozen=True)
class NetworkLabels:
    """A network's own word: static, after quiescence, or after a search of it."""

    network: EvalNetwork
    label: Label = "static"
    nodes: int = 0
    """Of a search; 0: no limit."""
    depth: int = 0
    """Likewise."""

    def open(self) -> Labeller:
        """The memory of one worker."""
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
    """Scores i2 whose win rates are by `share` the results', f8 (n,): the mover's, NaN where no game stands behind.

    Found mates stay. A position that is won in all respects gets at most a score of ten logits, and one short of those
    that are mates.
    """
    logits = scores / cp_per_logit
    rate = (1 - share) * sigmoid(logits) + share * results
    with np.errstate(divide="ignore"):
        blended = np.clip(np.log(rate / (1 - rate)), -10, 10) * cp_per_logit
    blended = np.clip(blended, 1 - MATE_SCORE, MATE_SCORE - 1)
    keep = np.isnan(results) | (scores == UNLABELLED) | (np.abs(scores.astype(np.int64)) >= MATE_SCORE)
    return np.where(keep, scores, np.rint(np.nan_to_num(blended))).astype(np.int16)
