"""The speed of the PUCT search with a network."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from search.puct.engine import PuctEngine
from search.rules.perft import BENCH_POSITIONS

HASH_MB = 64
PLAYOUTS = 500
"""For each position."""


def measure_playouts(model: Path) -> dict[str, Any]:
    """{playouts, seconds, playouts_per_s}: of a fresh tree on each of a few positions, by this process's CPU time.

    model: an ONNX file of dlshogi's format. Raises OSError or ValueError in words.
    """
    engine = PuctEngine(model, HASH_MB)
    engine.warm_up()
    done, seconds = 0, 0.0
    for sfen, _ in BENCH_POSITIONS.values():
        engine.new_game()
        begun = time.process_time()
        done += engine.analyse(sfen, nodes=PLAYOUTS).nodes
        seconds += time.process_time() - begun
    return {"playouts": done, "seconds": round(seconds, 3), "playouts_per_s": round(done / seconds)}
