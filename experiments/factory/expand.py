"""Labelled positions of the kinds that a search evaluates, made from recorded ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from experiments.factory.seen import code_hashes
from experiments.factory.walk import sample_codes, walk
from experiments.jobs.protocol import Product
from experiments.labels.kept import TreeKeeper
from experiments.labels.labels import LabelSource, NoLabels, RecordedLabels, blend_results
from experiments.labels.study import QUIESCENCE, SEARCH, UNLABELLED, Studio
from lite.records.formats import NO_RESULT, NO_SCORE, hcpe_dtype
from search.alphabeta.sampling import MAIN, SAMPLES
from search.evaluation.network import EvalNetwork
from search.score import MAX_PLY
from search.system.bounds import check_numbers, check_used
from search.system.options import OptionError

PLAYED, RANDOM, TREE_MAIN, TREE_QUIESCENCE, LEAF, SETTLED, KEPT = range(7)
KINDS = ("played", "random moves", "tree, main search", "tree, quiescence", "leaf", "settled", "kept")
"""Origin of a position."""
MOST_EACH = 10_000
"""Largest number of positions of a kind per recorded one: a job, which is at least 100 of these, stays in memory."""


@dataclass(frozen=True)
class Mixture:
    """Number of positions of each kind that are made from a recorded one, on average."""

    played: float = 1.0
    """Share of the recorded positions that are written unchanged, at most 1; only in the first pass over the data."""
    random: float = 3.0
    """Positions per recorded one after random legal moves."""
    random_moves: int = 4
    """Largest number of random moves that are played; the smallest is one."""
    tree: float = 0.0
    """Positions per recorded one that a search from it evaluated."""
    tree_nodes: int = 1000
    """Nodes of each search whose evaluated positions are taken."""
    tree_each: int = 32
    """Positions taken per such search."""
    leaf: float = 0.0
    """Positions per recorded one, at most 1, at the end of a search's principal variation."""
    leaf_nodes: int = 200
    """Nodes of each search whose principal variation is followed."""
    settled: float = 0.0
    """Positions per recorded one at the end of quiescence's principal variation, after up to `random_moves` random
    moves."""
    kept: float = 0.0
    """Long searches per recorded position, at most 1, from whose tables positions are taken with their backed-up
    scores; these are their labels whatever `label` says."""
    kept_nodes: int = 100_000
    """Nodes of each such search."""
    kept_depth: int = 4
    """Least depth of the results that are taken from its table."""
    kept_each: int = 200
    """Most positions taken per such search, drawn among all that have a label."""

    @property
    def varies(self) -> bool:
        """Whether another pass over the data makes other positions."""
        return self.random > 0 or self.tree > 0 or self.settled > 0

    def check(self) -> None:
        """Raise OptionError for numbers that cannot be used."""
        kinds = ("played", "random", "tree", "leaf", "settled", "kept")
        for name in kinds:
            if not 0 <= (each := getattr(self, name)) < math.inf:
                raise OptionError(f"`{name}` {each}: a number from 0 on is needed", name)
            if each > MOST_EACH:
                raise OptionError(f"`{name}` {each}: must be at most {MOST_EACH:,}", name)
        check_numbers(self, "random_moves", "tree_nodes", "leaf_nodes", "kept_nodes", "kept_each")
        check_numbers(self, "kept_depth", most=MAX_PLY)
        check_numbers(self, "tree_each", most=SAMPLES)
        check_used(self, "random_moves", "random", "settled")
        for name in ("tree_nodes", "tree_each"):
            check_used(self, name, "tree")
        check_used(self, "leaf_nodes", "leaf")
        for name in ("kept_nodes", "kept_depth", "kept_each"):
            check_used(self, name, "kept")
        if self.played > 1 or self.leaf > 1:
            raise OptionError(
                "`played` and `leaf` are at most 1: a recorded position gives one such position", "played", "leaf"
            )
        if self.kept > 1:
            raise OptionError(f"`kept` {self.kept}: must be at most 1, a search of each recorded position", "kept")
        if not any(getattr(self, name) for name in kinds):
            raise OptionError(f"no positions are requested: set {', '.join(f'`{one}`' for one in kinds)}", *kinds)


_Made = tuple[np.ndarray, np.ndarray | int, np.ndarray]
"""Codes, their kind or kinds, and the index of each one's source."""


@dataclass(frozen=True)
class ExpandJob:
    """A block of recorded positions in the `turn`-th pass over the data, from 0 on."""

    number: int
    turn: int
    sources: np.ndarray
    """`hcpe_dtype`."""


@dataclass(frozen=True)
class ExpandTask:
    """Everything a worker needs to make and label positions."""

    mixture: Mixture
    labels: LabelSource
    searched: EvalNetwork
    """Network whose searches are sampled and whose variations are followed."""
    result_share: float
    cp_per_logit: float
    seed: int
    distinct: bool = True
    """Make each position once, shuffled, none in check; else all recorded positions in their order."""

    def open(self) -> ExpandWorker:
        """Create a worker."""
        return ExpandWorker(self)


class ExpandWorker:
    """Makes positions of recorded ones and labels them, as hcpe records."""

    def __init__(self, task: ExpandTask) -> None:
        self._task = task
        self._labeller = task.labels.open()
        self._studio = Studio(task.searched)
        self._keeper = TreeKeeper(task.searched) if task.mixture.kept else None

    def stop(self) -> None:
        """End the job under way."""
        self._labeller.stop()
        self._studio.stop()
        if self._keeper is not None:
            self._keeper.stop()

    def run(self, job: ExpandJob) -> Product:
        """Return the job's positions as hcpe records. Raises Stopped."""
        task = self._task
        random = np.random.default_rng((task.seed, job.number))
        self._studio.forget()
        self._labeller.forget()
        made = self._made(job, random)
        kept_scores = kept_moves = np.zeros(0, np.int16)
        if self._keeper is not None:
            kept_codes, kept_places, kept_scores, kept_moves = _kept(self._keeper, job, task.mixture, random)
            made.append((kept_codes, KEPT, kept_places))
        codes, kinds, places = _joined(made)
        scores, moves = np.zeros(len(codes), np.int16), np.zeros(len(codes), np.uint16)
        scores[kinds == KEPT], moves[kinds == KEPT] = kept_scores, kept_moves
        if task.distinct:
            first = np.unique(code_hashes(codes), return_index=True)[1]
            order = random.permutation(np.sort(first))
            codes, kinds, places, scores, moves = (one[order] for one in (codes, kinds, places, scores, moves))
        others = kinds != KEPT
        scores[others], moves[others] = self._labeller.label(codes[others])
        sources, played = job.sources[places], kinds == PLAYED
        of_game = played & (sources["padding"] != NO_RESULT)  # a source may itself be a made position
        unscored = others & isinstance(task.labels, NoLabels)
        if isinstance(task.labels, RecordedLabels):
            scored = played & (sources["padding"] != NO_SCORE)
            scores[others] = np.where(scored & (scores != UNLABELLED), sources["score"], UNLABELLED)[others]
        kept = np.where(unscored, of_game, scores != UNLABELLED)
        counts = Counter({f"made {KINDS[kind]}": int(((kinds == kind) & kept).sum()) for kind in np.unique(kinds)})
        counts["positions"], counts["sources"] = int(kept.sum()), len(job.sources)
        counts["unlabelled"] = int((~kept).sum())
        records = np.zeros(len(codes), hcpe_dtype)
        records["hcp"], records["score"] = codes, scores
        records["move"] = np.where(moves > 0, moves, np.where(played, sources["move"], 0))
        records["result"] = np.where(of_game, sources["result"], 0)
        records["padding"] = np.where(unscored, NO_SCORE, np.where(of_game, 0, NO_RESULT))
        if task.result_share:
            results = np.where(of_game, _movers_result(sources), np.nan)
            records["score"] = blend_results(scores, results, task.result_share, task.cp_per_logit)
        return Product(records[kept].tobytes(), dict(counts))

    def _made(self, job: ExpandJob, random: np.random.Generator) -> list[_Made]:
        """Return (codes, kind, indices of the sources) for every requested kind."""
        mixture, codes = self._task.mixture, job.sources["hcp"]
        made: list[_Made] = []
        if job.turn == 0 and mixture.played:
            chosen = _chosen(len(codes), mixture.played, random)
            if self._task.distinct:
                chosen = chosen[walk(codes[chosen], 0, 0, seed=1)[2]]  # plays no move, and leaves out what is in check
            made.append((codes[chosen], PLAYED, chosen))
        if mixture.random:
            chosen = _chosen(len(codes), mixture.random, random)
            found, _, places = walk(codes[chosen], 1, mixture.random_moves, int(random.integers(1 << 62)))
            made.append((found, RANDOM, chosen[places]))
        if mixture.tree:
            chosen = _chosen(len(codes), mixture.tree / mixture.tree_each, random)
            seed = int(random.integers(1 << 62))
            samples = self._studio.samples(codes[chosen], mixture.tree_nodes, mixture.tree_each, seed)
            kinds = np.where(samples["where"] == MAIN, TREE_MAIN, TREE_QUIESCENCE)
            made.append((sample_codes(samples), kinds, chosen[samples["source"]]))
        if mixture.leaf:
            chosen = _chosen(len(codes), mixture.leaf, random)
            found, places = self._studio.leaves(codes[chosen], SEARCH, mixture.leaf_nodes)
            made.append((found, LEAF, chosen[places]))
        if mixture.settled:
            chosen = _chosen(len(codes), mixture.settled, random)
            walked, _, origins = walk(codes[chosen], 0, mixture.random_moves, int(random.integers(1 << 62)))
            found, places = self._studio.leaves(walked, QUIESCENCE)
            made.append((found, SETTLED, chosen[origins[places]]))
        return made


def _kept(
    keeper: TreeKeeper, job: ExpandJob, mixture: Mixture, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (codes, index of each one's source, scores, best moves) of positions that long searches keep."""
    keeper.forget()
    found = [(np.zeros((0, 32), np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int16), np.zeros(0, np.uint16))]
    for place in _chosen(len(job.sources), mixture.kept, random):
        codes, scores, moves, _ = keeper.visit(job.sources["hcp"][place], mixture.kept_nodes, mixture.kept_depth)
        taken = random.permutation(np.flatnonzero(scores != UNLABELLED))[: mixture.kept_each]
        found.append((codes[taken], np.full(len(taken), place), scores[taken], moves[taken]))
    codes, places, scores, moves = (np.concatenate(column) for column in zip(*found, strict=True))
    return codes, places, scores, moves


def _chosen(count: int, each: float, random: np.random.Generator) -> np.ndarray:
    """Return indices of `count` positions in order, each of them `each` times on average."""
    times = int(each) + (random.random(count) < each - int(each))
    return np.repeat(np.arange(count), times)


def _joined(
    made: list[_Made],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not made:
        return np.zeros((0, 32), np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64)
    kinds = [np.broadcast_to(np.asarray(kind, np.int64), len(codes)) for codes, kind, _ in made]
    return np.concatenate([one[0] for one in made]), np.concatenate(kinds), np.concatenate([one[2] for one in made])


def _movers_result(sources: np.ndarray) -> np.ndarray:
    """Return the mover's result, f8 (n,), of `hcpe_dtype` records."""
    winner, white = sources["result"] & 3, sources["hcp"][:, 0] & 1
    return np.where(winner == 0, 0.5, (winner - 1 == white).astype(np.float64))
