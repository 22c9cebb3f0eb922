"""Positions for the tables' rows: of one kind, in one number, with one kind of label. Whatever was cut goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.factory.cut import cut_evenly
from experiments.factory.expand import ExpandJob, ExpandTask, Mixture
from experiments.factory.expansion import UnmetPositions
from experiments.factory.seen import Seen
from experiments.factory.sources import Sources
from experiments.factory.walk import sample_codes
from experiments.jobs.produce import Place, produce
from experiments.jobs.protocol import Product
from experiments.labels.labels import NetworkLabels
from experiments.labels.study import SEARCH, STATIC, UNLABELLED, Studio
from experiments.recipe.plan import WHERE, Data
from lite.datasets.plan import plan_run
from lite.records.formats import HCPE, NO_RESULT, hcpe_dtype
from search.alphabeta.parameters import EVERY_STEP, STEPS
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file

TREE_NODES, TREE_EACH = 1000, 32
"""As `liteshogi expand --tree` has them."""
TREE_SOURCES = 1024
SEARCHED_SOURCES = 4096
"""Positions of a job."""


def make_cut(data: Data, folder: Path) -> int:
    """A file of so many positions of hcpe sets, evenly over them all; how many. ValueError where there are fewer."""
    return cut_evenly([folder / name for name in data.cut], data.positions, folder / data.name)


def make_tree(data: Data, folder: Path, teacher: str, workers: int) -> int:
    """Positions that searches from recorded ones asked their network about in one place alone, static labels of the
    network that searched; how many."""
    source, net = folder / data.tree, folder / network_file(teacher)
    told = {"where": data.where, "every": data.every, "nodes": TREE_NODES, "each": TREE_EACH}
    plan = plan_run("recipe tree", told, sources={"data": [source]}, nets={"searched": net})
    place = Place(folder / data.name, HCPE, workers)
    task = TreeTask(load_network(net), WHERE[data.where])
    goal, sources = ("positions", data.positions), Sources([source], TREE_SOURCES)
    jobs, unmet = sources.jobs(every=data.every), UnmetPositions(place.folder, Seen())
    made = produce(place, plan, task, jobs, goal, unmet, total=len(sources))
    sources.report_refused()
    return made.count("positions")


def make_searched(data: Data, folder: Path, teacher: str, workers: int) -> int:
    """The positions of a set with the scores of the teacher's searches, some steps left out; how many."""
    source, net = folder / data.search, folder / network_file(teacher)
    left_out = sum(1 << STEPS.index(step) for step in set(data.without))
    told = {"label": "search", "nodes": data.nodes, "without": data.without}
    plan = plan_run("recipe search", told, sources={"data": [source]}, nets={"labels": net})
    labels = LabelsWithout(load_network(net), "search", data.nodes, left_out=left_out)
    task = ExpandTask(Mixture(played=1.0, random=0.0), labels, labels.network, 0.0, 600.0, 1, distinct=False)
    place = Place(folder / data.name, HCPE, workers)
    sources = Sources([source], SEARCHED_SOURCES)
    made = produce(place, plan, task, sources.jobs(), total=len(sources))
    sources.report_refused()
    return made.count("positions")


@dataclass(frozen=True)
class LabelsWithout(NetworkLabels):
    """Scores of searches that leave steps out."""

    left_out: int = 0
    """A bit each, see `search.alphabeta.parameters`."""

    def open(self) -> StudioWithout:
        """The memory of one worker."""
        return StudioWithout(self)


class StudioWithout(Studio):
    """Labels positions so."""

    def __init__(self, labels: LabelsWithout) -> None:
        super().__init__(labels.network)
        self._thread.record["steps"] = EVERY_STEP & ~labels.left_out
        self._nodes = labels.nodes

    def label(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `experiments.labels.labels.Labeller` has it."""
        return self.study(codes, SEARCH, self._nodes)


@dataclass(frozen=True)
class TreeTask:
    """What a worker needs to sample trees in one place."""

    network: EvalNetwork
    where: int
    """MAIN or QUIESCENCE."""

    def open(self) -> TreeWorker:
        """The memory of one worker."""
        return TreeWorker(self)


class TreeWorker:
    """Samples trees and labels what is found."""

    def __init__(self, task: TreeTask) -> None:
        self._task, self._studio = task, Studio(task.network)

    def stop(self) -> None:
        """End the job under way."""
        self._studio.stop()

    def run(self, job: ExpandJob) -> Product:
        """The job's positions as hcpe records. Raises Stopped."""
        self._studio.forget()
        samples = self._studio.samples(job.sources["hcp"], TREE_NODES, TREE_EACH, job.number + 1)
        codes = np.unique(sample_codes(samples[samples["where"] == self._task.where]), axis=0)
        codes = codes[np.random.default_rng(job.number).permutation(len(codes))]
        scores, _ = self._studio.study(codes, STATIC)
        records = np.zeros(len(codes), hcpe_dtype)
        records["hcp"], records["score"], records["padding"] = codes, scores, NO_RESULT
        kept = records[scores != UNLABELLED]
        return Product(kept.tobytes(), {"positions": len(kept), "sources": len(job.sources)})
