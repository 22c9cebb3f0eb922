"""The vocabulary of jobs: a task opens workers, a worker turns jobs into products, a runner has jobs done.

A job's product depends on the job alone, so it does not matter where and when it is done, or whether it is done twice.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lite.run_folder import Line
from search.system.files import message_of


class Stopped(Exception):
    """Raised by a worker's `run` after a request to stop: there is no product."""


@dataclass(frozen=True, kw_only=True)
class JobLine(Line):
    """The result of a job as a line of a run's results; a job with a line is done."""

    job: int
    """Number of the job."""

    def __post_init__(self) -> None:
        if not 0 <= self.job < 1 << 63:
            raise ValueError("job must be a whole number from 0 on, no larger than a file may be")


@dataclass(frozen=True)
class Product:
    """The product of a job: records for a shard with their counts, or a line for the results."""

    content: bytes = b""
    """Records."""
    counts: Mapping[str, int | float] = field(default_factory=dict)
    """Figures that are summed over jobs: positions, games, nodes, seconds."""
    line: JobLine | None = None
    """The result of a job that makes no records; its `job` is set when it lands."""
    answers: tuple[Line, ...] = ()
    """Lines for another folder: a judge's answers that were found on another machine."""


class Worker(Protocol):
    """Does jobs one after another in one thread or process."""

    def run(self, job: Any) -> Product:
        """Do a job; the product must depend on the job alone, never on earlier jobs. Raises Stopped."""

    def stop(self) -> None:
        """End the job under way soon. Called from another thread, perhaps repeatedly and between jobs, until `run`
        returns."""


class Task(Protocol):
    """The common part of jobs that differ in little.

    Picklable, with everything in it that a worker on another machine needs (networks as bytes), nothing by its path.
    """

    def open(self) -> Worker:
        """Create a worker, once for each thread or process: allocates memory, loads networks, compiles."""


class JobError(ValueError):
    """A job that failed, in one line."""


@dataclass(frozen=True)
class Failure:
    """Replaces the product of a failed job; `words` is the reason in one line."""

    words: str


class Runner(Protocol):
    """Threads or machines that do jobs."""

    def capacity(self) -> int:
        """Return how many jobs should be under way or waiting, so that no worker is idle."""

    def submit(self, number: int, job: Any) -> None:
        """Give a job to the workers."""

    def take(self, seconds: float) -> tuple[int, Product | Failure] | None:
        """Return the next job that has come back, after at most `seconds` of waiting; None if none has."""

    def stop(self) -> None:
        """End the jobs under way and drop those that wait; jobs that have come back can still be taken."""


def failure_line(error: BaseException) -> str:
    """Return one line on an exception: its text if it is worded for users, as ValueError and OSError are; of a defect
    its class, its text, and where it was raised."""
    if isinstance(error, ValueError | OSError):
        return message_of(error)
    text = " ".join(str(error).split())
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in place)
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"
