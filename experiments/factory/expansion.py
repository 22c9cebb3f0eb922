"""Relabelling and expansion: workers label recorded or generated positions, which are written into shards."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from experiments.factory.expand import ExpandTask, Mixture
from experiments.factory.labelling import Labelling
from experiments.factory.seen import Seen, code_hashes
from experiments.factory.sources import Sources
from experiments.jobs.produce import Production, produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.identity import identity_of
from experiments.usi_client.searcher import why_no_score
from lite.datasets.plan import plan_run
from lite.datasets.provenance import sha256_of
from lite.records.file import BLOCK_POSITIONS
from lite.records.formats import HCPE, hcpe_dtype
from search.evaluation.network_file import load_network
from search.system.bounds import check_numbers
from search.system.options import OptionError

NODES_A_JOB = 5_000_000
"""Approximate number of nodes of a job's searches: a few seconds, which is the work that a kill loses."""
NODES_A_DEEP_LABEL = 2500
"""Nodes that a policy-value network's label counts as: fewer than it takes on a CPU, where a job of 2,000 labels takes
20 seconds for 10 blocks of 128 channels, and more than on a GPU."""
UNLABELLED_SHARE = 0.1
"""Share of the positions that an engine may leave without a score before a warning is printed."""


@dataclass(frozen=True)
class Relabelling:
    """Options of relabelling."""

    data: tuple[Path, ...]
    """Records: hcpe, hcpe3, psv and pack files, or folders of them."""
    output: Path = Path("runs/relabelled")
    """Folder of the run and its hcpe shards; the same command resumes an interrupted run."""
    labels: Labelling = field(default_factory=Labelling)
    seed: int = 1
    """Seed of everything random."""
    workforce: Workforce = field(default_factory=Workforce)

    def deciding(self) -> Mapping[str, object]:
        """Return the options that decide the made positions, by the names of their fields."""
        return {**self.labels.deciding(), "seed": self.seed}


@dataclass(frozen=True)
class Expansion(Relabelling):
    """Options of expansion."""

    output: Path = Path("runs/expanded")
    """Folder of the run and its hcpe shards; the same command resumes an interrupted run."""
    mixture: Mixture = field(default_factory=Mixture)
    searched: str = "default"
    """The network whose searches positions are taken from: a file, or the name of a shipped one."""
    positions: int | None = None
    """Positions to make, in as many passes over the data as needed; without it, one pass."""

    def deciding(self) -> Mapping[str, object]:
        return {**super().deciding(), **asdict(self.mixture)}


def relabel(options: Relabelling) -> Production:
    """Give every recorded position another label; returns the folder's totals and the records that were refused.

    A line on standard error reports refused records. Raises as `produce` does."""
    only_played = Mixture(played=1.0, random=0.0)
    return _work("relabel", options, only_played, Expansion.searched, None, Seen(1))


def expand(options: Expansion) -> Production:
    """Make and label positions of the requested kinds; returns and raises as `relabel` does."""
    options.mixture.check()
    check_numbers(options, "positions", most=None)
    return _work("expand", options, options.mixture, options.searched, options.positions, Seen())


def _work(
    verb: str, options: Relabelling, mixture: Mixture, searched: str, positions: int | None, seen: Seen
) -> Production:
    labels = options.labels
    labels.check()
    check_numbers(options, "seed", least=0, most=None)
    scale = labels.scale()
    task = ExpandTask(
        mixture,
        labels.source(),
        load_network(searched),
        labels.result_share,
        scale,
        options.seed,
        distinct=verb == "expand",
    )
    nets = labels.nets()
    if verb == "expand":
        nets["searched"] = searched
    place = options.workforce.place(options.output, HCPE)
    again = positions is not None and mixture.varies
    sources = Sources(options.data, _sources_a_job(mixture, labels), labels.discount, scale)
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
    if made.ended == "jobs" and not made.count("positions"):
        raise OptionError(
            f"`data` {options.data[0]}: {options.output} has no position, {_why_none(made, labels)}", "data"
        )
    return replace(made, refusals=sources.refusals)


def _engine_of(labels: Labelling) -> tuple[Mapping[str, object], list[Path]]:
    """Return the identity of the engine that labels, as a condition of the run, and its files; both are empty without
    an engine."""
    if not labels.engine:
        return {}, []
    engine = ask_engine(labels.engine, labels.engine_option)
    files = engine.files()
    return {"engine": identity_of(engine, {path: sha256_of(path) for path in files}).condition()}, files


def _why_none(made: Production, labels: Labelling) -> str:
    """Return why no position was made, as the end of a sentence."""
    if made.count("unlabelled"):
        without = "comes from a game" if labels.label == "result" else "has a label"
        return f"because none of {made.count('unlabelled'):,} {without}; give other records or another label"
    return f"because none was drawn from {made.count('sources'):,}; request more, or give more records"


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
    each = made * _nodes_a_label(labels) * labels.labellings
    each += mixture.tree / mixture.tree_each * mixture.tree_nodes + mixture.leaf * mixture.leaf_nodes
    each += mixture.kept * mixture.kept_nodes
    least = 10 if mixture.kept else 100
    return int(min(max(NODES_A_JOB / each, least), BLOCK_POSITIONS))


def _nodes_a_label(labels: Labelling) -> int:
    """Return the nodes of a label, or a number of nodes that take about as long."""
    if labels.label == "network":
        return NODES_A_DEEP_LABEL
    return labels.nodes or (100_000 if labels.depth else 20)


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
