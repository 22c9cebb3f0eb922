"""`liteshogi bench steps`: what each step of the search saves, as nodes to a fixed depth with and without it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from liteshogi.commands.arguments import Json, Net
from search.alphabeta.bench_steps import FULL_SEARCH, compare_steps


@dataclass(frozen=True)
class Command:
    """Leave out one step of the search at a time and count the nodes to a fixed depth."""

    net: Net = "default"
    """Network to search with: a folded network file, an nn.bin, or `default`."""
    depth: int = 12
    """Depth of each search."""
    most_nodes: int = 30_000_000
    """Nodes after which a position is given up; its nodes count as they are."""
    json: Json = False

    def run(self) -> None:
        figures = compare_steps(self.net, self.depth, self.most_nodes)
        if self.json:
            print(json.dumps(asdict(figures)))
            return
        rows, count = figures.rows, figures.positions
        print(f"depth {self.depth}, {count} positions   nodes       ratio   error   seconds")
        for name, row in rows.items():
            given_up = "" if row.reached == count else f"  {count - row.reached} given up"
            label = name if name == FULL_SEARCH else f"without {name}"
            ratio = f"{row.ratio:9.2f} {row.error:6.0%}"
            print(f"{label:30} {row.nodes:13,} {ratio} {row.seconds:9.2f}{given_up}")
