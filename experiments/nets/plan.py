"""Plans: what is trained, on what it is measured, and against whom it plays, as a TOML file says it.

    [train]      options of every training, by the names of a run's config.json; [train.KIND]: of one kind of network
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
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from experiments.nets.data import Data, read_data, refuse_circles
from experiments.nets.space import Space, combinations, ends, in_brief, read_choices
from experiments.nets.training import KINDS, checked_training, default_options
from lite.typed import typed
from search.system.files import read_text
from search.system.metadata import quoted

PLANS = Path(__file__).with_name("plans")
"""Plans that come with the package, called by their names."""
Search = Literal["grid", "random", "tpe", "nsga2"]
_MOST_PARTS = 200
"""Parts of a dotted key: tomllib's time grows with their square, to a minute for a key of 100 KB."""
_OF_A_POINT = ("name", "after", "tables", "line", "seeds", "games")
"""Entries of a [[point]] that are no options of a training."""
_PATH = re.compile(r"[/\\\x00-\x1f]")


@dataclass(frozen=True)
class Measures:
    """What every network is measured on."""

    valid: tuple[str, ...]
    """Held-out games: accuracy, log loss, calibration."""
    positions: int = 0
    """Number of positions of `valid` that finished networks are measured on; 0: all."""
    yardstick: tuple[str, ...] = ()
    """Held-out positions with the scores of long searches: d1-RMSE."""
    residual: str = ""
    """Held-out positions with the teacher's static scores: the residual."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Such positions by their kind: a residual for each."""
    recorded: str = ""
    """Games along which evaluations are timed; random games without."""
    repeats: int = 3
    """Number of timings that must agree; their median counts. 0: nothing is timed."""
    step_rounds: int = 0
    """Number of training steps of each network that are timed, all networks in turn; 0: none are."""

    def files(self) -> tuple[str, ...]:
        """Return all files and sets that networks are measured on."""
        named = (*self.valid, *self.yardstick, self.residual, *self.kinds.values(), self.recorded)
        return tuple(filter(None, named))


@dataclass(frozen=True)
class Play:
    """How networks play, against whom, and which ones do."""

    who: Literal["front", "named", "all"] = "front"
    """front: networks of the plan near the front of d1-RMSE over cost, and all that were made elsewhere; named: points
    with `games = true`; all: every network. Of several seeds of a named point the first plays."""
    by: tuple[Literal["nodes", "time", "clock"], ...] = ("nodes", "time")
    """nodes: at equal nodes. time: at nodes in the ratio of the measured speeds. clock: by `byoyomi`."""
    opponent: str = "default"
    """The common opponent: a network's file or name."""
    nodes: int = 5000
    """Nodes per move of both players, and of the opponent where equal time counts."""
    games: int = 100
    """Games of each way of `by`; 0: no games."""
    openings: str = ""
    """File of openings; random moves from the start without."""
    near: float = 0.003
    """A network is near the front if its d1-RMSE is at most so much above the best that costs no more."""
    win_score: int = 3000
    """Centipawns at which a game ends when both sides report so for 8 plies; 0: games are played to their end."""
    playouts: int = 50
    """Playouts per move of residual networks, which play at those in place of nodes."""
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
    """What the report draws d1-RMSE over, a line for each `line` of the points; empty: an interval per network."""


@dataclass(frozen=True)
class Point:
    """One network of a plan."""

    name: str
    """Name that its results go by, with the seed: given, or made of its kind and a digest of its options."""
    label: str
    """Name in tables: the given one, or the options that differ within the plan."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of its training; none of a network that was made elsewhere."""
    seed: int = 0
    net: str = ""
    """File or name of a network that was made elsewhere."""
    after: str = ""
    """Name of the point whose network of the same seed the training begins from."""
    tables: tuple[str, ...] | None = None
    """Tables that show it; None: all of them."""
    line: str = ""
    """Line of a picture that it is a point of."""
    plays: bool = False

    @property
    def key(self) -> tuple[str, int]:
        return self.name, self.seed


@dataclass(frozen=True)
class _File:
    """The entries of a plan."""

    measure: Measures
    train: dict[str, Any] = field(default_factory=dict)
    play: Play | None = None
    search: Search = "grid"
    points: int = 0
    seed: int = 0
    seeds: tuple[int, ...] = (0,)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    space: tuple[dict[str, Any], ...] = ()
    point: tuple[dict[str, Any], ...] = ()
    peer: tuple[Peer, ...] = ()
    table: dict[str, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """The entry of a network that was made elsewhere."""

    name: str
    net: str
    tables: tuple[str, ...] | None = None
    games: bool = False


@dataclass(frozen=True)
class Plan:
    """A plan, checked."""

    place: str
    """Name of its file, with which errors begin."""
    train: Mapping[str, Any]
    """Options of every point that has none of its own; by kinds, too."""
    measures: Measures
    play: Play | None
    """None: no games."""
    data: Mapping[str, Data]
    search: Search
    """How points are chosen of the spaces."""
    points: int
    """Number of points to choose, unless all of a grid."""
    seed: int
    """Seed of choosing."""
    seeds: tuple[int, ...]
    """Seeds of every point that names none."""
    spaces: tuple[Space, ...]
    given: tuple[Mapping[str, Any], ...]
    """The entries of [[point]]."""
    peers: tuple[Point, ...]
    tables: Mapping[str, Table]

    def point(self, options: Mapping[str, Any]) -> Point:
        """Return the point with these options beside those of all."""
        whole = self._whole(options)
        kind = str(whole.get("kind", ""))
        words = [f"{name} {in_brief(value)}" for name, value in options.items() if name in self._varied.get(kind, ())]
        told = json.dumps({name: value for name, value in whole.items() if name != "seed"}, sort_keys=True)
        name = f"{kind}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
        return Point(name, " ".join([kind, *words]), whole, int(whole.get("seed", 0)))

    @cached_property
    def listed(self) -> tuple[Point, ...]:
        """Points that are named one by one, first seeds first, and networks made elsewhere."""
        found: dict[tuple[str, int], Point] = {}
        named = {entry["name"]: entry for entry in self.given if "name" in entry}

        def add(entry: Mapping[str, Any], seed: int) -> None:
            if base := entry.get("after"):
                add(named[base], seed)
            point = self._named(entry, seed)
            found.setdefault(point.key, point)

        seeds = [self._seeds_of(entry) for entry in self.given]
        for number in range(max(map(len, seeds), default=0)):
            for entry, own in zip(self.given, seeds, strict=True):
                for seed in own[number : number + 1]:
                    add(entry, seed)
        return (*found.values(), *self.peers)

    def grid(self) -> Iterator[Point]:
        """Yield every combination of each space that is not listed, first seeds first."""
        known = {point.key for point in self.listed}
        for number in range(len(self.seeds)):
            for options in chain.from_iterable(map(combinations, self.spaces)):
                for seed in self._seeds_of(options)[number : number + 1]:
                    point = self.point(options | ({"seed": seed} if len(self.seeds) > 1 else {}))
                    if point.key not in known:
                        known.add(point.key)
                        yield point

    def known_points(self) -> tuple[Point, ...]:
        """Return all points that are known before any is done: all but those that a sampler will choose."""
        return (*self.listed, *(self.grid() if self.search == "grid" else ()))

    def where(self, name: str, folder: Path) -> Path:
        """Return where a set or a file lies, made sets being in the plan's `folder`."""
        return folder / "data" / name if name in self.data else Path(name)

    def files(self) -> tuple[str, ...]:
        """Return all files that are not made here and that networks learn from or are measured on."""
        learnt = [name for options in self._all_options() for name in _files(options.get("data", ()))]
        sources = [name for data in self.data.values() for name in data.sources]
        named = (*self.measures.files(), *learnt, *sources)
        return tuple(dict.fromkeys(name for name in named if name and name not in self.data))

    def _all_options(self) -> Iterator[Mapping[str, Any]]:
        """Yield options of trainings whose `data` are all that any point has."""
        yield from (point.options for point in self.listed)
        for space in self.spaces:
            for data in ends(space.get("data", (None,))):
                yield self._whole({} if data is None else {"data": data})

    def _whole(self, options: Mapping[str, Any]) -> dict[str, Any]:
        common = {name: value for name, value in self.train.items() if not isinstance(value, dict)}
        kind = options.get("kind", common.get("kind"))
        of_kind = self.train.get(kind, {}) if isinstance(kind, str) else {}
        return {**common, **of_kind, **options}

    def _seeds_of(self, entry: Mapping[str, Any]) -> tuple[int, ...]:
        if "seed" in entry:
            return (entry["seed"],)
        return tuple(entry.get("seeds", self.seeds))

    def _named(self, entry: Mapping[str, Any], seed: int) -> Point:
        options = {name: value for name, value in entry.items() if name not in _OF_A_POINT}
        point = self.point(options | ({"seed": seed} if seed else {}))
        name = entry.get("name", "")
        tables = entry.get("tables")
        return Point(
            name or point.name,
            name or point.label,
            point.options,
            point.seed,
            after=entry.get("after", ""),
            tables=None if tables is None else tuple(tables),
            line=entry.get("line", ""),
            plays=bool(entry.get("games", False)),
        )

    @cached_property
    def _varied(self) -> Mapping[str, frozenset[str]]:
        """Options whose values differ, by kinds of network: those that labels show."""
        whole: dict[str, list[dict[str, tuple[Any, ...]]]] = {}
        entries: list[Mapping[str, tuple[Any, ...]]] = [
            {name: (value,) for name, value in entry.items() if name not in _OF_A_POINT} for entry in self.given
        ]
        entries += [{name: ends(choices) for name, choices in space.items()} for space in self.spaces]
        for entry in entries:
            for kind in entry.get("kind", (self.train.get("kind"),)):
                common = {**(default_options(kind) if kind in KINDS else {}), **self._whole({"kind": kind})}
                of_kind = whole.setdefault(str(kind), [])
                of_kind.append({name: (value,) for name, value in common.items()} | dict(entry))
        found = {}
        for kind, options in whole.items():
            names = dict.fromkeys(name for one in options for name in one if name not in ("kind", "seed"))
            values = {
                name: {json.dumps(value) for one in options for value in one.get(name, (None,))} for name in names
            }
            found[kind] = frozenset(name for name in names if len(values[name]) > 1)
        return found


def read_plan(path: Path, changes: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan of a TOML file, or of a name of PLANS. Raises OSError, or ValueError that names it."""
    return plan_of(merged(read_entries(path), changes or {}), str(path))


def read_entries(path: Path) -> dict[str, Any]:
    """Return the entries of a plan's file. Raises OSError or ValueError."""
    return _parse(read_text(PLANS / f"{path}.toml" if is_shipped_plan(path) else path), str(path))


def is_shipped_plan(path: Path) -> bool:
    """Return whether a name is that of a plan that comes with the package."""
    return len(path.parts) == 1 and not path.is_file() and (PLANS / f"{path}.toml").is_file()


def read_change(text: str) -> dict[str, Any]:
    """Return the entries of `KEY=VALUE`, the key dotted, the value as TOML has it or a plain text."""
    key, found, value = text.partition("=")
    if not found:
        raise ValueError(f"{text[:40]!r}: a change is KEY=VALUE, as train.epochs=2")
    try:
        return _parse(f"{key} = {value}", text)
    except ValueError:
        return _parse(f"{key} = {json.dumps(value)}", text)


def merged(entries: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries with the changes in their places; tables are merged, all else is replaced."""
    found = dict(entries)
    for name, value in changes.items():
        before = found.get(name)
        found[name] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found


def _parse(text: str, place: str) -> dict[str, Any]:
    if any(part.count(".") > _MOST_PARTS for part in re.split("[=,\n]", text)):
        raise ValueError(f"{place}: a key of more than {_MOST_PARTS} parts, or so many points without a comma")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # Python's own for a number of thousands of digits
        raise ValueError(f"{place}: not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{place}: nested too deeply") from None


def plan_of(entries: Mapping[str, Any], place: str) -> Plan:
    """Return the plan that entries as TOML has them describe. Raises ValueError that begins with `place`."""
    told = typed(_File, dict(entries), place)
    for number in (told.seed, *told.seeds):
        if not 0 <= number < 1 << 31:
            raise ValueError(f"{place}: seed {number}: a whole number from 0 to 2^31 - 1 is needed")
    if not told.seeds or len(set(told.seeds)) < len(told.seeds):
        raise ValueError(f"{place}: seeds: name at least one, and none twice")
    plan = Plan(
        place,
        {name: _plain(value) for name, value in told.train.items()},
        told.measure,
        told.play if told.play and told.play.games else None,
        {name: read_data(name, entry, place) for name, entry in told.data.items()},
        told.search,
        told.points,
        told.seed,
        told.seeds,
        tuple(
            {name: read_choices(_plain(value), f"{place}: {quoted(name)}", told.search) for name, value in one.items()}
            for one in told.space
        ),
        tuple({name: _plain(value) for name, value in one.items()} for one in told.point),
        tuple(Point(one.name, one.name, net=one.net, tables=one.tables, plays=one.games) for one in told.peer),
        told.table,
    )
    _check(plan)
    return plan


def _plain(value: Any) -> Any:
    """Return a value as TOML has it: lists, not tuples."""
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _check(plan: Plan) -> None:
    """Raise ValueError for a plan of which something could not be done."""
    place = plan.place
    if plan.search != "grid" and (plan.points < 1 or not plan.spaces):
        raise ValueError(
            f"{place}: search {plan.search!r} needs `points` of at least 1, and a [[space]] to choose from"
        )
    if plan.search not in ("grid", "random") and not (plan.measures.yardstick and plan.measures.repeats):
        raise ValueError(f"{place}: search {plan.search!r} goes by d1-RMSE and time: give a `yardstick`, and `repeats`")
    if not plan.given and not plan.peers and not plan.spaces:
        raise ValueError(f"{place}: no [[space]], [[point]] or [[peer]]: nothing to do")
    refuse_circles(plan.data, place)
    names: set[str] = set()
    for entry in plan.given:
        _check_point(plan, entry, f"{place}: point {str(entry.get('name', ''))[:40]!r}", names)
        names.add(str(entry.get("name", "")))
    for peer in plan.peers:
        if peer.name in names or _PATH.search(peer.name):
            raise ValueError(f"{place}: peer {peer.name[:40]!r}: needs a name of its own, without a slash")
        names.add(peer.name)
    for space in plan.spaces:
        for options in _extremes(space):
            _check_training(plan, options, place)
    for point in plan.listed:
        if unknown := [table for table in point.tables or () if table not in plan.tables]:
            raise ValueError(f"{place}: {point.label}: tables: no [table.{quoted(unknown[0])}]")
    for name, table in plan.tables.items():
        if table.form == "kinds" and not plan.measures.kinds:
            raise ValueError(f"{place}: table {name!r}: form 'kinds' needs [measure.kinds]")
    if plan.measures.repeats < 0 or plan.measures.step_rounds < 0:
        raise ValueError(f"{place}: measure: `repeats` and `step_rounds` must be at least 0")


def _check_point(plan: Plan, entry: Mapping[str, Any], place: str, names: set[str]) -> None:
    name, after = entry.get("name", ""), entry.get("after", "")
    told = {key: value for key, value in entry.items() if key in _OF_A_POINT}
    typed(_Told, told, place)
    if name and (name in names or _PATH.search(name)):
        raise ValueError(f"{place}: needs a name of its own, without a slash")
    if after and after not in names:
        raise ValueError(f"{place}: after {after[:40]!r}: no earlier point of that name")
    seeds = entry.get("seeds", (0,))
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"{place}: seeds: name at least one, and none twice")
    _check_training(plan, {key: value for key, value in entry.items() if key not in _OF_A_POINT}, place)


@dataclass(frozen=True)
class _Told:
    """Entries of a [[point]] beside options."""

    name: str = ""
    after: str = ""
    tables: tuple[str, ...] = ()
    line: str = ""
    seeds: tuple[int, ...] = (0,)
    games: bool = False


def _check_training(plan: Plan, options: Mapping[str, Any], place: str) -> None:
    whole = plan._whole(options)
    positions = whole.pop("positions", 0)
    if type(positions) is not int or positions < 0:
        raise ValueError(f"{place}: positions {str(positions)[:40]!r}: a whole number is needed, 0 for all")
    data = _files(whole.get("data"))
    if not data:
        raise ValueError(f"{place}: data: a list of files or of sets of [data] is needed")
    suffixes = {Path(name).suffix for name in data if name not in plan.data} - {""}
    if positions and suffixes not in (set(), {".hcpe"}, {".hcpe3"}):
        raise ValueError(
            f"{place}: positions: are cut of hcpe, or of hcpe3 alone, not of {', '.join(sorted(suffixes))}"
        )
    checked_training(whole, place)


def _files(value: Any) -> tuple[str, ...]:
    """Return the files of an option `data`; none for what is no list of files."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return ()


def _extremes(space: Space) -> Iterator[dict[str, Any]]:
    """Yield combinations in which every value that is checked stands once."""
    first = {name: ends(choices)[0] for name, choices in space.items()}
    yield first
    for name, choices in space.items():
        for value in ends(choices)[1:]:
            yield first | {name: value}
