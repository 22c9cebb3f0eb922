"""Independent jobs on many cores: those of this machine, or of a Ray cluster.

A job's product depends on the job alone, so it matters neither where and when it is done nor that it may be done twice.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

POLL_SECONDS = 0.2
"""So soon a wish to stop is seen."""
PATIENCE_SECONDS = 20.0
"""For workers to end when they are told to: one that compiles cannot be interrupted."""


class Stopped(Exception):
    """What a worker's `run` raises when it was told to stop: there is no product."""


@dataclass(frozen=True)
class Product:
    """What a job has made."""

    content: bytes
    """Records, for a shard."""
    counts: Mapping[str, int | float]
    """What is summed over jobs: positions, games, nodes, seconds."""


class Worker(Protocol):
    """Who does jobs, one after another."""

    def run(self, job: Any) -> Product:
        """Do a job; what comes of it must depend on the job alone, never on what ran before. Raises Stopped."""

    def stop(self) -> None:
        """End the job under way soon. Called from another thread, perhaps again and again and where none is under way,
        until `run` has come back."""


class Task(Protocol):
    """What there is to do, for jobs that differ in little: picklable, with everything in it that a worker on another
    machine needs (networks as bytes), nothing by its path."""

    def open(self) -> Worker:
        """A worker, once for each thread or process: makes its memory, loads networks, compiles."""


class JobError(ValueError):
    """A job that failed, in one line."""


@dataclass(frozen=True)
class Failure:
    """In place of a product: why there is none, in words."""

    words: str


class Runner(Protocol):
    """Where jobs are done."""

    def capacity(self) -> int:
        """How many should be under way or waiting there, that nobody idles."""

    def submit(self, number: int, job: Any) -> None:
        """Have a job done."""

    def take(self, seconds: float) -> tuple[int, Product | Failure] | None:
        """The next that has come back, waited for at most so long."""

    def stop(self) -> None:
        """End the jobs under way and drop those that wait; what has come back can still be taken."""


def run_jobs(
    task: Task,
    jobs: Iterable[tuple[int, Any]],
    workers: int,
    ray: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Generator[tuple[int, Product], None, None]:
    """(A job's number, its product) in the order in which they come back.

    Done by `workers` threads here, or, where `ray` is the address of a Ray cluster (or `auto`), by its CPUs. `jobs` may
    be endless: about two a worker are drawn ahead. When `stop` becomes true, or the generator is closed, the jobs under
    way are ended, and in the first case what has come back still comes. Raises JobError that names the job, after what
    came back before it; ConnectionError for a cluster that does not answer; ModuleNotFoundError without Ray.
    """
    waiting = iter(jobs)
    runner = _runner(task, workers, ray)
    in_flight, exhausted = 0, False
    failed = ""
    try:
        while not (stop() or failed):
            while not exhausted and in_flight < runner.capacity():
                if (drawn := next(waiting, None)) is None:
                    exhausted = True
                else:
                    runner.submit(*drawn)
                    in_flight += 1
            if not in_flight:
                return
            if (came := runner.take(POLL_SECONDS)) is None:
                continue
            in_flight -= 1
            number, product = came
            if isinstance(product, Failure):
                failed = f"job {number}: {product.words}"
            else:
                yield number, product
        runner.stop()
        while (came := runner.take(0)) is not None:
            number, product = came
            if isinstance(product, Product):
                yield number, product
    finally:
        runner.stop()
    if failed:
        raise JobError(failed)


def _runner(task: Task, workers: int, ray: str | None) -> Runner:
    if ray is None:
        return Threads(task, workers)
    from experiments.factory.cluster import Cluster  # needs Ray

    return Cluster(task, ray)


class Threads:
    """Workers in threads of this process: for jobs that spend their time in compiled code, without the GIL."""

    def __init__(self, task: Task, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers: at least 1 is needed")
        self._task = task
        self._jobs: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()
        self._back: queue.SimpleQueue[tuple[int, Product | Failure]] = queue.SimpleQueue()
        self._opened: list[Worker] = []
        self._stopping = threading.Event()
        # Daemons, so that one that does not end holds up nobody for ever.
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def capacity(self) -> int:
        return 2 * len(self._threads)

    def submit(self, number: int, job: Any) -> None:
        self._jobs.put((number, job))

    def take(self, seconds: float) -> tuple[int, Product | Failure] | None:
        try:
            return self._back.get(timeout=seconds) if seconds else self._back.get_nowait()
        except queue.Empty:
            return None

    def stop(self) -> None:
        self._stopping.set()
        for _ in self._threads:
            self._jobs.put(None)
        end = time.monotonic() + PATIENCE_SECONDS
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < end:
            for worker in list(self._opened):
                worker.stop()  # anew each time: the first may have come between two jobs
            for thread in self._threads:
                thread.join(0.01)

    def _work(self) -> None:
        worker: Worker | None = None
        while (drawn := self._jobs.get()) is not None and not self._stopping.is_set():
            number, job = drawn
            try:
                if worker is None:
                    worker = self._task.open()
                    self._opened.append(worker)
                self._back.put((number, worker.run(job)))
            except BaseException as error:
                if isinstance(error, Stopped) and self._stopping.is_set():
                    return
                self._back.put((number, Failure(error_in_words(error))))
                return


def error_in_words(error: BaseException) -> str:
    """One line of an exception that nobody expected: what, and where it was raised."""
    text = " ".join(str(error).split())
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in place)
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"
