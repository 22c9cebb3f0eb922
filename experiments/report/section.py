"""What a page is made of: a section for what runs of one kind have to say, and where each of them is from."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from experiments.report.charts import Chart
from lite.program import UNKNOWN, machine_of, program_of

UNREADABLE = (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError)
"""What figures of another program, or of none, lead to where they are drawn."""
_START = hashlib.sha256(b"startpos").hexdigest()
"""Of the openings where no file of them is given."""
_LIMITS = ("nodes", "depth", "second_nodes", "second_depth")
"""Of a move: 0 says that there is none, as where the option is left out."""
_TRAINING = "config "
"""What the names of a loop's options of training begin with."""


@dataclass(frozen=True)
class Table:
    """Figures to be read."""

    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str = ""

    @classmethod
    def of_markdown(cls, text: str, title: str) -> Table:
        """The one table of a Markdown text."""
        found = [line for line in text.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in found]
        return cls(cells[0], cells[2:], title)


@dataclass(frozen=True)
class Board:
    """A position and what is to be said of it."""

    sfen: str
    words: Sequence[str]


@dataclass(frozen=True)
class Origin:
    """How a run was made, as far as it tells."""

    run: str
    command: str = UNKNOWN
    program: str = UNKNOWN
    machine: str = UNKNOWN
    seed: str = UNKNOWN
    when: str = UNKNOWN

    @classmethod
    def by(
        cls, run: str, command: str, makers: Sequence[dict[str, Any]], seeds: Iterable[Any], when: str = UNKNOWN
    ) -> Origin:
        """That of a run by makers of which `lite.datasets.provenance.program` tells; each of them and of seeds once."""
        programs, machines = map(program_of, makers), map(machine_of, makers)
        return cls(run, command, _joined(programs), _joined(machines), _joined(map(str, seeds), ", "), when)


@dataclass(frozen=True)
class Section:
    """A heading, a line about what is to be seen, and that."""

    title: str
    about: str
    charts: Sequence[Chart]
    tables: Sequence[Table]
    origins: Sequence[Origin]
    boards: Sequence[Board] = ()


def origin_of(run: str, description: dict[str, Any]) -> Origin:
    """That of a folder with a `description.json`."""
    return Origin.by(
        run,
        command_of(description),
        description["made_by"],
        [description["options"].get("seed", UNKNOWN)],
        f"{description['begun']} to {description['updated']}",
    )


def command_of(description: dict[str, Any]) -> str:
    """The command in words of the description: the nets by name, those of players with their options, and the options
    that are set, a number of 0 among them, which may be no default; files by their digests, and a loop's `--config` by
    what it holds. Games are as many as the description says that are counted."""
    options = {name: value for name, value in description["options"].items() if (name, value) != ("openings", _START)}
    if counted := description.get("counted"):
        options["games"] = counted["games"]
    pair = [options.pop(f"{which}_option", {}) for which in ("first", "second")]
    chosen = chain(options.pop("players", pair), repeat({}))
    words, roles = ["liteshogi", description["verb"]], dict[str, list[str]]()
    for net, own in zip(description["nets"], chosen, strict=False):
        named = shlex.quote(" ".join([str(net.get("name")), *(f"{name}={value}" for name, value in own.items())]))
        roles.setdefault(str(net.get("role")).split(" ")[0], []).append(named)
    for role, nets in roles.items():
        words += [f"--{role}", *nets] if description["verb"] == "loop" else nets
    training = {name: options.pop(name) for name in list(options) if name.startswith(_TRAINING)}
    for name, value in options.items():
        if value or (type(value) in (int, float) and name not in _LIMITS):
            shown = " ".join(map(str, value)) if isinstance(value, list) else value
            shown = f"sha256:{shown[:12]}" if name == "openings" else shown
            words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {shown}"))
    if training:
        told = {name.removeprefix(_TRAINING): value for name, value in training.items() if value is not None}
        words.append(f"--config {shlex.quote(json.dumps(told))}")
    return " ".join(words)


def _joined(texts: Iterable[str], between: str = "; ") -> str:
    return between.join(dict.fromkeys(texts)) or UNKNOWN
