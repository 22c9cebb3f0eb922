"""Jobs done by threads, with a line that tells how far they are; what they make is JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from experiments.jobs.jobs import run_jobs
from experiments.jobs.progress import Progress
from experiments.jobs.protocol import Product, Task


def product_of(made: Any) -> Product:
    """What a job has made, as a worker gives it."""
    return Product(json.dumps(made).encode(), {})


def work_through(
    task: Task,
    jobs: Iterable[Any],
    total: int,
    workers: int,
    what: str,
    enough: Callable[[dict[int, Any]], int] | None = None,
    *,
    goes_on: bool,
) -> list[Any]:
    """What the jobs have made, in their order. Says how many of `total` are done; KeyboardInterrupt ends it soon, and
    where the same command `goes_on`, as with a judge's answers, that is said.

    `enough` counts what is wanted among what has come (by job's number): at `total` no more is done.
    """
    made: dict[int, Any] = {}

    def done() -> int:
        return len(made) if enough is None else enough(made)

    with Progress(total, lambda: (done(), f"{done()} of {total} {what}")) as progress:
        try:
            with closing(run_jobs(task, enumerate(jobs), workers)) as products:
                for number, product in products:
                    made[number] = json.loads(product.content)
                    progress.show()
                    if done() >= total:
                        break
        except KeyboardInterrupt:
            print("\nrun the same command again to go on" * goes_on, file=sys.stderr)
            raise
    return [made[number] for number in sorted(made)]
