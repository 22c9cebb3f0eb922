"""One reader under a coverage-guided fuzzer: python -m tests.fuzz READER --seconds 3600 --corpus DIR

A finding ends it and lies in the folder as `crash-...`, `timeout-...` or `oom-...`. Inputs that led somewhere new are
kept there, too, and a run with the same folder goes on from them; Ctrl-C, or a request to end, ends it with the time
that it has had. Needs atheris: pip install 'liteshogi[fuzz]'.
All readers in turn: python -m tests.fuzz.rounds --help
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import atheris

from tests.fuzz.ledger import Run
from tests.fuzz.reader import attempt
from tests.fuzz.readers import READERS
from tests.json_lines import append

ROOMS = ("search", "lite", "export", "experiments", "liteshogi")
MEGABYTES = 4096
"""That the process may hold."""
HANG_SECONDS = 3600
"""By the clock, for one input: the machine may stand still, or this process. `attempt` tells what takes much CPU."""
OUTCOMES = 512


def compiled() -> Iterator[str]:
    """The modules with compiled code, whose bytecode Numba must find as it was written."""
    root = Path(__file__).parents[2]
    for path in (path for room in ROOMS for path in (root / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "numba" in text or "compiling.jit" in text:
            yield ".".join(path.relative_to(root).with_suffix("").parts)


def branches() -> Callable[[int], int]:
    """A function with a branch for each of OUTCOMES numbers, which the fuzzer sees taken."""
    lines = (f"    if number == {number}:\n        return {number}\n" for number in range(OUTCOMES))
    names: dict[str, Callable[[int], int]] = {}
    exec(f"def branch(number):\n{''.join(lines)}", names)
    instrumented: Callable[[int], int] = atheris.instrument_func(names["branch"])
    return instrumented


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="One reader under atheris.")
    parser.add_argument("reader", choices=sorted(READERS))
    parser.add_argument("--seconds", type=float, default=3600, help="of CPU")
    parser.add_argument("--corpus", type=Path, required=True, help="folder of inputs, made if it is not there")
    parser.add_argument("--ledger", type=Path, help="JSON lines, to which a run that found nothing is added")
    told = parser.parse_args()
    told.corpus.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    reader = READERS[told.reader]
    with atheris.instrument_imports(include=list(ROOMS), exclude=list(compiled())):
        for number, content in enumerate(reader.seeds()):  # which also imports what there is to be followed
            (told.corpus / f"seed-{number}").write_bytes(content)
            attempt(reader, content, folder)
        from search.system.interrupt import interrupt_flag  # not before: what is imported here is followed
    branch = branches()
    executions, begun = 0, time.process_time()

    def end(taken: float) -> NoReturn:
        print(f"{told.reader}: {executions:,} executions in {taken / 60:.1f} minutes of CPU, nothing found")
        sys.stdout.flush()
        if told.ledger is not None:
            append(told.ledger, Run(told.reader, round(taken, 1), executions))
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    def one(content: bytes) -> None:
        nonlocal executions
        executions += 1
        branch(zlib.crc32(repr(attempt(reader, content, folder)).encode()) % OUTCOMES)
        taken = time.process_time() - begun
        if taken > told.seconds or interrupted():
            end(taken)

    clock = (f"-timeout={HANG_SECONDS}", f"-report_slow_units={HANG_SECONDS}")
    limits = (*clock, f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={told.corpus}/")
    with interrupt_flag(patient=True) as interrupted:
        atheris.Setup([sys.argv[0], *limits, "-handle_int=0", "-handle_term=0", str(told.corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
