"""`liteshogi bench`: the node signature and the speed of the search."""

from __future__ import annotations

import json
from dataclasses import dataclass

from liteshogi.commands.arguments import Json
from search.alphabeta.bench import DEPTH, signature


@dataclass(frozen=True)
class Command:
    """Measure the search: its node signature and its speed.

    `bench --steps` leaves out one step of the search at a time, `bench --eval` measures the evaluation's parts,
    `bench --train` training, `bench --read` decoding; each has options of its own.
    """

    net: str = "default"
    """Network to search with."""
    depth: int = DEPTH
    """Depth of each search; other depths have other signatures."""
    json: Json = False

    def run(self) -> None:
        figures = signature(self.net, self.depth)
        if self.json:
            print(json.dumps(figures))
        else:
            print(f"signature {figures['signature']}  {figures['nps']:,} nodes/s (one thread, CPU time)")
