"""Measure the CPU seconds of compiling each function, for the estimates of `search.compiling.progress`.

Run it as `python -m release.compile_times` after large changes of compiled code; it takes minutes. It rewrites
`search/compiling/compile_times.json`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from search.compiling.progress import TABLE
from search.system.files import write_atomically

_CALLS = {
    "ahead": "from search.warmup import compile_ahead; compile_ahead()",
    "search": "from search.warmup import compile_search; compile_search()",
    "beside": "from search.warmup import compile_search, compile_beside; compile_search(); compile_beside()",
    "puct": "from search.warmup import compile_puct; compile_puct()",
}
"""The parts of a first start: functions of the search in a second process, the search, other functions in that
process, and the PUCT player."""
_AFTER = {
    "positions": """
import cshogi, numpy as np
from search.rules.huffman import decode, encode
code = np.zeros(1, cshogi.HuffmanCodedPos)
cshogi.Board().to_hcp(code)
encode(*decode(code.tobytes()))
""",
    "records": """
from experiments.sweep.sweep import SAMPLES
from lite.records.reader import Reader
next(iter(Reader(SAMPLES[1], 256)))
""",
    "games": """
from experiments.matches.in_process_match import Match, play_match
play_match(Match(first="default", second="default", nodes=50, games=2, parallel=1, output="games"))
""",
    "training": """
from pathlib import Path
from experiments.sweep.sweep import SAMPLES
from lite.networks.build import CONFIGS
from lite.training.options import ValueTraining
from lite.training.train import train_value
train_value(ValueTraining(SAMPLES[1], Path("run"), network=CONFIGS["dense"](), max_steps=2))
""",
}
"""Functions that other verbs compile after the first start, each after the verbs above it."""
_REPORT = "import json; from search.compiling.progress import PROGRESS; print(json.dumps(PROGRESS.seconds))"


def measure() -> dict[str, dict[str, float]]:
    """Compile each part; return CPU seconds by part and function."""
    found: dict[str, dict[str, float]] = {}
    for part, call in _CALLS.items():
        with TemporaryDirectory() as cache:
            found[part] = compiled_by(call, cache)
    for part, earlier in (("beside", "search"), ("search", "ahead")):
        found[part] = {name: seconds for name, seconds in found[part].items() if name not in found[earlier]}
    with TemporaryDirectory() as cache:
        compiled_by(_CALLS["beside"], cache)
        return found | measure_others(cache, {*found["ahead"], *found["search"], *found["beside"]})


def measure_others(cache: str, engine: Collection[str]) -> dict[str, dict[str, float]]:
    """Compile the functions of other verbs, except those of the engine, which are in this cache."""
    known, found = set(engine), dict[str, dict[str, float]]()
    for part, call in _AFTER.items():
        found[part] = {name: seconds for name, seconds in compiled_by(call, cache).items() if name not in known}
        known |= found[part].keys()
    return found


def compiled_by(call: str, cache: str) -> dict[str, float]:
    """Return the CPU seconds of each function that a call compiles in its own process with this cache."""
    environment = {"PYTHONPATH": str(Path(__file__).parents[1]), **os.environ, "LITESHOGI_CACHE": cache}
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", f"{call}\n{_REPORT}"],
            env=environment,
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
        )
    times = json.loads(done.stdout.splitlines()[-1])
    return {name: round(seconds, 3) for name, seconds in sorted(times.items())}


if __name__ == "__main__":
    write_atomically(TABLE, (json.dumps(measure(), indent=1) + "\n").encode())
