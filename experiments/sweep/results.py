"""Results of a plan: the typed lines of its run folder, by what they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from experiments.sweep.entries import Measures
from experiments.sweep.steps import Folded, Size, Tested, Trained
from experiments.sweep.timing import Timed
from lite.datasets.description import DataContent
from lite.program import Program, libraries, program
from lite.run_folder import Line, RunWriter, read_lines

Kept = TypeVar("Kept", bound="Keyed")


@dataclass(frozen=True)
class Keyed(Line):
    """A line with the key `name` and `seed`; a later line of the same key replaces it."""

    name: str
    seed: int

    @property
    def key(self) -> tuple[str, int]:
        """Name and seed."""
        return self.name, self.seed


@dataclass(frozen=True, kw_only=True)
class File(Keyed, kind="plan file"):
    """A file or set that results depend on."""

    of: DataContent
    made_of: Mapping[str, Any] | None = None
    """The plan's entry of a set; None means not recorded."""
    made_by: Program = field(default_factory=program)


@dataclass(frozen=True, kw_only=True)
class Measured(Keyed, kind="plan measures"):
    """The measures that all networks of a folder share."""

    of: Measures


@dataclass(frozen=True, kw_only=True)
class NetResult(Keyed, kind="net"):
    """A point that is done."""

    label: str
    options: Mapping[str, Any]
    """Options of its training; empty for a network that was made elsewhere."""
    net: str
    """The network file that plays."""
    sha256: str
    size: Size | None
    """Size; None means not recorded."""
    tested: Tested
    trained: Trained | None = None
    folded: Folded | None = None
    timed: Timed | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    """Digests of its training data."""
    made_by: Program = field(default_factory=program)
    versions: Mapping[str, str] = field(default_factory=libraries)

    @property
    def machine(self) -> str:
        """CPU and kernel of the machine that measured the network."""
        return self.made_by.machine

    @property
    def title(self) -> str:
        """Name in tables and charts."""
        return titled(self.label, self.seed)


@dataclass(frozen=True, kw_only=True)
class Failed(Keyed, kind="failure"):
    """A point or games that failed."""

    label: str
    why: str


@dataclass(frozen=True)
class Standing:
    """A network's games, with Elo and the ends of its 95 % interval; None is infinite or unknown."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None


EVEN = Standing(0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
"""The opponent's standing against itself, from which Elo counts."""


@dataclass(frozen=True, kw_only=True)
class Games(Keyed, kind="net games"):
    """Games of a network against the common opponent."""

    label: str
    by: str
    """nodes, time or clock; also part of the line's name."""
    standing: Standing
    nodes: int
    """Nodes or playouts per move of the network."""
    play: Mapping[str, Any]
    """Options that decide which games are played."""
    digests: Mapping[str, str]
    """Digests of the opponent and of the openings."""
    speed_ratio: float | None = None
    """Speed of the network's search over the opponent's, for games at equal time."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    made_by: Program = field(default_factory=program)


@dataclass(frozen=True, kw_only=True)
class SpeedOf(Keyed, kind="speed ratio"):
    """The measured speed of a network's search over the opponent's."""

    ratio: float
    opponent: str
    """Digest of the opponent."""
    made_by: Program = field(default_factory=program)


@dataclass(frozen=True, kw_only=True)
class StepTimes(Keyed, kind="step times"):
    """CPU microseconds per position of a training step, of networks by their names, timed in turn on one core."""

    microseconds: Mapping[str, float]
    made_by: Program = field(default_factory=program)


def games_key(net: NetResult, by: str) -> tuple[str, int]:
    """Return the key of a network's games of one way."""
    return f"{net.name}: {by}", net.seed


def titled(label: str, seed: int) -> str:
    """Return the name of a network in tables and charts: its label, with the seed unless it is 0."""
    return label + (f", seed {seed}" if seed else "")


def difference(before: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return the first option whose value is not as before: `epochs 2, not 3`; empty where all are equal."""
    for name in sorted(before.keys() | given.keys()):
        if before.get(name) != given.get(name):
            return f"{name} {before.get(name)!r}, not {given.get(name)!r}"
    return ""


KINDS: tuple[type[Keyed], ...] = (File, Measured, NetResult, Failed, Games, SpeedOf, StepTimes)


class Results:
    """The results of a plan, the last of each key."""

    def __init__(self, lines: Iterable[Keyed] = (), append: Callable[[Keyed], None] | None = None) -> None:
        """`append`: keeps a result on the disk; None means that results are not kept."""
        self._kept: dict[tuple[str, str, int], Keyed] = {}
        self._append = append
        for line in lines:
            self._take(line)

    @classmethod
    def of(cls, writer: RunWriter) -> Results:
        """Return the results of a run that is at work, and keep further ones in it."""
        return cls(writer.lines(*KINDS), writer.append)

    @classmethod
    def read(cls, folder: Path) -> Results:
        """Return the results in a run folder. Raises OSError, or ValueError that names the line."""
        return cls(read_lines(folder, *KINDS))

    def find(self, kind: type[Kept], name: str, seed: int = 0) -> Kept | None:
        """Return the result of a class with this name and seed; None if there is none."""
        found = self._kept.get((kind.kind, name, seed))
        return found if isinstance(found, kind) else None

    def all(self, kind: type[Kept]) -> list[Kept]:
        """Return all results of a class, in the order in which their keys were first written."""
        return [line for line in self._kept.values() if isinstance(line, kind)]

    def add(self, line: Keyed) -> None:
        """Keep a result, on the disk when this returns."""
        if self._append is not None:
            self._append(line)
        self._take(line)

    def games(self, net: NetResult, by: str) -> Games | None:
        """Return a network's games of one way."""
        return self.find(Games, *games_key(net, by))

    def _take(self, line: Keyed) -> None:
        self._kept[line.kind, line.name, line.seed] = line
