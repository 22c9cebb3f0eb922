"""Relabelling and expansion: recorded positions out to workers, labelled positions back into shards."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from experiments.factory.expand import ExpandTask, Mixture
from experiments.factory.seen import Seen, code_hashes
from experiments.factory.selfplay import check_share
from experiments.factory.sources import Sources
from experiments.jobs.produce import Production, produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from experiments.labels.labels import HOW, Label, NetworkLabels
from experiments.labels.usi_labels import EngineLabels
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.identity import identity_of
from experiments.usi_client.searcher import why_no_score
from lite.datasets.plan import flat, plan_run
from lite.datasets.provenance import sha256_of
from lite.records.file import BLOCK_POSITIONS
from lite.records.formats import HCPE, hcpe_dtype
from search.evaluation.network_file import load_network
from search.score import CP_PER_LOGIT
from search.system.bounds import check_numbers, check_used
from search.system.options import OptionError

NODES_A_JOB = 5_000_000
"""Nodes that a job's searches take, about: a few seconds, which is the work that a kill loses."""
UNLABELLED_SHARE = 0.1
"""Share of the positions that an engine may leave without a score before a warning is printed."""


@dataclass(frozen=True)
class Labelling:
    """How positions are labelled with scores."""

    label: Label = "static"
    """Source of the scores. static: the network's evaluation, of positions not in check. quiescence: the evaluation
    after exchanges are settled. search: a search limited by nodes or depth. engine: a USI engine's search with the same
    limits."""
    net: str = "default"
    """The network that labels: a file, or the name of a shipped one."""
    nodes: int = 0
    """Nodes of each labelling search; 0 means no limit."""
    depth: int = 0
    """Depth of each labelling search; 0 means no limit."""
    engine: str = ""
    """Command of the USI engine that labels."""
    engine_option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine that labels."""
    result_share: float = 0.0
    """Share of the game's result in the label of a played position: the label's win rate is this mixture of the
    result and of the score's win rate."""
    cp_per_logit: float = CP_PER_LOGIT
    """Scale of the scores for mixing in results: a position with this score is won with probability 0.73."""

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_numbers(self, "nodes", "depth", least=0)
        searched, limited = self.label in ("search", "engine"), bool(self.nodes or self.depth)
        if searched and not limited:
            raise OptionError(f"`label` {self.label}: needs `nodes` or `depth`", "label", "nodes", "depth")
        if limited and not searched:
            raise OptionError(
                f"`label` {self.label}: has no `nodes` and no `depth`; use `label` search", "label", "nodes", "depth"
            )
        if (self.label == "engine") != bool(self.engine):
            raise OptionError("`label` engine and `engine` require each other", "label", "engine")
        if self.engine_option and not self.engine:
            raise OptionError("`engine_option`: requires `label` engine", "engine_option", "label")
        if self.engine and self.net != Labelling.net:
            raise OptionError(
                f"`net` {self.net}: has no effect with `label` engine; leave out one of them", "net", "label"
            )
        check_share("result_share", self.result_share)
        if not 0 < self.cp_per_logit < math.inf:
            raise OptionError(f"`cp_per_logit` {self.cp_per_logit}: a number above 0 is needed", "cp_per_logit")
        check_used(self, "cp_per_logit", "result_share")

    def source(self) -> NetworkLabels | EngineLabels:
        """Return what labels positions. Raises OSError or ValueError."""
        if self.label == "engine":
            return EngineLabels(self.engine, self.engine_option, self.nodes, self.depth)
        return NetworkLabels(load_network(self.net), self.label, self.nodes, self.depth)


@dataclass(frozen=True)
class Relabelling:
    """Options of relabelling."""

    data: tuple[Path, ...]
    """Records: hcpe, hcpe3 and psv files, or folders of them."""
    output: Path = Path("runs/relabelled")
    """Folder of the run and its hcpe shards; the same command resumes an interrupted run."""
    labels: Labelling = field(default_factory=Labelling)
    seed: int = 1
    """Seed of everything random."""
    workforce: Workforce = field(default_factory=Workforce)

    def deciding(self) -> Mapping[str, object]:
        """Return the options that decide the made positions, by the names of their fields."""
        labels = asdict(self.labels)
        del labels["net"]  # kept by its digest
        return flat({"labels": labels, "seed": self.seed})


@dataclass(frozen=True)
class Expansion(Relabelling):
    """Options of expansion."""

    output: Path = Path("runs/expanded")
    """Folder of the run and its hcpe shards; the same command resumes an interrupted run."""
    mixture: Mixture = field(default_factory=Mixture)
    searched: str = "default"
    """The network whose searches positions are taken from: a file, or the name of a shipped one."""
    positions: int | None = None
    """Positions to make, going through the data as often as it takes; without it, the data are gone through once."""

    def deciding(self) -> Mapping[str, object]:
        return {**super().deciding(), **asdict(self.mixture)}


def relabel(options: Relabelling) -> Production:
    """Give every recorded position another label; returns the folder's totals and the records that were refused.

    A line on standard error reports refused records. Raises as `produce` does."""
    only_played = Mixture(played=1.0, random=0.0)
    return _work("relabel", options, only_played, options.labels.net, None, Seen(1))


def expand(options: Expansion) -> Production:
    """Make and label positions of the wanted kinds; returns and raises as `relabel` does."""
    options.mixture.check()
    check_numbers(options, "positions", most=None)
    return _work("expand", options, options.mixture, options.searched, options.positions, Seen())


def _work(
    verb: str, options: Relabelling, mixture: Mixture, searched: str, positions: int | None, seen: Seen
) -> Production:
    labels = options.labels
    labels.check()
    check_numbers(options, "seed", least=0, most=None)
    task = ExpandTask(
        mixture,
        labels.source(),
        load_network(searched),
        labels.result_share,
        labels.cp_per_logit,
        options.seed,
        distinct=verb == "expand",
    )
    nets: dict[str, Path | str] = {"net": labels.net} if labels.label in HOW else {}
    if verb == "expand":
        nets["searched"] = searched
    place = options.workforce.place(options.output, HCPE)
    again = positions is not None and mixture.varies
    sources = Sources(options.data, _sources_a_job(mixture, labels))
    goal = None if positions is None else ("positions", positions)
    finish = UnmetPositions(options.output, seen) if verb == "expand" else None
    conditions, files = _engine_of(labels)
    plan = plan_run(
        verb,
        options.deciding(),
        goal={"positions": positions},
        sources={"data": options.data},
        nets=nets,
        conditions=conditions,
        others=files,
    )
    total = None if again else len(sources)
    made = produce(place, plan, task, sources.jobs(again), goal, finish, total=total)
    sources.report_refused()
    if labels.engine:
        _report_unlabelled(made)
    return replace(made, refusals=sources.refusals)


def _engine_of(labels: Labelling) -> tuple[Mapping[str, object], list[Path]]:
    """Return the identity of the engine that labels, as a condition of the run, and its files; nothing without one."""
    if not labels.engine:
        return {}, []
    engine = ask_engine(labels.engine, labels.engine_option)
    files = engine.files()
    return {"engine": identity_of(engine, {path: sha256_of(path) for path in files}).condition()}, files


def _report_unlabelled(made: Production) -> None:
    """Print a warning where an engine has given no score for many positions, which are left out."""
    without = made.count("unlabelled")
    asked = without + made.count("positions") + made.count("met before")
    if without > UNLABELLED_SHARE * asked:
        print(
            f"{made.folder}: the engine gave no score for {without:,} of {asked:,} positions, which are left out "
            f"({why_no_score('engine_option')})",
            file=sys.stderr,
        )


def _sources_a_job(mixture: Mixture, labels: Labelling) -> int:
    """Return the recorded positions per job with which its searches take about NODES_A_JOB."""
    made = mixture.played + mixture.random + mixture.tree + mixture.leaf + mixture.settled
    each = made * (labels.nodes or (100_000 if labels.depth else 20))
    each += mixture.tree / mixture.tree_each * mixture.tree_nodes + mixture.leaf * mixture.leaf_nodes
    return int(min(max(NODES_A_JOB / each, 100), BLOCK_POSITIONS))


class UnmetPositions:
    """Leaves out positions that were made before."""

    def __init__(self, folder: Path, seen: Seen) -> None:
        self._folder, self._seen = folder, seen

    def recall(self) -> None:
        """Remember the positions of the folder."""
        for path in sorted(self._folder.glob(f"shard_*.{HCPE}*")):
            records = np.memmap(path, hcpe_dtype, "r", shape=path.stat().st_size // hcpe_dtype.itemsize)
            for start in range(0, len(records), 1 << 20):
                self._seen.add(code_hashes(records["hcp"][start : start + (1 << 20)]))

    def __call__(self, product: Product) -> Product:
        """Return a product without the positions that are known."""
        records = np.frombuffer(product.content, hcpe_dtype)
        fresh = self._seen.add(code_hashes(records["hcp"]))
        met = {"positions": int(fresh.sum()), "met before": int((~fresh).sum())}
        return Product(records[fresh].tobytes(), {**product.counts, **met})
