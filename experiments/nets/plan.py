"""Plans as TOML files: the networks to train, their measures, and their games.

    [train]      options of every training, by the names of a run's run.json; [train.KIND]: of one kind of network
    [measure]    what every network is measured on
    [play]       games, and which networks play them
    [data.NAME]  a set of positions, and how it is made; see `experiments.nets.data`
    [[space]]    options with several values each: a network for every combination, or what `search` chooses
    [[point]]    one network
    [[peer]]     one network that was made elsewhere
    [table.NAME] a table of some of the points, with a picture

Files are named as seen from the folder that the command runs in; a set of [data] goes by its name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from experiments.nets.data import Data, read_data, refuse_circles
from experiments.nets.space import Space, combinations, ends, in_brief, option_label, read_choices
from experiments.nets.training import KINDS, checked_training, default_options, training_of
from lite.training.correction import corrected_network
from lite.training.options import ValueTraining
from lite.typed import typed
from search.system.bounds import check_numbers
from search.system.metadata import one_line
from search.system.options import OptionError

_PATH = re.compile(r"[/\\\x00-\x1f]")


@dataclass(frozen=True)
class Measures:
    """The data on which every network is measured."""

    valid: tuple[str, ...]
    """Held-out games: accuracy, log loss, calibration."""
    positions: int = 0
    """Number of positions of `valid` that finished networks are measured on; 0 means all."""
    yardstick: tuple[str, ...] = ()
    """Held-out positions with the scores of long searches: d1-RMSE."""
    residual: str = ""
    """Held-out positions with the teacher's static scores: the residual."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Such positions by their kind: a residual for each."""
    recorded: str = ""
    """Games along which evaluations are timed; by default random games."""
    repeats: int = 3
    """Number of timings that must agree; their median counts. 0 means that nothing is timed."""
    step_rounds: int = 0
    """Number of training steps of each network that are timed, all networks in turn; 0 means none."""

    def check(self) -> None:
        """Raise ValueError for measures that cannot be taken."""
        if not self.valid:
            raise ValueError("measure: valid: name at least one file of held-out games")
        try:
            check_numbers(self, "positions", "repeats", "step_rounds", least=0)
        except OptionError as error:
            raise ValueError(f"measure: {error}") from None

    def files(self) -> tuple[str, ...]:
        """Return all files and sets that networks are measured on."""
        named = (*self.valid, *self.yardstick, self.residual, *self.kinds.values(), self.recorded)
        return tuple(filter(None, named))


@dataclass(frozen=True)
class Play:
    """Games of the networks: players, opponents and rules."""

    who: Literal["front", "named", "all"] = "front"
    """front: networks of the plan near the front of d1-RMSE over cost, and all that were made elsewhere; named: points
    with `games = true`; all: every network. Of the seeds of a named point the first in the plan plays."""
    by: tuple[Literal["nodes", "time", "clock"], ...] = ("nodes", "time")
    """nodes: at equal nodes. time: at nodes in the ratio of the measured speeds. clock: by `byoyomi`."""
    opponent: str = "default"
    """The common opponent: a network's file or name."""
    nodes: int = 5000
    """Nodes per move of both players, and of the opponent where equal time counts."""
    games: int = 100
    """Games of each way of `by`; 0 means no games."""
    openings: str = ""
    """File of openings; by default random moves from the start position."""
    near: float = 0.003
    """A network is near the front if its d1-RMSE is at most this much above the best that costs no more."""
    win_score: int = 3000
    """Score in centipawns that ends a game when both sides report it for 8 plies; 0 plays games to their end."""
    playouts: int = 50
    """Playouts per move of residual networks, which replace their nodes."""
    opponent_depth: int = 9
    """Depth of the opponent of residual networks."""
    byoyomi: int = 1000
    """Milliseconds per move of games by the clock."""


@dataclass(frozen=True)
class Table:
    """A table of the points that name it."""

    title: str = ""
    form: Literal["nets", "kinds", "seeds", "games"] = "nets"
    """nets: a line per network; kinds: the same with residuals by kind of position; seeds: a column per network, means
    over its seeds, differences to the first one; games: all networks that have played, and what predicts their Elo."""
    over: Literal["", "positions", "result share"] = ""
    """Quantity on the axis of d1-RMSE in the report, a curve per `line` of the points; empty means an interval per
    network."""


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
class Entry:
    """A [[point]] beside the options of its training, or a [[peer]]."""

    name: str = ""
    net: str = ""
    after: str = ""
    tables: tuple[str, ...] | None = None
    line: str = ""
    seeds: tuple[int, ...] | None = None
    games: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def fault(self) -> str:
        """Return an error message; empty if there is none."""
        if _PATH.search(self.name):
            return "name: must have no slash and no control character; choose another"
        if self.seeds is not None and len(set(self.seeds)) < max(len(self.seeds), 1):
            return "seeds: name at least one, and none twice"
        if self.seeds is not None and not all(0 <= seed < 1 << 31 for seed in self.seeds):
            return "seeds: whole numbers from 0 to 2^31 - 1 are needed"
        return ""


@dataclass(frozen=True)
class Plan:
    """The entries of a plan."""

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
        found = []
        for number, entry in enumerate(self.point, 1):
            options = {name: value for name, value in entry.items() if name not in own}
            given = {name: value for name, value in entry.items() if name in own}
            found.append(typed(Entry, given | {"options": options}, _place("point", number, entry.get("name"))))
        for number, entry in enumerate(self.peer, 1):
            found.append(typed(Entry, entry, _place("peer", number, entry.get("name"))))
        return tuple(found)

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
        chosen = [self.whole(options) for space in self.spaces for options in _extremes(space)]
        return max(int(one.get("threads", 1)) for one in (*(point.options for point in self.listed), *chosen))

    def files(self) -> tuple[str, ...]:
        """Return all files that are not made here and that networks learn from or are measured on."""
        options = [point.options for point in self.listed]
        for space in self.spaces:
            options += [self.whole({} if data is None else {"data": data}) for data in ends(space.get("data", (None,)))]
        learnt = [name for one in options for name in _files(one.get("data"))]
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
        return Point(
            entry.name or name,
            entry.name or label,
            found.options,
            found.seed,
            entry.net,
            entry.after,
            entry.tables,
            entry.line,
            entry.games,
        )

    @cached_property
    def _varied(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Options whose values differ, by kinds of network: those that labels show, each with the brief texts that
        several of its values share."""
        whole: dict[str, list[dict[str, tuple[Any, ...]]]] = {}
        given = [{name: (value,) for name, value in entry.options.items()} for entry in self.entries if not entry.net]
        given += [{name: ends(choices) for name, choices in space.items()} for space in self.spaces]
        for entry in given:
            for kind in entry.get("kind", (self.train.get("kind"),)):
                common = {**(default_options(kind) if kind in KINDS else {}), **self.whole({"kind": kind})}
                whole.setdefault(str(kind), []).append({name: (value,) for name, value in common.items()} | entry)
        return {kind: shared_texts(options) for kind, options in whole.items()}

    def check(self) -> None:
        """Raise ValueError for a plan that cannot be carried out."""
        for number in (self.seed, *self.seeds):
            if not 0 <= number < 1 << 31:
                raise ValueError(f"seed {number}: a whole number from 0 to 2^31 - 1 is needed")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds: name at least one, and none twice")
        if self.search != "grid" and (self.points < 1 or not self.spaces):
            raise ValueError(f"search {self.search!r} needs `points` of at least 1, and a [[space]] to choose from")
        if self.search not in ("grid", "random") and not (self.measure.yardstick and self.measure.repeats):
            raise ValueError(f"search {self.search!r} goes by d1-RMSE and time: give a `yardstick`, and `repeats`")
        if not self.entries and not self.spaces:
            raise ValueError("no [[space]], [[point]] or [[peer]]: nothing to do")
        self.measure.check()
        refuse_circles(self.sets)
        names: set[str] = set()
        for number, entry in enumerate(self.entries):
            is_peer = number >= len(self.point)
            place = _place("peer", number - len(self.point) + 1, entry.name) if is_peer else ""
            self._check_entry(entry, is_peer, place or _place("point", number + 1, entry.name), names)
            names.add(entry.name)
        for number, space in enumerate(self.spaces, 1):
            for options in _extremes(space):
                self._check_training(options, _place("space", number, None) if len(self.spaces) > 1 else "space")
        for name, table in self.table.items():
            if table.form == "kinds" and not self.measure.kinds:
                raise ValueError(f"table {name!r}: form 'kinds' needs [measure.kinds]")

    def check_effects(self, plays: bool) -> None:
        """Raise OSError or ValueError for what a sweep refuses and a report ignores: entries without effect, and
        corrections that cannot be added to their networks.

        `plays`: whether the plan's games are played."""
        if self.search == "grid" and self.points:
            raise ValueError(f"points {self.points}: search 'grid' takes every combination; choose 'random' for fewer")
        if self.search != "grid" and self.seeds != (0,):
            raise ValueError(
                f"seeds: have no effect on points that search {self.search!r} chooses; put `seed` in the [[space]], "
                "and `seeds` in each [[point]]"
            )
        if self.seeds != (0,) and "seed" in self.train:
            raise ValueError("seeds: have no effect beside `seed` of [train]; leave out one")
        for number, given in enumerate(self.point, 1):
            if {"seed", "seeds"} <= given.keys():
                place = _place("point", number, given.get("name"))
                raise ValueError(f"{place}: seeds: have no effect beside `seed`; leave out one")
        for number, given in enumerate(self.peer, 1):
            if idle := sorted(given.keys() & {"after", "line", "options", "seeds"}):
                place = _place("peer", number, given.get("name"))
                raise ValueError(f"{place}: {', '.join(idle)}: no effect on a network made elsewhere; leave it out")
        if plays and self.playing and self.playing.who == "named" and not any(entry.games for entry in self.entries):
            raise ValueError("play: who = 'named', but no point has `games = true`")
        for point in self.known_points():
            training = training_of(point.options, point.label) if "correct" in point.options else None
            if isinstance(training, ValueTraining):
                try:
                    corrected_network(training)
                except ValueError as error:
                    raise ValueError(f"{point.label}: {error}") from None

    def _check_entry(self, entry: Entry, is_peer: bool, place: str, names: set[str]) -> None:
        fault = entry.fault()
        if entry.name and entry.name in names:
            fault = "another point or peer has this name; choose a name of its own"
        if entry.after and entry.after not in names:
            fault = f"after {entry.after[:40]!r}: no earlier point of that name"
        if unknown := [name for name in entry.tables or () if name not in self.table]:
            fault = f"tables: no [table.{one_line(unknown[0])}]"
        if is_peer and not (entry.name and entry.net):
            fault = "needs a name and a net"
        if fault:
            raise ValueError(f"{place}: {fault}")
        if not entry.net:
            self._check_training(entry.options, place)

    def _check_training(self, options: Mapping[str, Any], place: str) -> None:
        whole = self.whole(options)
        positions, data = whole.get("positions", 0), _files(whole.get("data"))
        if type(positions) is not int or positions < 0:
            raise ValueError(f"{place}: positions {str(positions)[:40]!r}: a whole number is needed, 0 for all")
        if not data:
            raise ValueError(f"{place}: data: a list of files or of sets of [data] is needed")
        suffixes = {Path(name).suffix for name in data if name not in self.data} - {""}
        if positions and suffixes not in (set(), {".hcpe"}, {".hcpe3"}):
            of = ", ".join(sorted(suffixes))
            raise ValueError(f"{place}: positions: are cut of hcpe, or of hcpe3 alone, not of {of}")
        checked_training(whole, place)


def plan_of(entries: Mapping[str, Any], place: str) -> Plan:
    """Return the plan of a TOML document's entries. Raises ValueError that begins with `place`."""
    for name in ("space", "point", "peer"):
        if isinstance(entries.get(name), dict):
            raise ValueError(f"{place}: [{name}]: there may be several, so write [[{name}]]")
    plan = typed(Plan, dict(entries), place)
    try:
        plan.check()
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return plan


def _place(what: str, number: int, name: Any) -> str:
    """Return how messages name an entry of a plan: by its name, or by its number."""
    return f"{what} {str(name)[:40]!r}" if name else f"{what} {number}"


def by_kind(given: Iterable[Mapping[str, Any]]) -> Mapping[str, list[Mapping[str, tuple[Any, ...]]]]:
    """Return the options of single networks, with the defaults of their kind, by kind, as `shared_texts` takes them."""
    found: dict[str, list[Mapping[str, tuple[Any, ...]]]] = {}
    for options in given:
        whole = {**default_options(kind := str(options["kind"])), **options}
        found.setdefault(kind, []).append({name: (value,) for name, value in whole.items()})
    return found


def shared_texts(options: Sequence[Mapping[str, tuple[Any, ...]]]) -> Mapping[str, frozenset[str]]:
    """Return the options that have several values, each with the brief texts that several of its values share."""
    found = {}
    for name in dict.fromkeys(name for one in options for name in one if name not in ("kind", "seed")):
        values = {json.dumps(value): value for one in options for value in one.get(name, (None,))}
        if len(values) > 1:
            texts = Counter(map(in_brief, values.values()))
            found[name] = frozenset(text for text, count in texts.items() if count > 1)
    return found


def _files(value: Any) -> tuple[str, ...]:
    """Return the files of an option `data`; none for what is no list of files."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return ()


def _extremes(space: Space) -> Iterator[Mapping[str, Any]]:
    """Yield combinations that contain every checked value."""
    first = {name: ends(choices)[0] for name, choices in space.items()}
    yield first
    for name, choices in space.items():
        for value in ends(choices)[1:]:
            yield first | {name: value}
