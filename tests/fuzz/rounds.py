"""All readers under the fuzzer in turn, the one with the least time first, until each has had so many seconds:

    python -m tests.fuzz.rounds ledger.jsonl --corpora corpora --seconds 3600

The same command goes on with what the ledger holds; Ctrl-C, or a request to end, ends it, and what the run under way
has had counts. A reader with a finding is left alone from then on. With NUMBA_BOUNDSCHECK=1 compiled code checks its
indices; that time counts as any other. `--table` prints what the ledger tells.
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
"""Seconds to which the ledger's sums are rounded: what is left below them is nothing."""
FINDINGS = ("crash-*", "timeout-*", "oom-*")


def findings(corpus: Path) -> set[Path]:
    return {path for pattern in FINDINGS for path in corpus.glob(pattern)}


def fuzz(reader: str, seconds: float, corpus: Path, ledger: Path) -> bool:
    """One run in a process of its own, and whether it found nothing."""
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
            process.wait()  # until it has told what it has had
            raise
    found = sorted(findings(corpus) - before)
    for path in found:
        append(ledger, Run(reader, 0.0, 0, finding=path.name))
    return process.returncode == 0 and not found


def go_round(readers: list[str], seconds: float, run_seconds: float, corpora: Path, ledger: Path) -> None:
    """Runs of `run_seconds` at the most, until each reader has had so many seconds or found something."""
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
    parser.add_argument("ledger", type=Path, help="JSON lines, added to")
    parser.add_argument("--corpora", type=Path, help="folder of the readers' folders, and of what atheris says")
    parser.add_argument("--seconds", type=float, default=3600, help="of CPU, that each reader is to have in all")
    parser.add_argument("--slice", type=float, default=300, help="seconds of CPU of a run")
    parser.add_argument("--readers", nargs="*", choices=sorted(READERS), default=sorted(READERS), metavar="READER")
    parser.add_argument("--table", action="store_true", help="print a table of the ledger and do no more")
    told = parser.parse_args()
    if told.table:
        print(table(read(told.ledger, Run)))
        return
    if told.corpora is None:
        parser.error("--corpora is needed")
    try:
        with ends_as_interrupts():  # else the reader under way would outlive this
            go_round(told.readers, told.seconds, told.slice, told.corpora, told.ledger)
    except KeyboardInterrupt:
        sys.exit("ended; the same command goes on")


if __name__ == "__main__":
    main()
