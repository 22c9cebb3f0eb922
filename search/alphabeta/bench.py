"""Bench signature and speed of the search.

The signature is the number of nodes that searches of fixed positions to a fixed depth take. A change that should not
affect the search must keep it; a change of the search must change it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from search.system.bounds import check_number

POSITIONS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28",
    "ln1g1gbnl/1r4k2/pspp1pppp/4p4/1pPs4P/P1R6/BP2PPPP1/3S1K3/LN1G1GSNL b p 25",
    "ln1g1k1nl/1r3sg2/2ppppbpp/ps4p2/9/1pPP1PP2/P1B1PS2P/S1G1GK1R1/LN5NL b 2P 37",
    "l5bnl/1r2g1k2/2np1sgp1/p4pp1p/1ps1p2P1/2R3P1P/PP1PPPNS1/1B2G1GK1/LN6L b SPp 49",
    "ln3B1nl/1r2g1gk1/p1ppsp1s1/4p1pp1/5P2p/P1+bP2P2/1+p5PP/6GSL/LN3RGNK b S3p 57",
    "+L4gknl/2r1g2b1/3spp1p1/3p1s3/1pp1P1p1p/P1PBRP3/1PnS2PPP/p1G3S2/5GKNL b nlp 65",
    "ln3g3/1r2g1k2/2pp2sp+P/p1llppp2/1P1S5/1pP1P4/P1N2PPP1/2S1G1SKp/L2R1G1N1 b BNPb 73",
    "lr2k2nl/3gg1g2/7pp/p3sPP2/1P1p1p1P1/9/P1SPP1N1P/3S5/LNK1G3L b BSN5Prb 85",
    "l5k1l/1r5g1/p1n1S2pp/3pp1s2/1pp2nN2/3SB4/PPNPP1+b1P/2GK5/L6RL b 2gs6p 97",
    "9/G1sg4p/l1nk1p+N+R1/1lppp2pP/p5b2/1PP1NP3/2SPP2g1/2GK2S1+l/LN7 b S2Prb3p 109",
)
"""The start, a position with full hands, an opening, and positions of engine games from move 25 to 109."""
DEPTH, DEEPEST = 11, 60
SIGNATURE = 668838
"""Nodes to depth `DEPTH` with the default network. Update it together with the search, and only then."""
HASH_MB = 16


@dataclass(frozen=True)
class BenchResult:
    """Nodes and speed of the bench searches."""

    signature: int | None
    """Nodes of searches without a limit; None if they had one."""
    nodes: int
    """Nodes of all searches."""
    seconds: float
    """CPU seconds of this process."""
    nps: int
    """Nodes per second; 0 where the system counted no CPU time (Windows counts in 64ths of a second)."""


def signature(
    network_path: str = "default",
    depth: int = DEPTH,
    limit: int | None = None,
    searched: Callable[[int], None] | None = None,
) -> BenchResult:
    """Search every position with a fresh engine and measure the CPU time of this process.

    `depth` is 1 to 60; another depth than DEPTH has another signature. `limit` is a number of nodes per search, at
    least 1; with a limit there is no signature. `searched` is called after each position with the number of positions
    done. Raises OptionError for numbers outside these ranges.
    """
    check_number("depth", depth, most=DEEPEST)
    check_number("nodes", limit)
    from search.alphabeta.engine import AlphaBetaEngine

    engine = AlphaBetaEngine(network_path, HASH_MB)
    engine.analyse("startpos", depth=4)
    nodes, seconds = 0, 0.0
    for number, sfen in enumerate(POSITIONS, 1):
        engine.new_game()
        begun = time.process_time()
        nodes += engine.analyse(sfen, depth=depth, nodes=limit).nodes
        seconds += time.process_time() - begun
        if searched is not None:
            searched(number)
    nps = round(nodes / seconds) if seconds else 0
    known = nodes if limit is None else None
    return BenchResult(known, nodes, round(seconds, 3), nps)


@cache
def search_signature() -> int:
    """Count the signature of the search once per process: resumed runs are compared by it."""
    return signature().nodes
