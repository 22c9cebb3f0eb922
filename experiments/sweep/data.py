"""Sets of positions that a plan makes: in one number, of one kind, with one kind of label.

cut      a number of `positions` of sets: of hcpe evenly over all, of hcpe3 whole games drawn at random
expand   positions made of recorded ones, by the options of `experiments.factory.expansion.Expansion`
relabel  other labels for the positions of sets, by the options of `Relabelling` there
tree     positions where searches from those of a set asked their network, in the main search or in quiescence
search   the positions of a set with the scores of searches that leave steps out
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from experiments.factory.cut import check_formats, cut_evenly
from experiments.factory.expand import ExpandTask, Mixture
from experiments.factory.expansion import Expansion, Relabelling, UnmetPositions, expand, relabel
from experiments.factory.labelling import Labelling
from experiments.factory.seen import Seen
from experiments.factory.sources import Sources
from experiments.jobs.produce import produce
from experiments.jobs.workforce import Workforce
from experiments.sweep.training import from_flat
from experiments.sweep.tree import LabelsWithout, TreeTask
from lite.datasets.plan import plan_run
from lite.records.decode import scan_games
from lite.records.formats import HCPE, HCPE3, record_files, record_format
from lite.typed import typed
from search.alphabeta.parameters import STEPS
from search.alphabeta.sampling import MAIN, QUIESCENCE
from search.evaluation.network_file import load_network
from search.system.files import write_atomically
from search.system.metadata import one_line

WHERE = {"main": MAIN, "quiescence": QUIESCENCE}
TREE_SOURCES, SEARCHED_SOURCES = 1024, 4096
"""Recorded positions of a job."""
CUT_SUFFIXES = (".hcpe", ".hcpe3")
"""Suffixes of files of cut positions and of drawn games."""
_MADE_HERE = ("data", "output", "workforce")
"""Fields of an expansion that a plan does not set."""


@dataclass(frozen=True)
class Cut:
    """A number of positions cut from sets."""

    cut: tuple[str, ...]
    positions: int

    @property
    def sources(self) -> tuple[str, ...]:
        """Files and names of sets that positions are cut from."""
        return self.cut

    def make(self, sources: Sequence[Path], output: Path, _: Workforce) -> None:
        """Write the file `output`. Raises as `choose_positions`, and ValueError for a name of another format."""
        suffix = cut_suffix(sources)
        if output.suffix != suffix:
            raise ValueError(f"{output.name}: what is cut of {suffix} is {suffix}; call the set {output.stem}{suffix}")
        choose_positions(sources, self.positions, output)


@dataclass(frozen=True)
class Tree:
    """Positions that searches from those of a set evaluated in the main search or in quiescence."""

    tree: str
    where: Literal["main", "quiescence"]
    positions: int
    every: int = 1
    """Distance between the positions that are taken from the set; 1 takes all."""
    net: str = "default"
    """The network that searches, whose static scores are the labels."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The name of the set whose positions are searched."""
        return (self.tree,)

    def make(self, sources: Sequence[Path], output: Path, workforce: Workforce) -> None:
        """Write shards to the folder `output`. Raises as `produce` does."""
        options = {"where": self.where, "every": self.every}
        plan = plan_run("tree", options, sources={"tree": sources}, nets={"net": self.net})
        task = TreeTask(load_network(self.net), WHERE[self.where])
        records, unmet = Sources(sources, TREE_SOURCES), UnmetPositions(output, Seen())
        jobs, goal = records.jobs(every=self.every), ("positions", self.positions)
        produce(workforce.place(output, HCPE), plan, task, jobs, goal, unmet, total=len(records))
        records.report_refused()


@dataclass(frozen=True)
class Searched:
    """The positions of a set with the scores of searches that leave steps out."""

    search: str
    nodes: int
    without: tuple[str, ...] = ()
    """Steps of the search that are left out."""
    net: str = "default"

    @property
    def sources(self) -> tuple[str, ...]:
        """The name of the set whose positions are searched."""
        return (self.search,)

    def make(self, sources: Sequence[Path], output: Path, workforce: Workforce) -> None:
        """Write shards to the folder `output`. Raises as `produce` does."""
        left_out = sum(1 << STEPS.index(step) for step in set(self.without))
        options = {"nodes": self.nodes, "without": self.without}
        plan = plan_run("search labels", options, sources={"search": sources}, nets={"net": self.net})
        labels = LabelsWithout(load_network(self.net), "search", self.nodes, left_out=left_out)
        task = ExpandTask(Mixture(played=1.0, random=0.0), labels, labels.network, 0.0, 600.0, 1, distinct=False)
        records = Sources(sources, SEARCHED_SOURCES)
        produce(workforce.place(output, HCPE), plan, task, records.jobs(), total=len(records))
        records.report_refused()


@dataclass(frozen=True)
class Made:
    """A set of the factory: expanded, or relabelled."""

    sources: tuple[str, ...]
    options: Relabelling
    factory: Callable[[Any], Any]

    def make(self, sources: Sequence[Path], output: Path, workforce: Workforce) -> None:
        """Write shards to the folder `output`. Raises as `produce` does."""
        self.factory(replace(self.options, data=tuple(sources), output=output, workforce=workforce))


@dataclass(frozen=True)
class Data:
    """A set of a plan."""

    name: str
    """The file or folder in the plan's folder of data; of `cut` a file in .hcpe or .hcpe3."""
    way: Cut | Tree | Searched | Made

    @property
    def sources(self) -> tuple[str, ...]:
        """The files and sets that it is made of."""
        return self.way.sources


def read_data(name: str, entry: Mapping[str, Any]) -> Data:
    """Return a set as its entry describes it. Raises ValueError that names the set."""
    place = f"data {name[:40]!r}"
    ways = [way for way in _WAYS if way in entry]
    if len(ways) != 1:
        raise ValueError(f"{place}: needs exactly one of {', '.join(_WAYS)}")
    way = _WAYS[ways[0]](dict(entry), place)
    for field in ("positions", "every", "nodes"):
        if (value := getattr(way, field, 1)) < 1:
            raise ValueError(f"{place}: {field} = {value}: must be at least 1")
    for step in getattr(way, "without", ()):
        if step not in STEPS:
            raise ValueError(f"{place}: without {step[:40]!r}: no step of the search; choose {', '.join(STEPS)}")
    return Data(name, way)


def _of_factory(way: str, kind: type[Relabelling], parts: Mapping[str, Any], factory: Callable[[Any], Any]) -> Any:
    def read(entry: dict[str, Any], place: str) -> Made:
        sources = entry.pop(way)
        options = from_flat(kind, parts, {"data": sources, **entry}, place, _MADE_HERE[1:])
        return Made(tuple(map(str, options.data)), options, factory)

    return read


_WAYS: dict[str, Callable[[dict[str, Any], str], Cut | Tree | Searched | Made]] = {
    "cut": lambda entry, place: typed(Cut, entry, place),
    "expand": _of_factory("expand", Expansion, {"labels": Labelling, "mixture": Mixture}, expand),
    "relabel": _of_factory("relabel", Relabelling, {"labels": Labelling}, relabel),
    "tree": lambda entry, place: typed(Tree, entry, place),
    "search": lambda entry, place: typed(Searched, entry, place),
}


def refuse_circles(sets: Mapping[str, Data]) -> None:
    """Raise ValueError for a set that is made of itself, directly or by way of others."""
    for name, data in sets.items():
        reached: set[str] = set()
        waiting = list(data.sources)
        while waiting:
            source = waiting.pop()
            if source not in reached:
                reached.add(source)
                waiting += sets[source].sources if source in sets else ()
        if name in reached:
            by = one_line(", ".join(data.sources), 200)
            raise ValueError(f"data {name[:40]!r}: is made of itself, by way of {by}")


def choose_positions(files: Sequence[Path], positions: int, output: Path) -> int:
    """Write a file with `positions` positions of record sets; return their number.

    From hcpe exactly this number is taken, evenly over all. From hcpe3 whole games are drawn at random, the same at
    every call, until they have at least this number. Raises OSError, or ValueError for too few positions, damaged
    games, and other or mixed formats.
    """
    formats = {record_format(path) for path in record_files(files)}
    output.parent.mkdir(parents=True, exist_ok=True)
    if formats == {HCPE3}:
        return _choose_games(files, positions, output)
    check_formats(files)
    return cut_evenly(files, positions, output)


def cut_suffix(files: Sequence[Path]) -> str:
    """Return the suffix of the file that `choose_positions` writes. Raises OSError, ValueError."""
    return CUT_SUFFIXES[{record_format(path) for path in record_files(files)} == {HCPE3}]


def _choose_games(files: Sequence[Path], positions: int, output: Path) -> int:
    games: list[tuple[np.ndarray, int]] = []
    for path in record_files(files):
        raw = np.fromfile(path, np.uint8)
        start = 0
        while start < len(raw):
            stop, _, _, found, error = scan_games(raw, np.int64(start), np.int64(1))
            if error:
                raise ValueError(f"{path}: its games cannot be read from byte {start:,} on; write it again")
            games.append((raw[start:stop], int(found)))
            start = stop
    order = np.random.default_rng(0).permutation(len(games))
    total = np.cumsum([games[game][1] for game in order])
    wanted = int(np.searchsorted(total, positions)) + 1
    if wanted > len(games):
        there = int(total[-1]) if games else 0
        raise ValueError(f"{files[0]}: only {there:,} positions in its games, but {positions:,} are requested")
    chosen = sorted(order[:wanted])
    write_atomically(output, np.concatenate([games[game][0] for game in chosen]).tobytes())
    return sum(games[game][1] for game in chosen)
