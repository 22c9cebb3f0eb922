"""Sessions with the real engine for hours, its memory and handles noted every minute, and at the end whether it grew:

    python -m tests.soak soak.jsonl --hours 24

The same command goes on with what the file holds; Ctrl-C tells how far it is. Linux alone tells what is measured.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from pathlib import Path

from tests.json_lines import append, read
from tests.soak import log
from tests.soak.activities import ACTIVITIES, rest
from tests.usi_session import Process

PATIENCE = 3600.0
"""Seconds for an answer on a machine that has other work."""


def measured(process: Process, run: int, begun: float, done: Counter[str]) -> log.Measurement:
    """Of a session at rest."""
    place = Path(f"/proc/{process.process.pid}")
    status = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
    return log.Measurement(
        run,
        round(time.monotonic() - begun, 1),
        int(status["VmRSS"].split()[0]),
        len(os.listdir(place / "fd")),
        int(status["Threads"]),
        dict(done),
    )


def soak(path: Path, hours: float, every: float) -> None:
    """Have an engine work until the file tells of so many hours."""
    before = read(path, log.Measurement)
    run = 1 + max((one.run for one in before), default=-1)
    left = 3600 * hours - log.seconds_of(before)
    generator, done = random.Random(run), Counter[str]()
    process = Process()
    process.patience = PATIENCE
    try:
        process.send("usi").until("usiok")
        begun = time.monotonic()
        next_at = 0.0
        while (at := time.monotonic() - begun) < left:
            if at >= next_at:
                rest(process)
                append(path, measured(process, run, begun, done))
                next_at = time.monotonic() - begun + every
            activity = generator.choice(ACTIVITIES)
            activity(process, generator)
            done[activity.__name__] += 1
        process.send("quit")
        assert process.ended() == 0
    finally:
        process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="The engine at work for hours.")
    parser.add_argument("log", type=Path, help="JSON lines, added to")
    parser.add_argument("--hours", type=float, default=24, help="in all, with those that the file tells of")
    parser.add_argument("--every", type=float, default=60, help="seconds between measurements")
    told = parser.parse_args()
    try:
        soak(told.log, told.hours, told.every)
    except KeyboardInterrupt:
        pass
    finally:
        print(log.in_words(read(told.log, log.Measurement)))


if __name__ == "__main__":
    main()
