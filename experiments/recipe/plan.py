"""What is to be made, trained and measured: a TOML file, typed.

Names of data and files are relative to the folder that the work is done in, where they lie or are linked to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from experiments.jobs.toml_file import read_toml, typed
from search.alphabeta.parameters import STEPS
from search.alphabeta.sampling import MAIN, QUIESCENCE
from search.system.metadata import quoted

KINDS = {
    "played": "played",
    "random": "random moves",
    "main": "tree, main search",
    "quiescence": "tree, quiescence",
    "settled": "settled",
}
"""Kinds of held-out positions that the table `kinds` shows, by their names in a plan."""
WHERE = {"main": MAIN, "quiescence": QUIESCENCE}
WAYS = {"command": (), "cut": ("positions",), "tree": ("where", "every", "positions"), "search": ("nodes", "without")}
"""Of making a set, and what else each of them is told."""


@dataclass(frozen=True)
class Data:
    """A set of positions and how it is made; exactly one of the ways."""

    name: str
    """Its folder; of `cut` its file, in .hcpe."""
    command: tuple[str, ...] = ()
    """Words of `liteshogi expand` or `relabel`."""
    cut: tuple[str, ...] = ()
    """So many `positions` of these sets, evenly over them."""
    tree: str = ""
    """Where searches from the positions of this set asked their network, only in `where`."""
    where: str = ""
    """`main` search or `quiescence`."""
    every: int = 1
    """From every so-many-th position of that set."""
    search: str = ""
    """The positions of this set, with the score of a search of `nodes` without the steps `without`."""
    nodes: int = 0
    without: tuple[str, ...] = ()
    positions: int = 0

    def sources(self, sets: Collection[str]) -> tuple[str, ...]:
        """What it is made of: of a command the words before its first option, and behind options the plan's `sets`."""
        words = self.command[1:]
        data = takewhile(lambda word: not word.startswith("-"), words)
        # What follows an option is its value, as in `--label search`, whatever sets are called.
        behind = (word for before, word in pairwise(words) if word in sets and not before.startswith("-"))
        named = (*self.cut, self.tree, self.search, *data, *behind)
        return tuple(dict.fromkeys(filter(None, named)))

    def fault(self) -> str:
        """What is wrong with it, in words; empty if nothing is."""
        ways = [name for name in WAYS if getattr(self, name)]
        if len(ways) != 1:
            return f"exactly one of {', '.join(WAYS)}"
        for entry in fields(self):
            name, value = entry.name, getattr(self, entry.name)
            if name in WAYS[ways[0]]:
                if type(value) is int and value < 1:
                    return f"{name} = {value}: must be at least 1"
            elif name not in ("name", *ways) and value != entry.default:
                return f"{name}: is nothing that `{ways[0]}` is told; leave it out"
        if self.tree and self.where not in WHERE:
            return f"where = {self.where[:40]!r}: must be one of {', '.join(WHERE)}"
        if unknown := [step for step in self.without if step not in STEPS]:
            return f"without {unknown[0][:40]!r}: no step of the search; there are {', '.join(STEPS)}"
        return ""


@dataclass(frozen=True)
class Row:
    """A net and what is measured of it."""

    name: str
    tables: tuple[str, ...]
    """Those that show it."""
    shape: str = ""
    """The net's among the plan's; none of a net that is there."""
    words: tuple[str, ...] = ()
    """What else `liteshogi train` is told."""
    net: str = ""
    """The file of a net that is there."""
    data: tuple[str, ...] = ()
    after: str = ""
    """The row with whose net (of the same seed) the training begins."""
    line: str = ""
    """Of a picture with lines, the one that it is a point of."""
    seeds: tuple[int, ...] = (0,)
    games: bool = False
    """Whether it plays, with its first seed."""

    @property
    def lambda_(self) -> float | None:
        """The weight of the score in what it learns, the rest being the result; None where its words do not tell it."""
        for word, value in pairwise(self.words):
            if word == "--lambda":
                with suppress(ValueError):
                    return float(value)
        return None

    def training(self, shape: Sequence[str], seed: int) -> list[str]:
        """Words of `liteshogi` that train its net of this shape with a seed, but for where it is made."""
        after = ["--init-from", f"nets/{self.after}-{seed}"] if self.after else []
        return ["train", shape[0], *self.data, *shape[1:], *self.words, "--mirror", "--seed", str(seed), *after]

    def fault(self, measures: Measures) -> str:
        """What is wrong with it, in words; empty if nothing is."""
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            return "seeds: name at least one, and none twice"
        if "results" in self.tables and self.lambda_ is None:
            return "words: the table `results` needs `--lambda` and a number among them"
        if "volume" in self.tables and self.net:
            return "net: the table `volume` needs a `shape`, for it shows what a training has seen"
        if "kinds" in self.tables and (missing := [kind for kind in KINDS if kind not in measures.kinds]):
            return f"tables: `kinds` needs an entry in [measures.kinds] for {', '.join(missing)}"
        return ""


@dataclass(frozen=True)
class Measures:
    """What every net is measured on."""

    teacher: str
    """The network whose word is the truth."""
    residual: str
    """Held-out positions with its static scores."""
    yardstick: str
    """Held-out positions with the scores of its long searches, of d1-RMSE."""
    valid: str
    """Held-out games."""
    opponent: str
    nodes: int
    games: int
    openings: str
    win_score: int
    """Centipawns at which a game is over when both sides say so for 8 plies."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Held-out positions with its static scores by kind of position, where the residual is wanted by kind."""


@dataclass(frozen=True)
class Plan:
    """All of it, in the order in which it is done."""

    measures: Measures
    shapes: dict[str, list[str]]
    """Words of `liteshogi train`, the kind first."""
    data: dict[str, Data]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _File:
    """The tables of a plan."""

    measures: dict[str, Any] = field(default_factory=dict)
    shapes: dict[str, list[str]] = field(default_factory=dict)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    row: tuple[dict[str, Any], ...] = ()


def read_plan(path: Path) -> Plan:
    """The plan that a TOML file holds. Raises OSError, or ValueError in words."""
    told = typed(_File, read_toml(path), f"{path}")
    measures = typed(Measures, told.measures, f"{path}: measures")
    rows = tuple(typed(Row, entry, f"{path}: row {str(entry.get('name'))[:40]!r}") for entry in told.row)
    data = {
        name: typed(Data, {"name": name} | entry, f"{path}: data {name[:40]!r}") for name, entry in told.data.items()
    }
    names: set[str] = set()
    trained: set[str] = set()
    for row in rows:
        place = f"{path}: row {row.name[:40]!r}"
        if row.name in names or (row.after and row.after not in trained):
            raise ValueError(f"{place}: needs a name of its own, and `after` an earlier row that is trained")
        if (row.shape not in told.shapes) != bool(row.net):
            raise ValueError(f"{place}: needs one of `net` and `shape`, one of {quoted(', '.join(told.shapes), 200)}")
        if fault := row.fault(measures):
            raise ValueError(f"{place}: {fault}")
        names.add(row.name)
        if row.shape:
            trained.add(row.name)
    for one in data.values():
        place = f"{path}: data {one.name[:40]!r}"
        if fault := one.fault():
            raise ValueError(f"{place}: {fault}")
        if one.name in _made_of(one, data):
            raise ValueError(f"{place}: is made of itself, by way of {quoted(', '.join(one.sources(data)), 200)}")
    return Plan(measures, told.shapes, data, rows)


def _made_of(one: Data, data: dict[str, Data]) -> set[str]:
    """The sets that a set is made of, directly or not."""
    reached: set[str] = set()
    waiting = list(one.sources(data))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += data[name].sources(data) if name in data else ()
    return reached
