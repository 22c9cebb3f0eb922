"""Sessions with the real engine for hours. Memory and handles are recorded every minute and checked for growth:

    python -m tests.soak soak.jsonl --hours 24

The same command resumes from the file; Ctrl-C prints the figures so far. Requires Linux.
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
"""Limit of an answer in seconds, on a machine with other work."""


def measured(process: Process, run: int, begun: float, done: Counter[str]) -> log.Measurement:
    """Measure an idle session."""
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
    """Run an engine until the file covers a number of hours."""
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
    parser.add_argument("log", type=Path, help="JSON lines; measurements are appended")
    parser.add_argument("--hours", type=float, default=24, help="total, including the hours in the file")
    parser.add_argument("--every", type=float, default=60, help="seconds between measurements")
    arguments = parser.parse_args()
    try:
        soak(arguments.log, arguments.hours, arguments.every)
    except KeyboardInterrupt:
        pass
    finally:
        print(log.summary(read(arguments.log, log.Measurement)))


if __name__ == "__main__":
    main()
