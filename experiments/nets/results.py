"""Results of a plan: typed lines by what they are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from experiments.jobs.results import Results as Lines
from experiments.nets.plan import Measures
from experiments.nets.steps import Folded, Size, Tested, Trained
from experiments.nets.timing import Timed
from lite.datasets.provenance import digest_of
from lite.program import libraries, machine_of, program
from lite.typed import typed

Kept = TypeVar("Kept", bound="Line")


@dataclass(frozen=True)
class Line:
    """A result of what `name` and `seed` name."""

    kind: ClassVar[str]

    name: str
    seed: int

    @property
    def key(self) -> tuple[str, int]:
        return self.name, self.seed


@dataclass(frozen=True, kw_only=True)
class File(Line):
    """A file or set that results depend on."""

    kind: ClassVar[str] = "data"

    of: Mapping[str, Any]
    """Its name, digest and description, see `describe_data`."""
    made_by: Mapping[str, str | None] = field(default_factory=program)


@dataclass(frozen=True, kw_only=True)
class Measured(Line):
    """What all networks of a folder were measured on."""

    kind: ClassVar[str] = "measures"

    of: Measures


@dataclass(frozen=True, kw_only=True)
class Net(Line):
    """A point that is done."""

    kind: ClassVar[str] = "net"

    label: str
    options: Mapping[str, Any]
    """Options of its training; none of a network that was made elsewhere."""
    net: str
    """The file that plays."""
    sha256: str
    size: Size
    tested: Tested
    trained: Trained | None = None
    folded: Folded | None = None
    timed: Timed | None = None
    data: Mapping[str, str] = field(default_factory=dict)
    """Digests of what it learnt from."""
    made_by: Mapping[str, str | None] = field(default_factory=program)
    versions: Mapping[str, str] = field(default_factory=libraries)

    @property
    def machine(self) -> str:
        return machine_of(dict(self.made_by))

    @property
    def title(self) -> str:
        """Its name in tables and charts."""
        return self.label + (f", seed {self.seed}" if self.seed else "")


@dataclass(frozen=True, kw_only=True)
class Failed(Line):
    """A point, a set or games that failed."""

    kind: ClassVar[str] = "failed"

    label: str
    why: str


@dataclass(frozen=True)
class Standing:
    """A network's games; Elo and the ends of its 95 % interval, None being infinite or unknown."""

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
class Games(Line):
    """Games of a network against the common opponent."""

    kind: ClassVar[str] = "games"

    by: str
    """nodes, time or clock; stands in the name of the line, too."""
    standing: Standing
    nodes: int
    """Nodes or playouts per move of the network."""
    play: Mapping[str, Any]
    """Options that decide which games are played."""
    digests: Mapping[str, str]
    """Digests of the opponent and of the openings."""
    speed_ratio: float | None = None
    """Speed of the network's search over the opponent's; of games at equal time."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    made_by: Mapping[str, str | None] = field(default_factory=program)


@dataclass(frozen=True, kw_only=True)
class StepTimes(Line):
    """CPU microseconds per position of a training step, of networks by their names, timed in turn on one core."""

    kind: ClassVar[str] = "steps"

    microseconds: Mapping[str, float]
    made_by: Mapping[str, str | None] = field(default_factory=program)


KINDS: dict[str, type[Line]] = {
    kind.kind: kind for kind in (File, Measured, Net, Failed, Games, StepTimes)
}


class Results:
    """The results in a file; the last line of a key counts. One process adds to it, others may read meanwhile."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError for a file with other lines."""
        self.path = path
        self._lines = Lines(path)
        self._kept: dict[tuple[str, str, int], Line] = {}
        for (kind, name, seed), line in self._lines.lines.items():
            if kind not in KINDS:
                raise ValueError(f"{path}: {kind!r} of {name!r}: not a result of a plan")
            fields = {key: value for key, value in line.items() if key != "kind"}
            self._kept[kind, name, seed] = typed(KINDS[kind], fields, f"{path}: {kind} {name!r}")

    def find(self, kind: type[Kept], name: str, seed: int = 0) -> Kept | None:
        found = self._kept.get((kind.kind, name, seed))
        return found if isinstance(found, kind) else None

    def all(self, kind: type[Kept]) -> list[Kept]:
        return [line for line in self._kept.values() if isinstance(line, kind)]

    def add(self, line: Line) -> None:
        """Keep a result, on the disk when this returns."""
        fields = asdict(line)
        self._lines.add(line.kind, fields.pop("name"), fields.pop("seed"), fields)
        self._kept[line.kind, line.name, line.seed] = line

    def games(self, net: Net, by: str) -> Games | None:
        """Return a network's games of one way."""
        return self.find(Games, f"{net.name}: {by}", net.seed)

    def has_changed(self, name: str, path: Path) -> bool:
        """Whether the data at `path` are others than those whose digest is kept. Raises OSError, ValueError."""
        kept = self.find(File, name)
        return kept is not None and path.exists() and digest_of(path) != kept.of["sha256"]
