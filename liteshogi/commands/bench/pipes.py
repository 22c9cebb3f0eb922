"""`liteshogi bench pipes`: milliseconds of short searches as a GUI or a match has them, from `go` to `bestmove`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from liteshogi.commands.arguments import Json
from search.usi.bench import LAST, measure_pipes


@dataclass(frozen=True)
class Command:
    """Measure `go nodes N` through pipes, along a game, against the speed of long searches in the same session."""

    json: Json = False

    def run(self) -> None:
        figures = measure_pipes()
        if self.json:
            print(json.dumps(asdict(figures)))
            return
        print(f"a long search: {figures.long_us:.2f} microseconds a node; medians along a game of {LAST} moves:")
        for nodes, found in figures.searches.items():
            print(
                f"go nodes {nodes:<6} {found.go_ms:7.2f} ms, {found.overhead:5.2f} times the long search's; "
                f"with its position {found.with_position_ms:7.2f} ms"
            )
