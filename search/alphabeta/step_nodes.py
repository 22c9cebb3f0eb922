"""Cost of each search step: nodes to a fixed depth with and without it.

Other steps work harder when one is left out, so the ratios do not multiply. Fewer nodes to a depth do not prove a
stronger engine, because a step may save nodes by overlooking moves: only games show strength. Ratios are taken per
position and averaged by their logarithms, as one position may take more nodes than all others together.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from dataclasses import dataclass

from search.alphabeta.bench import DEEPEST, POSITIONS
from search.alphabeta.parameters import EVERY_STEP, STEPS
from search.system.bounds import check_number

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
"""Positions of recorded games, in addition to those of `search.alphabeta.bench`."""
HASH_MB = 64
FULL_SEARCH = "full search"


@dataclass(frozen=True)
class Searches:
    """Searches of all positions to a depth."""

    nodes: tuple[int, ...]
    """Nodes of each position."""
    seconds: float
    """CPU time of all positions."""
    reached: int
    """Number of positions that reached the depth."""


@dataclass(frozen=True)
class StepCost:
    """The search without one step, compared with the full search."""

    nodes: int
    """Nodes per position (geometric mean)."""
    ratio: float
    """Nodes divided by the full search's (geometric mean)."""
    error: float
    """Standard error of the ratio's logarithm."""
    seconds: float
    """CPU time of all positions."""
    reached: int
    """Number of positions that reached the depth."""


@dataclass(frozen=True)
class StepCosts:
    """The cost of every step of the search."""

    depth: int
    positions: int
    """Number of positions searched."""
    rows: dict[str, StepCost]
    """Costs by the step that is left out; the first row, `full search`, leaves out none."""


def nodes_to_depth(steps: int, network_path: str, depth: int, most_nodes: int) -> Searches:
    """Search each position to `depth` with an empty table and count its nodes, at most `most_nodes`.

    `steps` has a bit for each step that is used.
    """
    from search.alphabeta.engine import AlphaBetaEngine

    engine = AlphaBetaEngine(network_path, HASH_MB)
    engine.steps = steps
    nodes, reached, begun = [], 0, time.process_time()
    for sfen in POSITIONS + MORE_POSITIONS:
        engine.new_game()
        result = engine.analyse(sfen, depth=depth, nodes=most_nodes)
        nodes.append(result.nodes)
        reached += result.depth >= depth
    return Searches(tuple(nodes), round(time.process_time() - begun, 2), reached)


def compare_steps(network_path: str = "default", depth: int = 12, most_nodes: int = 30_000_000) -> StepCosts:
    """Compare the full search with searches that leave out one step each.

    A position is given up after `most_nodes`. Reports progress on standard error. Raises OptionError for a depth
    outside 1 to 60.
    """
    check_number("depth", depth, most=DEEPEST)
    check_number("most_nodes", most_nodes)
    nodes_to_depth(EVERY_STEP, network_path, 2, most_nodes)  # loads the compiled code
    rows: dict[str, StepCost] = {}
    full: tuple[int, ...] = ()
    for number, name in enumerate((FULL_SEARCH, *STEPS)):
        print(f"{number} of {len(STEPS)} steps: {name}", file=sys.stderr)
        steps = EVERY_STEP & ~(1 << number - 1) if number else EVERY_STEP
        found = nodes_to_depth(steps, network_path, depth, most_nodes)
        full = full or found.nodes
        ratios = [math.log(nodes / most) for nodes, most in zip(found.nodes, full, strict=True)]
        rows[name] = StepCost(
            nodes=round(statistics.geometric_mean(found.nodes)),
            ratio=math.exp(statistics.mean(ratios)),
            error=statistics.stdev(ratios) / math.sqrt(len(ratios)),
            seconds=found.seconds,
            reached=found.reached,
        )
    return StepCosts(depth, len(POSITIONS + MORE_POSITIONS), rows)
