"""A data factory's main loop: jobs out, products into shards, and the same command goes on wherever it was cut."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from experiments.jobs.description import Description
from experiments.jobs.jobs import run_jobs
from experiments.jobs.ledger import Counts
from experiments.jobs.progress import Progress
from experiments.jobs.protocol import Product, Task
from experiments.jobs.shards import LEDGER, SHARD_BYTES, Shards
from lite.amounts import amount
from search.system.interrupt import interrupt_flag

DESCRIBE_SECONDS = 10.0
"""Between two updates of the description, whose hours of work a kill cuts to the last."""
BARREN_JOBS, BARREN_SHARE = 20, 0.01
"""A goal is given up when of so many jobs on end no larger share of what they have made counts toward it: where all was
made before, that much may seem not to have been, see `Seen`."""


@dataclass(frozen=True)
class Place:
    """Where data are made, and by whom."""

    folder: Path
    form: str
    """hcpe, hcpe3 or psv: what the products hold."""
    workers: int = 1
    """Threads of this machine."""
    ray: str | None = None
    """The address of a Ray cluster whose CPUs work instead, or `auto`."""
    shard_bytes: int = SHARD_BYTES
    max_bytes: int | None = None
    """Of all records: jobs whose products would go beyond do not land."""
    in_order: bool = False
    """Products land in the order of their jobs, and none once the work has ended: however many work and however often
    they are cut, the files are the same."""


class Finish(Protocol):
    """What is done to each product where they all come together, as leaving out what was made before."""

    def recall(self) -> None:
        """Remember what lies in the folder already."""

    def __call__(self, product: Product) -> Product:
        """The product as it is to land."""


class Referee(Protocol):
    """Watches what comes of each job, and may have seen enough before all are done."""

    total: int | None
    """How much there is to do, as `measure` counts it; None where that is not known."""

    def see(self, number: int, counts: Counts) -> None:
        """A job has landed, now or in an earlier run: those come first."""

    def has_enough(self) -> bool:
        """Whether the work ends here."""

    def measure(self) -> tuple[int, str]:
        """For the progress line: how much is done, and the words."""


def produce(
    place: Place,
    description: Description,
    task: Task,
    jobs: Iterable[tuple[int, Any]],
    goal: tuple[str, int] | None = None,
    finish: Finish | None = None,
    referee: Referee | None = None,
    total: int | None = None,
) -> dict[str, Any]:
    """Do the jobs whose products are not in the folder yet; {folder, jobs, bytes, the sums of their counts, ended}.

    `goal` is a count (`jobs`, `bytes` or one of the products') and an amount: with it the work ends, and what is whole
    by then still lands; `jobs` may be endless. `finish` has the last word on each product before it lands.
    `referee` may end the work by what has come of it, and says how far it is. `total` is how many jobs there are, where
    that is known; where it is not, a goal that they no longer come nearer to is given up. `ended` is `goal`, `referee`,
    `max_bytes`, or `jobs` where none is left. Raises OSError, ValueError (a goal that is given up, too) or JobError in
    words, KeyboardInterrupt at Ctrl-C, SIGTERM or SIGHUP: what has landed stays, and the same call goes on.
    """
    with (
        Shards(place.folder, place.form, place.shard_bytes, place.in_order) as shards,
        interrupt_flag() as interrupted,
    ):
        work = _Work(place, shards, description, goal, referee, endless=total is None)
        description.begin(place.folder, empty=not shards.done)
        if finish is not None and shards.done:
            finish.recall()
        if referee is not None:
            _recall(referee, shards)
        drawn = _Drawn(job for job in jobs if job[0] not in shards.done)
        coming = run_jobs(task, drawn, place.workers, place.ray, lambda: interrupted() or bool(work.ended()))
        landing = drawn.in_order(coming) if place.in_order else coming
        try:
            wanted, measure = (
                (referee.total, referee.measure) if referee else (goal[1] if goal else total, work.measure)
            )
            with closing(landing), Progress(wanted, measure) as progress:
                for number, product in landing:
                    if place.in_order and work.ended():
                        break
                    work.land(number, product, finish(product) if finish else product)
                    progress.show()
        except BaseException:
            with suppress(OSError):  # the disk may be full; the description waits for the next start
                description.update(work.totals())
            print(_how_to_go_on(place.folder), file=sys.stderr)
            raise
        description.update(work.totals())
        if interrupted():
            print(_how_to_go_on(place.folder), file=sys.stderr)
            raise KeyboardInterrupt
    return {"folder": str(place.folder), **work.totals(), "ended": work.ended() or "jobs"}


def _recall(referee: Referee, shards: Shards) -> None:
    """Show it what has landed in earlier runs. ValueError that names a job whose counts are none of this work's."""
    for number, counts in shards.landed() if shards.done else ():
        try:
            referee.see(number, counts)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise ValueError(
                f"{shards.folder / LEDGER}: job {number}: its counts are none of such work; restore it from a copy, or "
                "begin in another folder"
            ) from None


_Landing = Generator[tuple[int, Product], None, None]


class _Drawn:
    """Jobs as they are drawn, to put what comes of them into the same order."""

    def __init__(self, jobs: Iterator[tuple[int, Any]]) -> None:
        self._jobs = jobs
        self._numbers: deque[int] = deque()

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number, job in self._jobs:
            self._numbers.append(number)
            yield number, job

    def in_order(self, coming: _Landing) -> _Landing:
        """Each product when those of all jobs drawn before have come; what waits at the end for others is dropped."""
        early: dict[int, Product] = {}
        with closing(coming):
            for number, product in coming:
                early[number] = product
                while self._numbers and self._numbers[0] in early:
                    first = self._numbers.popleft()
                    yield first, early.pop(first)


class _Work:
    """How far the work in a folder is."""

    def __init__(
        self,
        place: Place,
        shards: Shards,
        description: Description,
        goal: tuple[str, int] | None,
        referee: Referee | None,
        endless: bool,
    ) -> None:
        self._shards, self._description, self._goal, self._referee = shards, description, goal, referee
        self._max_bytes = place.max_bytes
        self._is_full, self._endless = False, endless
        self._barren = 0
        self._begun = self._described = time.monotonic()
        self._before = self.totals()

    def totals(self) -> dict[str, int | float]:
        return {**self._shards.totals, "jobs": len(self._shards.done), "bytes": self._shards.bytes}

    def land(self, number: int, made: Product, product: Product) -> None:
        """Keep a product, if there is room for it; `made` is what its job has made, before what was there was left out.
        ValueError where that would go on for ever."""
        if self._max_bytes is not None and self._shards.bytes + len(product.content) > self._max_bytes:
            self._is_full = True
            return
        before = self._reached()
        if self._shards.append(number, product) and self._referee is not None:
            self._referee.see(number, product.counts)
        if time.monotonic() - self._described >= DESCRIBE_SECONDS:
            self._described = time.monotonic()
            self._description.update(self.totals())
        if self._goal is not None and self._endless:
            name, amount = self._goal
            is_barren = self._reached() - before <= BARREN_SHARE * made.counts.get(name, 0)
            self._barren = self._barren + 1 if is_barren else 0
            if self._barren == BARREN_JOBS:
                raise ValueError(
                    f"{self._shards.folder}: the last {BARREN_JOBS} jobs have made next to nothing that was not there, "
                    f"so there will not be {amount:,} {name}; ask for fewer, or for what differs more"
                )

    def _reached(self) -> int | float:
        """How much of the goal, if there is one."""
        return 0 if self._goal is None else self.totals().get(self._goal[0], 0)

    def ended(self) -> str:
        """Why nothing more is to be done; empty if it is not so."""
        if self._goal is not None and self._reached() >= self._goal[1]:
            return "goal"
        if self._referee is not None and self._referee.has_enough():
            return "referee"
        return "max_bytes" if self._is_full else ""

    def measure(self) -> tuple[int, str]:
        """For the progress line: how much of the goal is reached, or how many jobs are done, and the words."""
        totals, seconds = self.totals(), max(time.monotonic() - self._begun, 1e-9)
        words = [amount(int(totals["jobs"]), "job")]
        for name in ("games", "positions"):
            if name in totals:
                words.append(f"{totals[name]:,} {name}")
        if "positions" in totals:
            words.append(f"{(totals['positions'] - self._before.get('positions', 0)) / seconds:,.0f} positions/s")
        return int(totals.get(self._goal[0] if self._goal else "jobs", 0)), ", ".join(words)


def _how_to_go_on(folder: Path) -> str:
    return f"{folder}: what has landed is kept; the same command goes on"
