"""`liteshogi demo`: the whole road in a few minutes, from a sample of games to a game that the trained net plays."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.demo import walk_the_road
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command:
    """Make positions, train, test, fold, search and play, in a few minutes on two cores."""

    output: Output = Path("out")
    """Directory for what it makes; what an earlier demo made there is made anew."""
    epochs: int = 8
    """Times that every position is seen."""
    nodes: int = 30_000
    """Nodes a move in the game."""
    json: Json = False

    def run(self) -> None:
        figures = walk_the_road(self.output, self.epochs, self.nodes)
        if self.json:
            print(json.dumps(figures))
        else:
            print(
                f"\nDone in {figures['seconds']:.0f} s. Look at {self.output}/: {', '.join(figures['files'])}",
                file=sys.stderr,
            )
