"""Levels: named strengths below the engine's own, with measured ratings and varied moves.

A level searches little, for several lines, and draws its move among them: the smaller a move's loss against the best
one, the likelier it is. So weak moves are plausible ones, and no two games are alike. The draw among the lines of
MultiPV is the idea of Stockfish's Skill Level; its weights are a softmax, as in the soft choices of self-play games.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from search.score import is_mate
from search.system.options import OptionError

FULL = "full"
"""Name of the engine's own strength, which is no level."""
MOST_LOST = 3000
"""Centipawns at which scores are cut before a draw, so that a level with a lost game may overlook a mate."""


@dataclass(frozen=True)
class Level:
    """A strength: limits of the search, and how its move is drawn."""

    name: str
    lines: int
    """Number of best moves to draw from."""
    temperature: int
    """A move that loses this many centipawns is drawn 1 / e times as often as the best one."""
    nodes: int | None = None
    """Nodes per move; None means no limit."""
    depth: int | None = None
    """Depth per move; None means no limit."""
    elo: int = 0
    """Measured rating; full strength with 20,000 nodes per move has 0."""
    error: int = 0
    """Half of the 95 % interval of `elo`, counted from the mean of all levels."""

    @property
    def rule(self) -> str:
        """Text that distinguishes this level from any other, without its rating."""
        limits = f"nodes {self.nodes or 0} depth {self.depth or 0}"
        return f"{self.name}: {limits} lines {self.lines} temperature {self.temperature}"

    def why_weakened(self, nodes: int, depth: int) -> str:
        """Return why limits per move, 0 for none, make another player of this level; empty if they do not."""
        if not (0 < nodes < (self.nodes or 0) or (depth and (self.depth is None or depth < self.depth))):
            return ""
        own = f"{self.nodes:,} nodes" if self.nodes else f"depth {self.depth}"
        return f"its own limit is {own}, and those of the games would end its searches before; raise or remove them"

    def draw(self, scores: Sequence[int], random: Random) -> int:
        """Return the index of the line to play, given the scores of a search's lines, best first.

        A mate for the side to move is always played.
        """
        if is_mate(scores[0]) and scores[0] > 0:
            return 0
        cut = [max(-MOST_LOST, min(MOST_LOST, score)) for score in scores]
        weights = [math.exp((score - cut[0]) / self.temperature) for score in cut]
        return random.choices(range(len(scores)), weights)[0]


LEVELS = (
    Level("level1", 14, 260, depth=1, elo=-2510, error=105),
    Level("level2", 10, 160, depth=1, elo=-2210, error=90),
    Level("level3", 8, 75, depth=1, elo=-1920, error=75),
    Level("level4", 8, 65, depth=2, elo=-1565, error=60),
    Level("level5", 6, 40, nodes=3_000, elo=-1380, error=60),
    Level("level6", 4, 30, nodes=5_000, elo=-1070, error=60),
    Level("level7", 3, 20, nodes=9_000, elo=-670, error=75),
    Level("level8", 2, 12, nodes=15_000, elo=-340, error=90),
)
"""All levels, the weakest first. Table and command of the ratings: docs/results/leagues.md."""
NAMES = (FULL, *(level.name for level in LEVELS))


def level_named(name: str) -> Level | None:
    """Return the level of a name; None for `full`. Raises OptionError for another name."""
    if name not in NAMES:
        raise OptionError(f"`level` {name[:40]!r}: must be one of {', '.join(NAMES)}", "level")
    return next((level for level in LEVELS if level.name == name), None)
