"""`liteshogi bench`, or `liteshogi bench search`: the node signature and the speed of the search."""

from __future__ import annotations

import json
from dataclasses import dataclass

from liteshogi.commands.arguments import Json, Net
from search.alphabeta.bench import DEPTH, signature


@dataclass(frozen=True)
class Command:
    """Measure the search: its node signature and its speed."""

    net: Net = "default"
    """Network to search with: a folded network file, an nn.bin, or `default`."""
    depth: int = DEPTH
    """Depth of each search; other depths have other signatures."""
    json: Json = False

    def run(self) -> None:
        figures = signature(self.net, self.depth)
        if self.json:
            print(json.dumps(figures))
        else:
            print(f"signature {figures['signature']}  {figures['nps']:,} nodes/s (one thread, CPU time)")
