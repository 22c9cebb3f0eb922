"""`liteshogi bench` or `liteshogi bench search`: node signature and speed of the search."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.network_kinds.search_speed import measure_search
from liteshogi.commands.arguments import Json, Net
from liteshogi.json_output import json_text
from search.alphabeta.bench import BenchResult


@dataclass(frozen=True)
class Command:
    """Measure the node signature and the speed of the search."""

    net: Net = "default"
    """Network to search with: a folded network file, an nn.bin, the name of a shipped network, or an ONNX file of a
    policy-value network, which PUCT searches."""
    depth: int | None = None
    """Depth of each alpha-beta search. Default: the depth of the published signature. Other depths have other
    signatures."""
    nodes: int | None = None
    """Limit of nodes per search; None means no limit. With a limit there is a speed but no signature. A barely trained
    network may need many millions of nodes to reach the depth."""
    json: Json = False

    def run(self) -> None:
        found = measure_search(self.net, self.depth, self.nodes)
        if self.json:
            print(json_text(found))
        elif isinstance(found, BenchResult):
            known = "" if found.signature is None else f"signature {found.signature}  "
            print(f"{known}{found.nps:,} nodes/s (one thread, CPU time)")
        else:
            print(f"{found.playouts:,} playouts, {found.playouts_per_s:,} per second (one thread, CPU time)")
