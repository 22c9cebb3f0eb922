"""The verb `warmup --puct`: the PUCT player compiled ahead, once for all processes that start together."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import numpy as np

from search.machine.jit import CACHE_DIRECTORY
from search.puct.engine import PuctEngine
from search.puct.planes import LABELS
from search.warmup import compiling_alone


def even_network(input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
    """A network that thinks every position even and every move as good as the others; see `OnnxNetwork`."""
    return np.zeros((len(input1), LABELS), np.float32), np.full(len(input1), 0.5, np.float32), None


@dataclass(frozen=True)
class WarmupPuct:
    """Compile the PUCT player ahead; which network it will play with does not matter."""

    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        begun = time.perf_counter()
        with compiling_alone():
            PuctEngine(even_network, 1).warm_up()
        seconds = time.perf_counter() - begun
        if self.json:
            print(json.dumps({"seconds": round(seconds, 3), "directory": str(CACHE_DIRECTORY)}))
        else:
            print(f"compiled code of the PUCT player ready in {seconds:.1f} s: {CACHE_DIRECTORY}")
