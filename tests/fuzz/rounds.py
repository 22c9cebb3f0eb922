"""Fuzz all readers in turn, the one with the least time first, until each has had a number of seconds:

    python -m tests.fuzz.rounds ledger.jsonl --corpora corpora --seconds 3600

The same command resumes from the ledger. Ctrl-C or SIGTERM ends it, and the time of the interrupted run counts.
A reader with a finding is skipped from then on. With NUMBA_BOUNDSCHECK=1 compiled code checks its indices; that time
counts like any other. `--table` prints a table of the ledger.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from search.system.interrupt import ends_as_interrupts
from tests.fuzz.ledger import Run, seconds_of, table
from tests.fuzz.readers import READERS
from tests.json_lines import append, read

ALIKE = 0.1
"""Remaining seconds below this are ignored, because the sums of the ledger are rounded."""
FINDINGS = ("crash-*", "timeout-*", "oom-*")


def findings(corpus: Path) -> set[Path]:
    return {path for pattern in FINDINGS for path in corpus.glob(pattern)}


def fuzz(reader: str, seconds: float, corpus: Path, ledger: Path) -> bool:
    """Fuzz a reader in its own process; return whether there was no finding."""
    before = findings(corpus)
    options = ["--seconds", str(seconds), "--corpus", str(corpus), "--ledger", str(ledger)]
    command = [sys.executable, "-m", "tests.fuzz", reader, *options]
    with (
        (corpus.parent / f"{reader}.log").open("ab") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            process.wait()
        except BaseException:
            process.terminate()
            process.wait()  # until it has printed its figures
            raise
    found = sorted(findings(corpus) - before)
    for path in found:
        append(ledger, Run(reader, 0.0, 0, finding=path.name))
    return process.returncode == 0 and not found


def fuzz_in_turn(readers: list[str], seconds: float, run_seconds: float, corpora: Path, ledger: Path) -> None:
    """Fuzz for at most `run_seconds` at a time until each reader has had `seconds` or a finding."""
    stopped: set[str] = set()
    while True:
        had = seconds_of(read(ledger, Run))
        left = [reader for reader in readers if seconds - had[reader] > ALIKE and reader not in stopped]
        if not left:
            return
        reader = min(left, key=lambda name: had[name])
        corpus = corpora / reader
        corpus.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        if not fuzz(reader, min(run_seconds, seconds - had[reader]), corpus, ledger):
            stopped.add(reader)
        words = "stopped: see its log" if reader in stopped else f"{had[reader] / 60:.0f} minutes before"
        print(f"{reader}: {time.monotonic() - begun:.0f} s, {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.rounds", description="All readers under atheris.")
    parser.add_argument("ledger", type=Path, help="JSON lines; runs are appended")
    parser.add_argument("--corpora", type=Path, help="folder with a folder per reader and the output of atheris")
    parser.add_argument("--seconds", type=float, default=3600, help="CPU seconds of each reader in total")
    parser.add_argument("--slice", type=float, default=300, help="CPU seconds of one run")
    parser.add_argument("--readers", nargs="*", choices=sorted(READERS), default=sorted(READERS), metavar="READER")
    parser.add_argument("--table", action="store_true", help="print a table of the ledger and exit")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(read(arguments.ledger, Run)))
        return
    if arguments.corpora is None:
        parser.error("--corpora is required")
    try:
        with ends_as_interrupts():  # otherwise the running reader would outlive this process
            fuzz_in_turn(arguments.readers, arguments.seconds, arguments.slice, arguments.corpora, arguments.ledger)
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command resumes")


if __name__ == "__main__":
    main()
