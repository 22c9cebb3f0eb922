"""Independent jobs on many cores: those of this machine, or of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from experiments.jobs.protocol import Failure, JobError, Product, Runner, Task
from experiments.jobs.threads import Threads

POLL_SECONDS = 0.2
"""Seconds between two checks for a request to stop."""


def run_jobs(
    task: Task,
    jobs: Iterable[tuple[int, Any]],
    workers: int,
    ray: str | None = None,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[], None] = lambda: None,
) -> Generator[tuple[int, Product], None, None]:
    """Yield (number, product) of jobs in the order in which they come back.

    `workers` threads of this machine do them, or, where `ray` is the address of a Ray cluster (or `auto`), its CPUs.
    `jobs` may be endless: about two per worker are drawn ahead. When `stop` returns True, or the generator is closed,
    the jobs under way are ended; in the first case products that have come back are still yielded. Raises JobError that
    names the job, after the products that came back before it; ConnectionError if the cluster does not answer;
    ModuleNotFoundError without Ray. `watch` is called at intervals while the jobs are under way.
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
            watch()
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
    from experiments.jobs.cluster import Cluster  # needs Ray

    return Cluster(task, ray)
