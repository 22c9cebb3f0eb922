"""Fuzz one reader, guided by coverage: python -m tests.fuzz READER --seconds 3600 --corpus DIR

A finding ends the run and is stored in the folder as `crash-...`, `timeout-...` or `oom-...`. Inputs that reach other
branches are stored there, too; a run with the same folder starts from them. Ctrl-C or SIGTERM ends a run, and its time
counts. Requires atheris: pip install 'liteshogi[fuzz]'.
To fuzz all readers in turn: python -m tests.fuzz.rounds --help
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

PACKAGES = ("search", "lite", "export", "experiments", "liteshogi")
MEGABYTES = 4096
"""Limit of the memory of a fuzzing process."""
HANG_SECONDS = 3600
"""Wall-clock limit of one input; high because the process may be suspended. `attempt` limits CPU time."""
OUTCOMES = 512


def compiled() -> Iterator[str]:
    """Yield the modules with compiled code; they are not instrumented because Numba needs their original bytecode."""
    root = Path(__file__).parents[2]
    for path in (path for package in PACKAGES for path in (root / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "numba" in text or "compiling.jit" in text:
            yield ".".join(path.relative_to(root).with_suffix("").parts)


def branches() -> Callable[[int], int]:
    """Return a function with a branch for each of OUTCOMES numbers, which the fuzzer observes."""
    lines = (f"    if number == {number}:\n        return {number}\n" for number in range(OUTCOMES))
    names: dict[str, Callable[[int], int]] = {}
    exec(f"def branch(number):\n{''.join(lines)}", names)
    instrumented: Callable[[int], int] = atheris.instrument_func(names["branch"])
    return instrumented


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="One reader under atheris.")
    parser.add_argument("reader", choices=sorted(READERS))
    parser.add_argument("--seconds", type=float, default=3600, help="CPU seconds")
    parser.add_argument("--corpus", type=Path, required=True, help="folder of inputs; created if missing")
    parser.add_argument("--ledger", type=Path, help="JSON lines; a run without a finding is appended")
    arguments = parser.parse_args()
    arguments.corpus.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    reader = READERS[arguments.reader]
    with atheris.instrument_imports(include=list(PACKAGES), exclude=list(compiled())):
        for number, content in enumerate(reader.seeds()):  # this also imports the modules to instrument
            (arguments.corpus / f"seed-{number}").write_bytes(content)
            attempt(reader, content, folder)
        from search.system.interrupt import interrupt_flag  # imported here so that it is instrumented
    branch = branches()
    executions, begun = 0, time.process_time()

    def end(taken: float) -> NoReturn:
        print(f"{arguments.reader}: {executions:,} executions in {taken / 60:.1f} minutes of CPU, nothing found")
        sys.stdout.flush()
        if arguments.ledger is not None:
            append(arguments.ledger, Run(arguments.reader, round(taken, 1), executions))
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    def one(content: bytes) -> None:
        nonlocal executions
        executions += 1
        branch(zlib.crc32(repr(attempt(reader, content, folder)).encode()) % OUTCOMES)
        taken = time.process_time() - begun
        if taken > arguments.seconds or interrupted():
            end(taken)

    clock = (f"-timeout={HANG_SECONDS}", f"-report_slow_units={HANG_SECONDS}")
    limits = (*clock, f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={arguments.corpus}/")
    with interrupt_flag(patient=True) as interrupted:
        atheris.Setup([sys.argv[0], *limits, "-handle_int=0", "-handle_term=0", str(arguments.corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
