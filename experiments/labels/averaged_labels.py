"""Labels whose win rates are averaged: of two sources, or of a position and its mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from experiments.labels.labels import Labeller, LabelSource, scores_of_rates
from experiments.labels.study import UNLABELLED, mirrored_codes
from lite.training.targets import score_win_rates
from search.score import CP_PER_LOGIT


class ScaledSource(LabelSource, Protocol):
    """A source whose scores have a known scale."""

    @property
    def cp_per_logit(self) -> float:
        """Centipawns of a score per logit of its win rate."""


@dataclass(frozen=True)
class MirroredLabels:
    """Labels whose win rate is the mean of a position's and its mirror image's.

    Shogi is the same game when left and right are exchanged, but networks such as Suisho Petite value the two
    differently. The mean has no such difference.
    """

    source: ScaledSource

    @property
    def cp_per_logit(self) -> float:
        """Scale of the scores, that of the source."""
        return self.source.cp_per_logit

    def open(self) -> Labeller:
        """Create a labeller. Raises OSError or ValueError."""
        return _Mirrored(self)


class _Mirrored:
    def __init__(self, labels: MirroredLabels) -> None:
        self._scale = labels.cp_per_logit
        self._labeller = labels.source.open()

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scores, moves = self._labeller.label(codes)
        images, _ = self._labeller.label(mirrored_codes(codes))
        return average_scores((scores, images), (self._scale, self._scale), self._scale), moves

    def forget(self) -> None:
        self._labeller.forget()

    def stop(self) -> None:
        self._labeller.stop()


@dataclass(frozen=True)
class AveragedLabels:
    """Labels whose win rate is the mean of several sources' win rates."""

    sources: tuple[ScaledSource, ...]
    cp_per_logit: float = CP_PER_LOGIT
    """Centipawns of a label per logit of the mean win rate."""

    def open(self) -> Labeller:
        """Create a labeller of each source. Raises OSError or ValueError."""
        return _Averaged(self)


class _Averaged:
    def __init__(self, labels: AveragedLabels) -> None:
        self._labels = labels
        self._labellers = [source.open() for source in labels.sources]

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [labeller.label(codes) for labeller in self._labellers]
        scales = [source.cp_per_logit for source in self._labels.sources]
        return average_scores([scores for scores, _ in found], scales, self._labels.cp_per_logit), found[0][1]

    def forget(self) -> None:
        for labeller in self._labellers:
            labeller.forget()

    def stop(self) -> None:
        for labeller in self._labellers:
            labeller.stop()


def average_scores(scores: Sequence[np.ndarray], scales: Sequence[float], cp_per_logit: float) -> np.ndarray:
    """Return the scores int16 (n,) of the mean win rates of several sources' scores int16 (n,).

    scales: centipawns per logit of each source. A mate in which all sources agree keeps the first one's score; a
    position that one source does not label is UNLABELLED.
    """
    rates = np.mean([score_win_rates(one, scale) for one, scale in zip(scores, scales, strict=True)], axis=0)
    averaged = np.where((rates == 0) | (rates == 1), scores[0], scores_of_rates(rates, cp_per_logit))
    unlabelled = np.any([one == UNLABELLED for one in scores], axis=0)
    return np.where(unlabelled, UNLABELLED, averaged).astype(np.int16)
