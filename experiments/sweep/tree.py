"""Positions that searches evaluated in one place alone, and scores of searches that leave steps out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.factory.expand import ExpandJob
from experiments.factory.walk import sample_codes
from experiments.jobs.protocol import Product
from experiments.labels.labels import NetworkLabels
from experiments.labels.study import SEARCH, STATIC, UNLABELLED, Studio
from lite.records.formats import NO_RESULT, hcpe_dtype
from search.alphabeta.parameters import EVERY_STEP
from search.evaluation.network import EvalNetwork

TREE_NODES, TREE_EACH = 1000, 32
"""Nodes of a search whose tree is sampled, and positions taken of it: the defaults of `Mixture`."""


@dataclass(frozen=True)
class LabelsWithout(NetworkLabels):
    """Scores of searches that leave steps out."""

    left_out: int = 0
    """A bit per step, in the order of `search.alphabeta.parameters.STEPS`."""

    def open(self) -> StudioWithout:
        """Return the labeller of one worker."""
        return StudioWithout(self)


class StudioWithout(Studio):
    """Labels positions with searches that leave steps out."""

    def __init__(self, labels: LabelsWithout) -> None:
        super().__init__(labels.network)
        self._thread.record["steps"] = EVERY_STEP & ~labels.left_out
        self._nodes = labels.nodes

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return scores and nodes, as `experiments.labels.labels.Labeller` does."""
        return self.study(codes, SEARCH, self._nodes)


@dataclass(frozen=True)
class TreeTask:
    """Everything a worker needs to sample trees in one place."""

    network: EvalNetwork
    where: int
    """MAIN or QUIESCENCE of `search.alphabeta.sampling`."""

    def open(self) -> TreeWorker:
        """Return the worker of one thread or process."""
        return TreeWorker(self)


class TreeWorker:
    """Samples trees, and labels the positions found with the network's static scores."""

    def __init__(self, task: TreeTask) -> None:
        self._task, self._studio = task, Studio(task.network)

    def stop(self) -> None:
        """End the job under way."""
        self._studio.stop()

    def run(self, job: ExpandJob) -> Product:
        """Return the job's positions as hcpe records. Raises Stopped."""
        self._studio.forget()
        samples = self._studio.samples(job.sources["hcp"], TREE_NODES, TREE_EACH, job.number + 1)
        codes = np.unique(sample_codes(samples[samples["where"] == self._task.where]), axis=0)
        codes = codes[np.random.default_rng(job.number).permutation(len(codes))]
        scores, _ = self._studio.study(codes, STATIC)
        records = np.zeros(len(codes), hcpe_dtype)
        records["hcp"], records["score"], records["padding"] = codes, scores, NO_RESULT
        kept = records[scores != UNLABELLED]
        return Product(kept.tobytes(), {"positions": len(kept), "sources": len(job.sources)})
