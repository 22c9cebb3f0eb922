"""The entries of a plan, a TOML file: the networks to train, their measures, and their games.

    [train]      options of every training, by the names of a run's run.json; [train.KIND]: of one kind of network
    [measure]    what every network is measured on
    [play]       games, and which networks play them
    [data.NAME]  a set of positions, and how it is made; see `experiments.sweep.data`
    [[space]]    options with several values each: a network for every combination, or what `search` chooses
    [[point]]    one network
    [[peer]]     one network that was made elsewhere
    [table.NAME] a table of some of the points, with a picture

Files are named as seen from the folder that the command runs in; a set of [data] goes by its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from search.system.bounds import check_numbers
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
