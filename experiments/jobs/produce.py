"""The main loop of long work: run jobs and write their products into a run folder; the same call resumes."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from experiments.jobs.jobs import run_jobs
from experiments.jobs.ledger import Counts
from experiments.jobs.progress import Progress
from experiments.jobs.protocol import JobLine, Product, Task
from experiments.jobs.shards import SHARD_BYTES, Shards
from experiments.language.catalogue import shown
from lite.amounts import amount
from lite.records.file import Refusals
from lite.run_folder import RESULTS, Line, RunPlan, RunWriter
from search.system.interrupt import interrupt_flag

UPDATE_SECONDS = 10.0
"""Seconds between two updates of run.json."""
BARREN_JOBS, BARREN_SHARE = 20, 0.01
"""A goal is given up when BARREN_JOBS jobs in a row add less than this share of their products: `Seen` may report that
share as new even if all products were made before."""


@dataclass(frozen=True)
class Place:
    """The folder of the work, and the workers."""

    folder: Path
    form: str
    """Format of the products: hcpe, hcpe3 or psv."""
    workers: int = 1
    """Jobs at a time on this machine."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs work instead, or `auto`."""
    shard_bytes: int = SHARD_BYTES
    max_bytes: int | None = None
    """Limit for all records: jobs whose products would exceed it do not land."""
    in_order: bool = False
    """Results are written in the order of their jobs, and none once the work has ended, so the files do not depend on
    the number of workers or on interruptions."""


@dataclass(frozen=True)
class Production:
    """The state of a folder after a call."""

    folder: Path
    totals: dict[str, int | float]
    """Sums of all jobs' counts, with `jobs` and `bytes`."""
    ended: str
    """Why the work ended: `goal`, `referee`, `max_bytes`, or `jobs` where none is left."""
    refusals: Refusals | None = None
    """Records of the sources that could not be read."""

    def count(self, name: str) -> int:
        """Return one of the totals; 0 where no job has counted it."""
        return int(self.totals.get(name, 0))


class Finish(Protocol):
    """Changes each product before it lands, in the one place that sees all: leaves out what was made before."""

    def recall(self) -> None:
        """Remember the records that are in the folder already."""

    def __call__(self, product: Product) -> Product:
        """Return the product as it is to land."""


class Referee(Protocol):
    """Watches the counts of each job, and may end the work before all jobs are done."""

    total: int | None
    """Amount of work, in the unit of `measure`; None where it is not known."""

    def see(self, number: int, counts: Counts) -> None:
        """Take note of a job that has landed; those of earlier calls come first."""

    def has_enough(self) -> bool:
        """Return whether the work ends here."""

    def measure(self) -> tuple[int, str]:
        """Return (amount done, text) for the progress line."""


def produce(
    place: Place,
    plan: RunPlan,
    task: Task,
    jobs: Iterable[tuple[int, Any]],
    goal: tuple[str, int] | None = None,
    finish: Finish | None = None,
    referee: Referee | None = None,
    total: int | None = None,
    keep: Callable[[Line], None] | None = None,
    others: str = "",
) -> Production:
    """Do the jobs whose products are not in the folder yet, and land their records in shards.

    goal: (`jobs`, `bytes` or one of the products' counts, amount) at which the work ends; products that are whole by
    then still land; `jobs` may be endless. finish: changes each product before it lands. referee: may end the work by
    the counts of the jobs, and measures progress. total: number of jobs, where it is known; where it is not, a goal
    that jobs no longer come nearer to is given up. keep: takes the products' `answers`. others: how to get other
    products, for the notice that the folder was complete before the call.

    Raises OSError, ValueError (also for a goal that is given up) or JobError, and KeyboardInterrupt at Ctrl-C, SIGTERM
    or SIGHUP: jobs that have landed stay, and the same call resumes.
    """
    with (
        RunWriter(place.folder, plan) as run,
        Shards(run, place.form, place.shard_bytes, place.in_order) as shards,
        _resumable(place.folder) as interrupted,
    ):
        work = _ShardWork(place, run, shards, goal, referee, total)
        if finish is not None and shards.done:
            finish.recall()
        if referee is not None:
            _recall(referee, shards)
        wanted, measure = (referee.total, referee.measure) if referee else (goal[1] if goal else total, work.measure)
        waiting: Iterator[tuple[int, Any]] = (job for job in jobs if job[0] not in shards.done)
        first = [] if work.ended() else [*islice(waiting, 1)]
        if first:
            shards.check_room()
        elif shards.done:
            report_complete(place.folder, measure()[1], others)
        drawn = _Drawn(chain(first, waiting))
        progress = Progress(wanted, measure)

        def stop() -> bool:
            return interrupted() or bool(work.ended())

        coming = run_jobs(task, drawn, place.workers, place.ray, stop, progress.show)
        landing = drawn.in_order(coming) if place.in_order else coming
        try:
            with closing(landing), progress:
                for number, product in landing:
                    _keep(product, keep)
                    if place.in_order and work.ended():
                        break
                    work.land(number, product, finish(product) if finish else product)
                    progress.show()
        finally:
            with suppress(OSError):  # the disk may be full; run.json waits for the next call
                run.update(work.totals())
        if interrupted():
            raise KeyboardInterrupt
        return Production(place.folder, work.totals(), work.ended() or "jobs")


AnyJobLine = TypeVar("AnyJobLine", bound=JobLine)


def gather(
    place: Place,
    plan: RunPlan,
    task: Task,
    jobs: Iterable[tuple[int, Any]],
    kinds: tuple[type[AnyJobLine], ...],
    total: int,
    noun: str,
    enough: Callable[[dict[int, AnyJobLine]], int] | None = None,
    keep: Callable[[Line], None] | None = None,
) -> list[AnyJobLine]:
    """Do the jobs whose lines are not in the folder yet; returns the lines of all jobs in the order of their numbers.

    kinds: the classes of the products' lines. total: number of jobs, which are numbered from 0, or of what `enough`
    counts among the lines (by job), at which the work ends. noun: what is counted, for the progress line. keep: takes
    the products' `answers`.
    Raises as `produce` does.
    """
    with RunWriter(place.folder, plan) as run, _resumable(place.folder) as interrupted:
        found = {line.job: line for line in run.lines(*kinds)}

        def done() -> int:
            # An earlier call with more jobs may have left lines beyond these.
            return sum(job < total for job in found) if enough is None else enough(found)

        waiting = (job for job in jobs if job[0] not in found)
        progress = Progress(total, lambda: (done(), f"{done():,} of {total:,} {noun}"))

        def stop() -> bool:
            return interrupted() or done() >= total

        coming = run_jobs(task, waiting, place.workers, place.ray, stop, progress.show)
        with closing(coming), progress:
            for number, product in coming:
                _keep(product, keep)
                assert isinstance(product.line, kinds)
                found[number] = replace(product.line, job=number)
                run.append(found[number])
                progress.show()
        run.update({noun: done()})
        if interrupted() and done() < total:
            raise KeyboardInterrupt
    return [found[number] for number in sorted(found)]


def report_complete(folder: Path, measured: str, others: str = "") -> None:
    """Report that a folder was complete before the call, whose results are therefore those of an earlier one.

    measured: text of the progress line. others: how to get other results."""
    remedy = f"; {others}" if others else ""
    print(shown(f"{folder}: complete ({measured}), so nothing is added{remedy}"), file=sys.stderr)


@contextmanager
def _resumable(folder: Path) -> Iterator[Callable[[], bool]]:
    """Turn requests to end into a flag, and report how to resume if the block ends in an exception."""
    with interrupt_flag() as interrupted:
        try:
            yield interrupted
        except BaseException:
            notice = f"{folder}: finished jobs are kept; run the same command again to resume"
            print(shown(notice), file=sys.stderr)
            raise


def _keep(product: Product, keep: Callable[[Line], None] | None) -> None:
    for answer in product.answers if keep is not None else ():
        keep(answer)  # type: ignore[misc]


def _recall(referee: Referee, shards: Shards) -> None:
    """Show the referee the jobs of earlier calls. Raises ValueError that names a job whose counts do not fit."""
    for line in shards.landed() if shards.done else ():
        try:
            referee.see(line.job, line.counts)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise ValueError(
                f"{shards.folder / RESULTS}: job {line.job}: its counts do not fit this work; restore it from a copy, "
                "or choose another folder"
            ) from None


_Landing = Generator[tuple[int, Product], None, None]


class _Drawn:
    """Jobs as they are drawn, to put their products into the same order."""

    def __init__(self, jobs: Iterator[tuple[int, Any]]) -> None:
        self._jobs = jobs
        self._numbers: deque[int] = deque()

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number, job in self._jobs:
            self._numbers.append(number)
            yield number, job

    def in_order(self, coming: _Landing) -> _Landing:
        """Yield each product when those of all jobs drawn before it have come; products that still wait at the end are
        dropped."""
        early: dict[int, Product] = {}
        with closing(coming):
            for number, product in coming:
                early[number] = product
                while self._numbers and self._numbers[0] in early:
                    first = self._numbers.popleft()
                    yield first, early.pop(first)


class _ShardWork:
    """Progress of the work in a folder of shards."""

    def __init__(
        self,
        place: Place,
        run: RunWriter,
        shards: Shards,
        goal: tuple[str, int] | None,
        referee: Referee | None,
        total: int | None,
    ) -> None:
        self._run, self._shards, self._goal, self._referee = run, shards, goal, referee
        self._max_bytes, self._is_full = place.max_bytes, False
        self._total = total
        self._barren = 0
        self._begun = self._updated = time.monotonic()
        self._before = self.totals()

    def totals(self) -> dict[str, int | float]:
        return {**self._shards.totals, "jobs": len(self._shards.done), "bytes": self._shards.bytes}

    def land(self, number: int, made: Product, product: Product) -> None:
        """Keep a product if there is room for it; `made` is the product before repetitions were left out.

        Raises ValueError where the work would never end."""
        if self._max_bytes is not None and self._shards.bytes + len(product.content) > self._max_bytes:
            self._is_full = True
            return
        before = self._reached()
        if self._shards.append(number, product) and self._referee is not None:
            self._referee.see(number, product.counts)
        if time.monotonic() - self._updated >= UPDATE_SECONDS:
            self._updated = time.monotonic()
            self._run.update(self.totals())
        if self._goal is not None and self._total is None:
            name, amount = self._goal
            is_barren = self._reached() - before <= BARREN_SHARE * made.counts.get(name, 0)
            self._barren = self._barren + 1 if is_barren else 0
            if self._barren == BARREN_JOBS:
                raise ValueError(
                    f"{self._shards.folder}: the last {BARREN_JOBS} jobs have made almost nothing new, so {amount:,} "
                    f"{name} will not be reached; request fewer, or more variety"
                )

    def _reached(self) -> int | float:
        """Return the amount of the goal that is reached; 0 without a goal."""
        return 0 if self._goal is None else self.totals().get(self._goal[0], 0)

    def ended(self) -> str:
        """Return why the work has ended; empty while it has not."""
        if self._goal is not None and self._reached() >= self._goal[1]:
            return "goal"
        if self._referee is not None and self._referee.has_enough():
            return "referee"
        return "max_bytes" if self._is_full else ""

    def measure(self) -> tuple[int, str]:
        """Return (amount of the goal or number of jobs, text) for the progress line."""
        totals, seconds = self.totals(), max(time.monotonic() - self._begun, 1e-9)
        name, wanted = self._goal or ("jobs", self._total)
        words = [] if name == "jobs" and wanted else [amount(int(totals["jobs"]), "job")]
        for counted in ("jobs", "games", "positions", "bytes"):
            if counted == name and wanted:
                words.append(f"{totals.get(counted, 0):,} of {wanted:,} {counted}")
            elif counted in totals and counted in ("games", "positions"):
                words.append(amount(int(totals[counted]), counted.removesuffix("s")))
        if made := totals.get("positions", 0) - self._before.get("positions", 0):
            words.append(f"{made / seconds:,.0f} positions/s")
        return int(totals.get(self._goal[0] if self._goal else "jobs", 0)), ", ".join(words)
