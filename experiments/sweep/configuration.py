"""What a sweep is told: a TOML file, typed.

Files are named as seen from the folder that the command runs in. Options of a training go by the names that they have
in `liteshogi train`, and in a run's config.json; beside them stand `kind`, and `positions`: so many of the data, evenly
over all.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

Given = TypeVar("Given")
KINDS = ("lite", "untied", "dense", "half_kp", "k_p")
"""Of networks that the engine evaluates."""
SEARCHES = ("grid", "random", "tpe", "nsga2")


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
        """All of them, of a range with a step."""
        assert self.step is not None
        return [self.low + number * self.step for number in range(math.floor((self.high - self.low) / self.step) + 1)]


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


def read_configuration(path: Path) -> Configuration:
    """The sweep that a TOML file describes. Raises OSError, or ValueError in words."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    known = {"search", "points", "seed", "train", "measure", "play", "space", "point", "peer"}
    if unknown := set(told) - known:
        raise ValueError(f"{path}: unknown {', '.join(sorted(unknown))}; a sweep has {', '.join(sorted(known))}")
    search = told.get("search", "grid")
    if search not in SEARCHES:
        raise ValueError(f"{path}: search {search!r}: choose {', '.join(SEARCHES)}")
    made = Configuration(
        told.get("train", {}),
        _typed(Measures, told.get("measure", {}), path, "measure"),
        _typed(Play, told["play"], path, "play") if "play" in told else None,
        search,
        int(told.get("points", 0)),
        int(told.get("seed", 0)),
        tuple(
            {name: _choices(value, path, name, search) for name, value in one.items()} for one in told.get("space", [])
        ),
        (),
    )
    if search != "grid" and (made.points < 1 or not made.spaces):
        raise ValueError(f"{path}: search {search!r} needs `points` of at least 1, and a [[space]] to choose them of")
    listed = [made.point(options) for options in told.get("point", [])]
    for entry in told.get("peer", []):
        if entry.keys() != {"name", "net"}:
            raise ValueError(f"{path}: a [[peer]] has a name and a net, not {', '.join(entry) or 'nothing'}")
        listed.append(Point({}, str(entry["name"]), str(entry["net"])))
    whole = Configuration(**{**vars(made), "listed": tuple(listed)})
    for kind in {one.options.get("kind") for one in (*listed, *_first_of_each(whole)) if not one.net}:
        if kind not in KINDS:
            raise ValueError(f"{path}: kind {kind!r}: a sweep's nets are {', '.join(KINDS)}")
    if not listed and not whole.spaces:
        raise ValueError(f"{path}: no [[space]], [[point]] or [[peer]]: nothing to do")
    return whole


def _first_of_each(whole: Configuration) -> Iterator[Point]:
    for space in whole.spaces:
        for kind in space.get("kind", (whole.train.get("kind"),)):  # type: ignore[union-attr]
            yield whole.point({"kind": kind})


def _choices(value: Any, path: Path, name: str, search: str) -> tuple[Any, ...] | Range:
    """A list's values, a table's range, or the one value."""
    if isinstance(value, dict):
        found = _typed(Range, value, path, name)
        if found.low > found.high or (found.step is not None and found.step <= 0) or (found.log and found.low <= 0):
            raise ValueError(f"{path}: {name}: a range goes up from `low` to `high`, a logarithmic one from above 0")
        if search == "grid" and found.step is None:
            raise ValueError(f"{path}: {name}: a grid's range needs a `step`")
        return found
    values = tuple(value) if isinstance(value, list) else (value,)
    if not values:
        raise ValueError(f"{path}: {name}: no value to choose")
    return values


def _typed(kind: type[Given], entry: dict[str, Any], path: Path, name: str) -> Given:
    if unknown := set(entry) - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ValueError(f"{path}: {name}: unknown {', '.join(sorted(unknown))}")
    try:
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
    except TypeError as error:
        raise ValueError(f"{path}: {name}: {error}") from None


def in_brief(value: Any) -> str:
    """An option's value as labels have it."""
    if isinstance(value, list | tuple):
        return ",".join(map(in_brief, value)) or "none"
    return f"{value:.3g}" if isinstance(value, float) else Path(value).name if isinstance(value, str) else str(value)
