"""The verb `bench`: a node signature and the speed of the search; `--eval` and `--train` measure the other parts.

The signature is the number of nodes that fixed-depth searches of fixed positions take. A change that is meant to leave
the search alone must leave it alone; one that changes the search must change it.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

POSITIONS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28",
    "lnsgkgsnl/1r5b1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL b - 5",
    "l4s1nl/4k1g2/2n1p1pp1/p1pps1P1p/1p3p1P1/P1PPP1S1P/1PS2P1R1/2GK3b1/LN1G4L w BNPrg 60",
    "ln4+Bnl/1r2gk3/p2psg1p1/4ppp1p/1pp6/2P1SP2P/PPSPP1P2/2G1G2R1/LNK4NL b BSp 40",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
    "lnG5l/2+S6/1k1ppps2/ppp4pp/9/P3PPP2/1P1P4P/1B3G1R1/LN2KG1NL b BS2Prsnp 1",
)
"""From Bonanza's and public test sets, opening to endgame."""
DEPTH = 11
HASH_MB = 16


def signature(network: str = "default", depth: int = DEPTH) -> dict[str, Any]:
    """Nodes and speed of a fresh engine on every position: {signature, nodes, seconds, nps}, by this thread's CPU time."""
    from search.engine import Engine

    engine = Engine(network, HASH_MB)
    engine.analyse("startpos", depth=4)
    nodes, seconds = 0, 0.0
    for sfen in POSITIONS:
        engine.new_game()
        begun = time.thread_time()
        nodes += engine.analyse(sfen, depth=depth).nodes
        seconds += time.thread_time() - begun
    return {"signature": nodes, "nodes": nodes, "seconds": round(seconds, 3), "nps": round(nodes / seconds)}


@dataclass(frozen=True)
class Bench:
    """Measure: the search's node signature and speed; with --eval the evaluation's parts; with --train the training."""

    net: str = "default"
    """Network to search with."""
    depth: int = DEPTH
    """Depth of each search; other depths have other signatures."""
    evaluation: Annotated[bool, tyro.conf.arg(name="eval")] = False
    """Measure the nanoseconds of the evaluation's parts, along recorded games."""
    train: bool = False
    """Measure positions a second of training, beside the listed module."""
    games: Path | None = None
    """With --eval: recorded games, lines of USI moves."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        if self.evaluation:
            from search.bench_evaluation import run_bench

            run_bench(self.net, self.games, self.json)
            return
        if self.train:
            from lite.bench_training import BenchTraining

            BenchTraining(json=self.json).run()
            return
        if not 1 <= self.depth <= 60:
            raise ValueError(f"--depth {self.depth}: choose 1 to 60")
        figures = signature(self.net, self.depth)
        if self.json:
            print(json.dumps(figures))
        else:
            print(f"signature {figures['signature']}  {figures['nps']:,} nodes/s (one thread, CPU time)")
