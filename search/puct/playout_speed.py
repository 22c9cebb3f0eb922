"""The speed of the PUCT search with a network."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from search.puct.engine import PuctEngine
from search.rules.perft import BENCH_POSITIONS

HASH_MB = 64
PLAYOUTS = 500
"""Playouts per position."""


@dataclass(frozen=True)
class PlayoutSpeed:
    """Speed of the search."""

    playouts: int
    """Number of playouts."""
    seconds: float
    """CPU time of this process in seconds."""
    playouts_per_s: int
    """Playouts per second."""


def measure_playouts(network_path: Path) -> PlayoutSpeed:
    """Measure playouts of a fresh tree on each of a few positions, by this process's CPU time.

    `network_path` is an ONNX file of dlshogi's format. Raises OSError or ValueError if it cannot be used.
    """
    engine = PuctEngine(network_path, HASH_MB)
    engine.warm_up()
    done, seconds = 0, 0.0
    for sfen, _ in BENCH_POSITIONS.values():
        engine.new_game()
        begun = time.process_time()
        done += engine.analyse(sfen, nodes=PLAYOUTS).nodes
        seconds += time.process_time() - begun
    return PlayoutSpeed(done, round(seconds, 3), round(done / seconds))
