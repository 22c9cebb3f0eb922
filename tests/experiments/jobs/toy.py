"""A task whose products contain their job numbers, and a program that runs it, for tests of kills and resuming.

python toy.py FOLDER JOBS [JOB_MILLISECONDS] [LARGEST_FILE] [RAY]
"""

from __future__ import annotations

import struct
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from experiments.jobs.protocol import Product, Stopped

JOB = "<II"
LARGE = 50


def content(job: int) -> bytes:
    """Return a job's number, a length and that many bytes: few, except for one large job."""
    length = 8000 if job == LARGE else job * 37 % 101
    return struct.pack(JOB, job, length) + bytes([job % 251]) * length


def jobs_of(raw: bytes) -> list[int]:
    """Return the jobs in a shard; check that each is complete."""
    found, at = [], 0
    while at < len(raw):
        job, length = struct.unpack_from(JOB, raw, at)
        assert raw[at : at + struct.calcsize(JOB) + length] == content(job)
        found.append(job)
        at += struct.calcsize(JOB) + length
    return found


@dataclass(frozen=True)
class ToyTask:
    seconds: float = 0.0

    def open(self) -> ToyWorker:
        return ToyWorker(self.seconds)


class ToyWorker:
    """A worker that sleeps, and fails at jobs below 0."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._stopped = threading.Event()

    def run(self, job: int) -> Product:
        if self._stopped.wait(self._seconds):
            raise Stopped
        if job < 0:
            raise IndexError(f"no board {job}")
        return Product(content(job), {"positions": job % 5, "seconds": 0.25})

    def stop(self) -> None:
        self._stopped.set()


def main(folder: str, jobs: str, milliseconds: str = "0", largest: str = "0", ray: str = "") -> None:
    from experiments.jobs.produce import Place, produce
    from lite.run_folder import RunPlan

    if int(largest):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest), resource.RLIM_INFINITY))
    print("begun", flush=True)
    place = Place(Path(folder), "hcpe", workers=3, ray=ray or None, shard_bytes=2000)
    numbered = ((number, number) for number in range(int(jobs)))
    produce(place, RunPlan("toy", {"seed": 1}), ToyTask(int(milliseconds) / 1000), numbered)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
