"""What a sweep is told: a TOML file, typed.

Files are named as seen from the folder that the command runs in. Options of a training go by the names that they have
in `liteshogi train`, and in a run's config.json; beside them stand `kind`, and `positions`: so many of the data, evenly
over all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

from experiments.factory.cut import check_formats
from experiments.jobs.toml_file import read_toml, typed
from lite.networks.build import CONFIGS
from lite.training.options import ValueTraining
from search.system.bounds import MOST_AT_ONCE
from search.system.metadata import quoted

KINDS = ("lite", "untied", "dense", "half_kp", "k_p")
"""Of networks that the engine evaluates."""
MOST_VALUES = 10_000
"""Of a range."""
Word = str | int | float | bool
Option = Word | list[Word]
"""The value of an option of a training."""
SEARCHES = ("grid", "random", "tpe", "nsga2")
OF_A_CALL = ("output", "resume", "overwrite", "max-steps")
"""Options of one call of `liteshogi train`: a sweep calls it as often as it takes to train a net to the end."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`."""

    low: float
    high: float
    step: float | None = None
    log: bool = False
    """Equal ratios are as likely, in place of equal distances."""

    @property
    def whole(self) -> bool:
        """Whether all are whole numbers."""
        return all(isinstance(one, int) for one in (self.low, self.high, self.step or 1))

    def values(self) -> list[Any]:
        """All of them, of a range with a step, as the decimal fractions that they are written as."""
        low, high, step = (Decimal(str(one)) for one in (self.low, self.high, self.step))
        found = [low + number * step for number in range(int((high - low) // step) + 1)]
        return [int(one) if self.whole else float(one) for one in found]


Space = Mapping[str, "tuple[Any, ...] | Range"]
"""Options, and the values that each may have."""


@dataclass(frozen=True)
class Point:
    """A net of the sweep."""

    options: Mapping[str, Any]
    """Of its training."""
    label: str
    """The options that tell it from others, or its name."""
    net: str = ""
    """The file of a net that was made elsewhere, which is measured alike."""

    @cached_property
    def name(self) -> str:
        """Its folder's, and what results go by: equal options, equal name."""
        if self.net:
            return self.label
        told = json.dumps({name: value for name, value in self.options.items() if name != "seed"}, sort_keys=True)
        return f"{self.options['kind']}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"

    @property
    def seed(self) -> int:
        return int(self.options.get("seed", 0))


@dataclass(frozen=True)
class Measures:
    """What every net is measured on."""

    valid: tuple[str, ...]
    """Held-out games."""
    yardstick: tuple[str, ...]
    """Held-out positions with the scores of long searches, of d1-RMSE."""
    recorded: str = ""
    """Games along which evaluations are timed; random ones without."""
    repeats: int = 3
    """Times that a net is timed; the median counts."""


@dataclass(frozen=True)
class Play:
    """How nets near the front and those made elsewhere play, and against whom."""

    opponent: str = "default"
    """A network's file or name."""
    nodes: int = 5000
    """A move, of both, and of the opponent where equal time is what counts."""
    games: int = 100
    """By equal nodes, and as many by equal time."""
    openings: str = ""
    near: float = 0.003
    """Own nets play whose d1-RMSE is at most so much above the best own net that costs no more."""
    win_score: int = 3000
    """Centipawns at which a game is over when both sides say so for 8 plies."""


@dataclass(frozen=True)
class Configuration:
    """All of it."""

    train: Mapping[str, Any]
    """Options of every point, where it has none of its own."""
    measures: Measures
    play: Play | None
    """None: nobody plays."""
    search: str
    """How points are chosen of the spaces: one of SEARCHES."""
    points: int
    """How many, where they are not all of a grid."""
    seed: int
    """Of choosing."""
    spaces: tuple[Space, ...]
    listed: tuple[Point, ...]
    """Points that are named one by one, and nets made elsewhere."""

    def point(self, options: Mapping[str, Any]) -> Point:
        """The point with these options beside those of all."""
        words = [f"{name} {in_brief(value)}" for name, value in options.items() if name != "kind"]
        whole = {**self.train, **options}
        return Point(whole, " ".join([str(whole.get("kind", "")), *words]))

    def grid(self) -> Iterator[Point]:
        """Every combination of each space."""
        for space in self.spaces:
            values = [choices.values() if isinstance(choices, Range) else choices for choices in space.values()]
            for chosen in product(*values):
                yield self.point(dict(zip(space, chosen, strict=True)))


@dataclass(frozen=True)
class _File:
    """The entries of a sweep."""

    measure: dict[str, Any] = field(default_factory=dict)
    train: dict[str, Option] = field(default_factory=dict)
    play: dict[str, Any] | None = None
    search: str = "grid"
    points: int = 0
    seed: int = 0
    space: tuple[dict[str, Option | list[Option] | dict[str, Any]], ...] = ()
    point: tuple[dict[str, Option], ...] = ()
    peer: tuple[dict[str, str], ...] = ()


def read_configuration(path: Path) -> Configuration:
    """The sweep that a TOML file describes. Raises OSError, or ValueError in words."""
    told = typed(_File, read_toml(path), str(path))
    if told.search not in SEARCHES:
        raise ValueError(f"{path}: search {told.search[:40]!r}: choose {', '.join(SEARCHES)}")
    if not 0 <= told.seed < 1 << 31:
        raise ValueError(f"{path}: seed {told.seed}: a whole number from 0 to 2^31 - 1 is needed")
    for name in chain(told.train, *told.space, *told.point):
        if name.replace("_", "-") in OF_A_CALL:
            raise ValueError(
                f"{path}: {name}: a sweep trains each net to the end, in a folder of its own; leave it out"
            )
    made = Configuration(
        told.train,
        typed(Measures, told.measure, f"{path}: measure"),
        None if told.play is None else typed(Play, told.play, f"{path}: play"),
        told.search,
        told.points,
        told.seed,
        tuple(
            {name: _choices(value, f"{path}: {quoted(name)}", told.search) for name, value in one.items()}
            for one in told.space
        ),
        (),
    )
    _check_options(made, told.point, path)
    if told.search != "grid" and (made.points < 1 or not made.spaces):
        raise ValueError(f"{path}: search {told.search!r} needs `points` of at least 1, and a [[space]] to choose from")
    listed = list({(one.name, one.seed): one for one in map(made.point, told.point)}.values())
    for entry in told.peer:
        if entry.keys() != {"name", "net"}:
            raise ValueError(f"{path}: a [[peer]] has a name and a net, not {quoted(', '.join(entry)) or 'nothing'}")
        if any(entry["name"] == one.label for one in listed if one.net):
            raise ValueError(f"{path}: two [[peer]]s are called {entry['name'][:40]!r}")
        listed.append(Point({}, entry["name"], entry["net"]))
    whole = Configuration(**{**vars(made), "listed": tuple(listed)})
    for one in (*listed, *_first_of_each(whole)):
        kind = one.options.get("kind")
        if not one.net and kind not in KINDS:
            raise ValueError(f"{path}: kind {str(kind)[:40]!r}: a sweep's nets are {', '.join(KINDS)}")
    if not listed and not whole.spaces:
        raise ValueError(f"{path}: no [[space]], [[point]] or [[peer]]: nothing to do")
    return whole


def _check_options(made: Configuration, points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """ValueError for options that the sweep itself goes by, before a training is there to refuse them."""
    for options in (made.train, *points):
        for name, value in options.items():
            _check_option(name, value, path)
    for space in made.spaces:
        for name, choices in space.items():
            ends = (choices.low, choices.high, choices.step or 1) if isinstance(choices, Range) else choices
            for value in ends:
                _check_option(name, value, path)
    for options in (*points, *made.spaces):
        whole = {**made.train, **options}
        if "positions" in whole and "data" not in whole:
            raise ValueError(f"{path}: positions: are so many of `data`, which must be given beside them")
        if any(_alternatives(whole.get("positions", 0))):
            for data in _alternatives(whole["data"]):
                _check_cut(data, path)


def _alternatives(choices: Any) -> tuple[Any, ...]:
    """What an option may be, of a range its ends."""
    if isinstance(choices, Range):
        return choices.low, choices.high
    return choices if isinstance(choices, tuple) else (choices,)


def _check_cut(data: list[str], path: Path) -> None:
    try:
        check_formats([Path(name) for name in data])
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path}: positions: {quoted(error, 400)}, or leave `positions` out to learn from all"
        ) from None


@cache
def _names() -> frozenset[str]:
    """Of the options that trainings of some kind take, and of the sweep's own."""
    kinds = [ValueTraining((), network=network()).configuration() for network in CONFIGS.values()]
    return frozenset(chain(("positions",), *kinds))


def _check_option(name: str, value: Any, path: Path) -> None:
    if name.replace("_", "-") not in _names():
        near = get_close_matches(name[:40].replace("_", "-"), _names(), 1)  # the time grows with the square of a length
        meant = f"; is {near[0]} meant?" if near else ""
        name = quoted(name)
        raise ValueError(f"{path}: {name}: no `liteshogi train` of a sweep's kinds has such an option{meant}")
    is_whole = type(value) is int
    wanted = {
        "data": (_is_list_of_files(value), "a list of files is needed"),
        "positions": (is_whole and value >= 0, "a whole number is needed, 0 for all"),
        "seed": (is_whole and 0 <= value < 1 << 64, "a whole number from 0 to 2^64 - 1 is needed"),
        "threads": (is_whole and 1 <= value <= MOST_AT_ONCE, f"a whole number from 1 to {MOST_AT_ONCE:,} is needed"),
    }
    fits, words = wanted.get(name, (True, ""))
    if not fits:
        raise ValueError(f"{path}: {name} {str(value)[:40]!r}: {words}")


def _is_list_of_files(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _first_of_each(whole: Configuration) -> Iterator[Point]:
    for space in whole.spaces:
        kinds = space.get("kind", (whole.train.get("kind"),))
        for kind in kinds.values() if isinstance(kinds, Range) else kinds:
            yield whole.point({"kind": kind})


def _choices(value: Any, place: str, search: str) -> tuple[Any, ...] | Range:
    """A list's values, a table's range, or the one value."""
    if isinstance(value, dict):
        found = typed(Range, value, place)
        if found.low > found.high or (found.step is not None and found.step <= 0) or (found.log and found.low <= 0):
            raise ValueError(f"{place}: a range goes up from `low` to `high`, a logarithmic one from above 0")
        if search == "grid" and found.step is None:
            raise ValueError(f"{place}: a grid's range needs a `step`")
        if found.step is not None and found.log:
            raise ValueError(f"{place}: `log` and `step` exclude each other; in a grid list the values")
        if found.step is not None and (found.high - found.low) / found.step > MOST_VALUES:
            raise ValueError(f"{place}: a range of more than {MOST_VALUES} values; take longer steps")
        return found
    values = tuple(value) if isinstance(value, list) else (value,)
    if not values:
        raise ValueError(f"{place}: no value to choose")
    return values


def in_brief(value: Any) -> str:
    """An option's value as labels have it."""
    if isinstance(value, list | tuple):
        return ",".join(map(in_brief, value)) or "none"
    return f"{value:.3g}" if isinstance(value, float) else Path(value).name if isinstance(value, str) else str(value)
