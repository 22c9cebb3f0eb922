"""`liteshogi demo`: every stage in a few minutes, from a sample of games to a game of the trained network."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.demo import run_demo
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command:
    """Show every stage on the sample games: make positions, train, test, fold, search and play. Takes a few minutes."""

    output: Output = Path("out")
    """Folder of the results; those of an earlier demonstration are replaced."""
    epochs: int = 8
    """Number of times that every position is seen."""
    nodes: int = 30_000
    """Nodes per move of the game."""
    json: Json = False

    def run(self) -> None:
        report = run_demo(self.output, self.epochs, self.nodes)
        if self.json:
            print(json_text(report))
        else:
            print(
                f"\nDone in {report.seconds:.0f} s. The results are in {self.output}/: {', '.join(report.files)}",
                file=sys.stderr,
            )
