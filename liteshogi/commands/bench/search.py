"""`liteshogi bench`, or `liteshogi bench search`: the node signature and the speed of the search."""

from __future__ import annotations

import json
from dataclasses import dataclass

from experiments.network_kinds import bench
from liteshogi.commands.arguments import Json, Net


@dataclass(frozen=True)
class Command:
    """Measure the search: its node signature and its speed."""

    net: Net = "default"
    """Network to search with: a folded network file, an nn.bin, `default`, or an ONNX file that PUCT plays with."""
    depth: int | None = None
    """Depth of each search, where it is alpha-beta's; other depths than that of the signature have other ones."""
    nodes: int | None = None
    """Nodes of each search at most: to the signature's depth a barely trained network may take many millions. With it
    there is a speed, but no signature."""
    json: Json = False

    def run(self) -> None:
        figures = bench(self.net, self.depth, self.nodes)
        if self.json:
            print(json.dumps(figures))
        elif "signature" in figures:
            known = f"signature {figures['signature']}  " if figures["signature"] else ""
            print(f"{known}{figures['nps']:,} nodes/s (one thread, CPU time)")
        else:
            print(f"{figures['playouts']:,} playouts, {figures['playouts_per_s']:,} a second (one thread, CPU time)")
