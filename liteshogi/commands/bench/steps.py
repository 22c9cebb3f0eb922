"""`liteshogi bench steps`: nodes to a fixed depth with and without each step of the search."""

from __future__ import annotations

from dataclasses import dataclass

from liteshogi.commands.arguments import Json, Net
from liteshogi.json_output import json_text
from search.alphabeta.step_nodes import FULL_SEARCH, compare_steps


@dataclass(frozen=True)
class Command:
    """Count the nodes to a fixed depth with and without each step of the search."""

    net: Net = "default"
    """Network to search with: a folded network file, an nn.bin, or the name of a shipped network."""
    depth: int = 12
    """Depth of each search."""
    most_nodes: int = 30_000_000
    """Limit of nodes per position. A position that reaches it is counted with this number of nodes."""
    json: Json = False

    def run(self) -> None:
        figures = compare_steps(self.net, self.depth, self.most_nodes)
        if self.json:
            print(json_text(figures))
            return
        rows, count = figures.rows, figures.positions
        print(f"depth {self.depth}, {count} positions   nodes       ratio   error   seconds")
        for name, row in rows.items():
            stopped = "" if row.reached == count else f"  {count - row.reached} stopped at the limit"
            label = name if name == FULL_SEARCH else f"without {name}"
            ratio = f"{row.ratio:9.2f} {row.error:6.0%}"
            print(f"{label:30} {row.nodes:13,} {ratio} {row.seconds:9.2f}{stopped}")
