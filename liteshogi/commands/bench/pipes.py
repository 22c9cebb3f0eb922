"""`liteshogi bench pipes`: milliseconds of short searches through pipes, from `go` to `bestmove`."""

from __future__ import annotations

from dataclasses import dataclass

from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.usi.pipe_speed import LAST, measure_pipes


@dataclass(frozen=True)
class Command:
    """Measure short searches through pipes, as a GUI starts them, against long searches in the same session."""

    json: Json = False

    def run(self) -> None:
        figures = measure_pipes()
        if self.json:
            print(json_text(figures))
            return
        print(f"long search: {figures.long_us:.2f} microseconds per node; medians along a game of {LAST} moves:")
        for nodes, found in figures.searches.items():
            print(
                f"go nodes {nodes:<6} {found.go_ms:7.2f} ms, {found.overhead:5.2f} times as long as in a long search; "
                f"with the position command {found.with_position_ms:7.2f} ms"
            )
