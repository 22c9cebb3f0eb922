"""Labels by two sources, whose win rates are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.labels.deep_labels import DeepLabels
from experiments.labels.labels import Labeller, NetworkLabels, scores_of_rates
from experiments.labels.study import UNLABELLED
from lite.training.targets import win_rate
from search.score import CP_PER_LOGIT


@dataclass(frozen=True)
class AveragedLabels:
    """Labels whose win rate is the mean of several sources' win rates."""

    sources: tuple[NetworkLabels | DeepLabels, ...]
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
    rates = np.mean([win_rate(one, scale) for one, scale in zip(scores, scales, strict=True)], axis=0)
    averaged = np.where((rates == 0) | (rates == 1), scores[0], scores_of_rates(rates, cp_per_logit))
    unlabelled = np.any([one == UNLABELLED for one in scores], axis=0)
    return np.where(unlabelled, UNLABELLED, averaged).astype(np.int16)
