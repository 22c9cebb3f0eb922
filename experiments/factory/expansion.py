"""Recorded positions out to workers, labelled positions of the wanted kinds back into shards."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.factory.expand import ExpandTask, Mixture
from experiments.factory.seen import Seen, code_hashes
from experiments.factory.sources import Sources
from experiments.jobs.description import Description
from experiments.jobs.produce import produce
from experiments.jobs.protocol import Product
from experiments.jobs.workforce import Workforce
from experiments.labels.labels import HOW, Label, NetworkLabels
from experiments.labels.usi_labels import EngineLabels
from experiments.usi_client.engines import ask_engine
from experiments.usi_client.searcher import why_no_score
from lite.records.file import BLOCK_POSITIONS
from lite.records.formats import HCPE, hcpe_dtype
from search.evaluation.network_file import load_network
from search.score import CP_PER_LOGIT
from search.system.bounds import check_numbers, check_used

NODES_A_JOB = 5_000_000
"""Nodes that a job's searches take, about: a few seconds, which is what a kill costs."""
UNLABELLED_SHARE = 0.1
"""Of the positions that an engine is asked about; when it labels no more than the others, a warning is due."""


@dataclass(frozen=True)
class Labelling:
    """What a position is said to be worth, and by whom."""

    label: Label = "static"
    """static: the network's word, of positions not in check. quiescence: after exchanges are settled. search: of
    --nodes or to a --depth. engine: what a USI engine says, to the same limits."""
    net: str = "default"
    """The network: a file, or `default`."""
    nodes: int = 0
    """Of a search, 0: no limit."""
    depth: int = 0
    """Of a search, 0: no limit."""
    engine: str = ""
    """Command of a USI engine."""
    engine_option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine."""
    result_share: float = 0.0
    """Share of the game's result in the label of a position that was played: its win rate is mixed into the score's."""
    cp_per_logit: float = CP_PER_LOGIT
    """Scale of the scores where results are mixed in: a position with this score is won with probability 0.73."""

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        check_numbers(self, "nodes", "depth", least=0)
        searched, limited = self.label in ("search", "engine"), bool(self.nodes or self.depth)
        if searched and not limited:
            raise ValueError(f"--label {self.label} needs --nodes or --depth")
        if limited and not searched:
            raise ValueError(f"--label {self.label} has no --nodes and no --depth: add --label search")
        if (self.label == "engine") != bool(self.engine):
            raise ValueError("--label engine and --engine COMMAND belong together")
        if self.engine_option and not self.engine:
            raise ValueError("--engine-option: is for --label engine")
        if self.engine and self.net != Labelling.net:
            raise ValueError(f"--net {self.net}: --label engine asks none; leave one of them out")
        if not 0 <= self.result_share <= 1:
            raise ValueError(f"--result-share {self.result_share}: a share from 0 to 1 is needed")
        if not 0 < self.cp_per_logit < math.inf:
            raise ValueError(f"--cp-per-logit {self.cp_per_logit}: a number above 0 is needed")
        check_used(self, "cp_per_logit", "result_share")

    def source(self) -> NetworkLabels | EngineLabels:
        """Who labels. Raises OSError or ValueError in words."""
        if self.label == "engine":
            return EngineLabels(self.engine, self.engine_option, self.nodes, self.depth)
        return NetworkLabels(load_network(self.net), self.label, self.nodes, self.depth)


@dataclass(frozen=True)
class Relabelling:
    """What relabelling is told."""

    data: tuple[Path, ...]
    """Records: hcpe, hcpe3 and psv files, or folders of them."""
    output: Path = Path("runs/relabelled")
    """Folder of the shards, hcpe."""
    labels: Labelling = field(default_factory=Labelling)
    seed: int = 1
    """Of all that is drawn by chance."""
    workforce: Workforce = field(default_factory=Workforce)

    def told(self) -> dict[str, Any]:
        """The options that decide what is made of the data, which the description of it keeps."""
        labels = asdict(self.labels)
        del labels["net"]  # kept by its digest
        return {"labels": labels, "seed": self.seed}


@dataclass(frozen=True)
class Expansion(Relabelling):
    """What expansion is told."""

    output: Path = Path("runs/expanded")
    """Folder of the shards, hcpe."""
    mixture: Mixture = field(default_factory=Mixture)
    searched: str = "default"
    """The network whose searches positions are taken from: a file, or `default`."""
    positions: int | None = None
    """Go through the data again and again until so many are there; without it, once."""

    def told(self) -> dict[str, Any]:
        return super().told() | {"mixture": asdict(self.mixture)}


def relabel(options: Relabelling) -> dict[str, Any]:
    """Give every recorded position another label; the folder's totals, with records_read, refused and first_refused of
    the data, which a line on standard error tells, too. Raises as `produce` does."""
    only_played = Mixture(played=1.0, random=0.0)
    return _work("relabel", options, only_played, options.labels.net, None, Seen(1))


def expand(options: Expansion) -> dict[str, Any]:
    """Make and label positions of the wanted kinds; what `relabel` returns. Raises as `produce` does."""
    options.mixture.check()
    check_numbers(options, "positions", most=None)
    return _work("expand", options, options.mixture, options.searched, options.positions, Seen())


def _work(
    verb: str, options: Relabelling, mixture: Mixture, searched: str, positions: int | None, seen: Seen
) -> dict[str, Any]:
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
    nets = {"labels": labels.net} if labels.label in HOW else {}
    if verb == "expand":
        nets["searched"] = searched
    place = options.workforce.place(options.output, HCPE)
    again = positions is not None and mixture.varies
    sources = Sources(options.data, _sources_a_job(mixture, labels))
    goal = None if positions is None else ("positions", positions)
    finish = Unmet(options.output, seen) if verb == "expand" else None
    engine = ask_engine(labels.engine, labels.engine_option) if labels.engine else None
    description = Description(verb, options.told(), options.data, nets, engine=engine)
    total = None if again else len(sources)
    report = produce(place, description, task, sources.jobs(again), goal, finish, total=total)
    sources.tell_refused()
    if labels.engine:
        _tell_unlabelled(report)
    return report | sources.refusals.figures()


def _tell_unlabelled(report: dict[str, Any]) -> None:
    """Where an engine has told no score of many positions, that they are left out, and why that may be."""
    without = report.get("unlabelled", 0)
    asked = without + report.get("positions", 0) + report.get("met before", 0)
    if without > UNLABELLED_SHARE * asked:
        print(
            f"{report['folder']}: the engine told no score of {without:,} of {asked:,} positions, which are left out "
            f"({why_no_score('--engine-option')})",
            file=sys.stderr,
        )


def _sources_a_job(mixture: Mixture, labels: Labelling) -> int:
    """Recorded positions of a job whose searches take about NODES_A_JOB."""
    made = mixture.played + mixture.random + mixture.tree + mixture.leaf + mixture.settled
    each = made * (labels.nodes or (100_000 if labels.depth else 20))
    each += mixture.tree / mixture.tree_each * mixture.tree_nodes + mixture.leaf * mixture.leaf_nodes
    return int(min(max(NODES_A_JOB / each, 100), BLOCK_POSITIONS))


class Unmet:
    """Leaves out the positions that were made before."""

    def __init__(self, folder: Path, seen: Seen) -> None:
        self._folder, self._seen = folder, seen

    def recall(self) -> None:
        """Remember what the folder holds."""
        for path in sorted(self._folder.glob(f"shard_*.{HCPE}*")):
            records = np.memmap(path, hcpe_dtype, "r", shape=path.stat().st_size // hcpe_dtype.itemsize)
            for start in range(0, len(records), 1 << 20):
                self._seen.add(code_hashes(records["hcp"][start : start + (1 << 20)]))

    def __call__(self, product: Product) -> Product:
        """What of a product was not met."""
        records = np.frombuffer(product.content, hcpe_dtype)
        fresh = self._seen.add(code_hashes(records["hcp"]))
        met = {"positions": int(fresh.sum()), "met before": int((~fresh).sum())}
        return Product(records[fresh].tobytes(), {**product.counts, **met})
