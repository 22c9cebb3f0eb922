"""Plans: the points of a plan's entries, with their options, names and labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

from experiments.sweep.data import Data, read_data
from experiments.sweep.entries import Entry, Measures, Play, Table
from experiments.sweep.labels import single_values, varied_options
from experiments.sweep.space import Space, combinations, ends, extremes, option_label, read_choices
from lite.typed import typed
from search.system.metadata import one_line


@dataclass(frozen=True)
class Point:
    """One network of a plan."""

    name: str
    """Key of its results, with the seed: the given name, or its kind with a digest of its options."""
    label: str
    """Name in tables: the given one, or the options that differ within the plan."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of its training; empty for a network that was made elsewhere."""
    seed: int = 0
    net: str = ""
    """File or name of a network that was made elsewhere."""
    after: str = ""
    """Name of the point whose network of the same seed the training begins from."""
    tables: tuple[str, ...] | None = None
    """Tables that show it; None means all."""
    line: str = ""
    """Line of a picture that this point belongs to."""
    plays: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """Name and seed, the key of the point's results."""
        return self.name, self.seed


@dataclass(frozen=True)
class Plan:
    """The entries of a plan, and the points that they describe."""

    measure: Measures
    train: dict[str, Any] = field(default_factory=dict)
    """Default options of every point, also by kind of network."""
    play: Play | None = None
    search: Literal["grid", "random", "tpe", "nsga2"] = "grid"
    """Method that chooses points of the spaces."""
    points: int = 0
    """Number of points to choose, unless all of a grid."""
    seed: int = 0
    """Seed of that choice."""
    seeds: tuple[int, ...] = (0,)
    """Seeds of every point that names none, itself or in `train`."""
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    space: tuple[dict[str, Any], ...] = ()
    point: tuple[dict[str, Any], ...] = ()
    peer: tuple[dict[str, Any], ...] = ()
    table: dict[str, Table] = field(default_factory=dict)

    @property
    def playing(self) -> Play | None:
        """Rules of the games; None means no games."""
        return self.play if self.play and self.play.games else None

    @cached_property
    def sets(self) -> dict[str, Data]:
        """The sets of positions that the plan makes, by name."""
        return {name: read_data(name, entry) for name, entry in self.data.items()}

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """Options and the values that each may have."""
        return tuple(
            {name: read_choices(value, one_line(name), self.search) for name, value in one.items()}
            for one in self.space
        )

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Points that are named one by one, and networks made elsewhere."""
        own = {one.name for one in fields(Entry)} - {"net", "options"}
        given = [
            {name: value for name, value in one.items() if name in own}
            | {"options": {name: value for name, value in one.items() if name not in own}}
            for one in self.point
        ]
        return tuple(typed(Entry, one, place) for one, place in zip((*given, *self.peer), self.places(), strict=True))

    def places(self) -> list[str]:
        """Return how messages name each of `entries`: by its name, or by its number."""
        return [
            f"{what} {str(name)[:40]!r}" if (name := entry.get("name")) else f"{what} {number}"
            for what, entries in (("point", self.point), ("peer", self.peer))
            for number, entry in enumerate(entries, 1)
        ]

    def made(self, options: Mapping[str, Any]) -> Point:
        """Return the point with these options beside those of all."""
        whole = self.whole(options)
        kind = str(whole.get("kind", ""))
        varied = self._varied.get(kind, {})
        words = [option_label(name, value, varied[name]) for name, value in options.items() if name in varied]
        unseeded = json.dumps({name: value for name, value in whole.items() if name != "seed"}, sort_keys=True)
        name = f"{kind}-{hashlib.sha256(unseeded.encode()).hexdigest()[:10]}"
        return Point(name, " ".join([kind, *words]), whole, int(whole.get("seed", 0)))

    @cached_property
    def listed(self) -> tuple[Point, ...]:
        """The points of all entries, first seeds first, each after the one that it begins from."""
        found: dict[tuple[str, int], Point] = {}
        named = {entry.name: entry for entry in self.entries if entry.name}

        def add(entry: Entry, seed: int) -> None:
            if entry.after:
                add(named[entry.after], seed)
            point = self._named(entry, seed)
            found.setdefault(point.key, point)

        seeds = [self._seeds_of(entry) for entry in self.entries]
        for number in range(max(map(len, seeds), default=0)):
            for entry, own in zip(self.entries, seeds, strict=True):
                for seed in own[number : number + 1]:
                    add(entry, seed)
        return tuple(found.values())

    def grid(self) -> Iterator[Point]:
        """Yield every combination of each space that is not listed, first seeds first."""
        known = {point.key for point in self.listed}
        for number, seed in enumerate(self.seeds):
            for options in chain.from_iterable(map(combinations, self.spaces)):
                seeded = {"seed": seed} if self.seeds != (0,) and "seed" not in self.whole(options) else {}
                point = self.made({**options, **seeded})
                if point.key not in known and (seeded or not number):
                    known.add(point.key)
                    yield point

    def known_points(self) -> tuple[Point, ...]:
        """Return all points that are known before any is done: all but those that a sampler will choose."""
        return (*self.listed, *(self.grid() if self.search == "grid" else ()))

    @cached_property
    def most_threads(self) -> int:
        """The largest number of threads of a training."""
        chosen = [self.whole(options) for space in self.spaces for options in extremes(space)]
        return max(int(one.get("threads", 1)) for one in (*(point.options for point in self.listed), *chosen))

    def files(self) -> tuple[str, ...]:
        """Return all files that are not made here and that networks learn from or are measured on."""
        options = [point.options for point in self.listed]
        for space in self.spaces:
            options += [self.whole({} if data is None else {"data": data}) for data in ends(space.get("data", (None,)))]
        learnt = [name for one in options for name in data_of(one)]
        sources = [name for data in self.sets.values() for name in data.sources]
        named = (*self.measure.files(), *learnt, *sources)
        return tuple(dict.fromkeys(name for name in named if name and name not in self.data))

    def whole(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return options with those of all points, and of its kind, that they leave out."""
        common = {name: value for name, value in self.train.items() if not isinstance(value, dict)}
        kind = options.get("kind", common.get("kind"))
        of_kind = self.train.get(kind, {}) if isinstance(kind, str) else {}
        return {**common, **of_kind, **options}

    def _seeds_of(self, entry: Entry) -> tuple[int, ...]:
        if entry.net:
            return (0,)
        if entry.seeds is not None and "seed" not in entry.options:
            return entry.seeds
        whole = self.whole(entry.options)
        return (whole["seed"],) if "seed" in whole else self.seeds

    def _named(self, entry: Entry, seed: int) -> Point:
        seeded = {"seed": seed} if seed != self.whole(entry.options).get("seed", 0) else {}
        found = Point("", "") if entry.net else self.made(entry.options | seeded)
        name, label = found.name, found.label
        if entry.after:
            name, label = f"{name}-after-{entry.after}", f"{label} after {entry.after}"
        return replace(
            found,
            name=entry.name or name,
            label=entry.name or label,
            net=entry.net,
            after=entry.after,
            tables=entry.tables,
            line=entry.line,
            plays=entry.games,
        )

    @cached_property
    def _varied(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Options that labels show, see `varied_options`."""
        given = [single_values(entry.options) for entry in self.entries if not entry.net]
        given += [{name: ends(choices) for name, choices in space.items()} for space in self.spaces]
        return varied_options(given, self.whole)


def data_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files and sets of the option `data`; none for what is no list of files."""
    value = options.get("data")
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return ()
