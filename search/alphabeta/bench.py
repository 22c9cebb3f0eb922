"""A node signature and the speed of the search.

The signature is the number of nodes that fixed-depth searches of fixed positions take. A change that is meant to leave
the search alone must leave it alone; one that changes the search must change it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

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
"""The start, a full-handed position, an opening, and positions of engine games from move 25 to 109."""
DEPTH = 11
SIGNATURE = 634562
"""The nodes to that depth with the default network; to be changed with the search, and only then."""
HASH_MB = 16


def signature(
    network: str = "default",
    depth: int = DEPTH,
    limit: int | None = None,
    searched: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """{signature, nodes, seconds, nps} of a fresh engine on every position, by this process's CPU time;
    nps is 0 where the system counted none (Windows counts in 64ths of a second).

    depth: 1 to 60; depths other than DEPTH have other signatures. limit: nodes of each search at most, at least 1; with
    one there is no signature, it is None. searched: told after
    each position how many are done. Raises ValueError for others.
    """
    if not 1 <= depth <= 60:
        raise ValueError(f"--depth {depth}: choose 1 to 60")
    check_number("nodes", limit)
    from search.alphabeta.engine import AlphaBetaEngine

    engine = AlphaBetaEngine(network, HASH_MB)
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
    return {"signature": known, "nodes": nodes, "seconds": round(seconds, 3), "nps": nps}


@cache
def search_signature() -> int:
    """The search's own signature, counted once a process: what runs that go on know it by."""
    return int(signature()["signature"])
