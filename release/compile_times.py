"""Measure the CPU seconds of compiling each function of the engine, for the estimates of `search.compiling.progress`.

Run it as `python -m release.compile_times` after large changes of compiled code; it takes minutes. It rewrites
`search/compiling/compile_times.json`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from search.compiling.progress import TABLE
from search.system.files import write_atomically

_CALLS = {
    "search": "from search.warmup import compile_search; compile_search()",
    "beside": "from search.warmup import compile_search, compile_beside; compile_search(); compile_beside()",
    "puct": "from search.warmup import compile_puct; compile_puct()",
}
"""The parts of a first start: the search, what a second process compiles beside it, and the PUCT player."""
_REPORT = "import json; from search.compiling.progress import PROGRESS; print(json.dumps(PROGRESS.seconds))"


def measure() -> dict[str, dict[str, float]]:
    """Compile each part with an empty cache; return CPU seconds by part and function."""
    found: dict[str, dict[str, float]] = {}
    for part, call in _CALLS.items():
        with TemporaryDirectory() as cache:
            environment = {**os.environ, "LITESHOGI_CACHE": cache}
            code = f"{call}; {_REPORT}"
            done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE)
        found[part] = {name: round(seconds, 3) for name, seconds in json.loads(done.stdout).items()}
    found["beside"] = {name: seconds for name, seconds in found["beside"].items() if name not in found["search"]}
    return {part: dict(sorted(times.items())) for part, times in found.items()}


if __name__ == "__main__":
    write_atomically(TABLE, (json.dumps(measure(), indent=1) + "\n").encode())
