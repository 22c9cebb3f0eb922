"""`liteshogi bench --steps`: what each step of the search saves, as nodes to a fixed depth with and without it.

A step that is left out makes other steps work harder, so the ratios do not multiply. Fewer nodes to a depth are not
yet a stronger engine: a step may save nodes by overlooking things. That games must say; this shows what a step is for.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import Any

from search.alphabeta.bench import POSITIONS

MORE_POSITIONS = (
    "ln1g3nl/1ks1r1g2/pppp1sbp1/4p1p1p/P2P1p1P1/2P1P4/1PBG1PP1P/2K2S1R1/LNSG3NL b - 29",
    "ln1g1k1nl/2s2sgb1/pppp4p/6pR1/4pp3/1P3PP2/P2PP3P/2SKGS3/LN1G4L b RPbn2p 39",
    "lr5nl/4gkgs1/2ns1p1p1/2ppp1p2/pp3N2p/2PBSPP2/1PSPP3P/2G2G3/LNK4RL b Pbp 47",
    "l5k1l/3r2gs1/1pn1sgnpp/pbp1ppp2/3p4P/PPPPPPP2/2NS1S2L/1BK1G4/L2G3R1 b NP 55",
    "ln2g1+R1l/1kgs5/1pppp2pp/p8/9/P1P6/1PNPSPPPP/3G5/1+b2KG1NL b RN2Pb2slp 63",
    "1n2k2nl/1r4g2/2ps1gs2/pn1bppppp/BpPp5/9/2RPPPP2/2GS1G3/LN1K1S3 b 2L3Pp 71",
    "ln2g4/1ks5+R/1p1p5/p1ps1G2p/6bp1/P1P5P/1P1PGPB2/2K3S2/LN3S+r1L b NL3Pgn3p 83",
    "ln1g1R2+R/1ks1g4/ppp5p/5g3/2Nps2G1/7+B1/PPP1PSK1P/1B7/LNS5L b NL7Pp 95",
)
"""Positions of recorded games, beside those of `search.alphabeta.bench`."""
HASH_MB = 64


def nodes_to_depth(steps: int, network: str, depth: int, most_nodes: int) -> dict[str, Any]:
    """{nodes, seconds, reached} over all positions, each with a fresh engine; `reached` counts those that came to the
    depth before `most_nodes`."""
    from search.alphabeta.engine import AlphaBetaEngine

    engine = AlphaBetaEngine(network, HASH_MB)
    engine.steps = steps
    nodes, reached, begun = 0, 0, time.thread_time()
    for sfen in POSITIONS + MORE_POSITIONS:
        engine.new_game()
        result = engine.analyse(sfen, depth=depth, nodes=most_nodes)
        nodes += result.nodes
        reached += result.depth >= depth
    return {"nodes": nodes, "seconds": round(time.thread_time() - begun, 2), "reached": reached}


@dataclass(frozen=True)
class BenchSteps:
    """Leave out one step of the search at a time and count the nodes to a fixed depth."""

    net: str = "default"
    """Network to search with."""
    depth: int = 12
    """Depth of each search."""
    most_nodes: int = 30_000_000
    """Nodes after which a position is given up; its nodes count as they are."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        from search.alphabeta.parameters import EVERY_STEP, STEPS

        if not 1 <= self.depth <= 60 or self.most_nodes < 1:
            raise ValueError("--depth must be 1 to 60 and --most-nodes at least 1")
        nodes_to_depth(EVERY_STEP, self.net, 2, self.most_nodes)  # loads what is compiled
        rows = {}
        for number, name in enumerate(("", *STEPS)):
            print(f"{number} of {len(STEPS)} steps: {name or 'full search'}", file=sys.stderr)
            steps = EVERY_STEP & ~(1 << number - 1) if name else EVERY_STEP
            rows[name or "full search"] = nodes_to_depth(steps, self.net, self.depth, self.most_nodes)
        if self.json:
            print(json.dumps({"depth": self.depth, "rows": rows}))
            return
        full = rows["full search"]
        count = len(POSITIONS + MORE_POSITIONS)
        print(f"depth {self.depth}, {count} positions   nodes       ratio   seconds")
        for name, row in rows.items():
            given_up = "" if row["reached"] == count else f"  {count - row['reached']} given up"
            label = name if row is full else f"without {name}"
            print(f"{label:30} {row['nodes']:13,} {row['nodes'] / full['nodes']:9.2f} {row['seconds']:9.2f}{given_up}")
