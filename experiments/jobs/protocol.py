"""What a job is: a task opens workers, a worker turns jobs into products, a runner has them done.

A job's product depends on the job alone, so it does not matter where and when it is done, or whether it is done twice.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


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


def error_in_words(error: BaseException) -> str:
    """One line of an exception that nobody expected: what, and where it was raised."""
    text = " ".join(str(error).split())
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in place)
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"
