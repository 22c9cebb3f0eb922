"""The ledger of a folder of shards: a line of the run's results for each job, and where its records lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.jobs.interval_set import IntervalSet
from experiments.jobs.protocol import JobLine
from lite.run_folder import RESULTS, RunWriter, read_lines

Counts = Mapping[str, int | float]
_LARGEST = 1 << 63


@dataclass(frozen=True, kw_only=True)
class LandedJob(JobLine, kind="job"):
    """A job whose records are on the disk: the bytes of a shard from `start` up to, but not including, `stop`."""

    shard: int
    start: int
    stop: int
    counts: Counts

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= number < _LARGEST for number in (self.shard, self.start, self.stop)):
            raise ValueError("shard, start and stop must be whole numbers from 0 on, no larger than a file may be")
        if self.stop < self.start:
            raise ValueError(f"bytes {self.start} to {self.stop} end before they begin")
        if not all(abs(value) < _LARGEST for value in self.counts.values()):
            raise ValueError("counts must be finite numbers below 2^63")


class Ledger:
    """The jobs that have landed in a run folder, checked against each other.

    Raises OSError, and ValueError that names the file and the job if a line contradicts those before it.
    """

    def __init__(self, run: RunWriter) -> None:
        self._run = run
        self.done = IntervalSet()
        """Numbers of the jobs."""
        self.totals: dict[str, int | float] = {}
        """Sums of all counts."""
        self.stops: dict[int, int] = {}
        """Bytes of each shard, the shards in the order in which they were begun."""
        for line in run.lines(LandedJob):
            self._check(line)
            self._count(line)

    @property
    def last_shard(self) -> int | None:
        """The shard of the last line."""
        return next(reversed(self.stops), None)

    def enter(self, line: LandedJob) -> None:
        """Write a line whose records are on the disk. OSError leaves the ledger as it was."""
        self._check(line)
        self._run.append(line)
        self._count(line)

    def entries(self) -> Iterator[LandedJob]:
        """Read all lines in the order in which they were written."""
        return self._run.lines(LandedJob)

    def _check(self, line: LandedJob) -> None:
        """Raise ValueError if a line cannot follow those before it."""
        if line.job in self.done:
            wrong = "is there already"
        elif self.last_shard is not None and line.shard < self.last_shard:
            wrong = f"lies in shard {line.shard}, which was left for shard {self.last_shard} before"
        elif line.start != (stop := self.stops.get(line.shard, 0)):
            wrong = f"lies in bytes {line.start} to {line.stop} of shard {line.shard}, which do not follow {stop}"
        else:
            return
        path = self._run.folder / RESULTS
        raise ValueError(f"{path}: job {line.job} {wrong}; restore it from a copy, or choose another folder")

    def _count(self, line: LandedJob) -> None:
        self.done.add(line.job)
        self.stops[line.shard] = line.stop
        for name, value in line.counts.items():
            self.totals[name] = self.totals.get(name, 0) + value


def read_stops(folder: Path) -> dict[int, int]:
    """Return the bytes of each shard by the lines of a run folder, while another process may add to them."""
    return {line.shard: line.stop for line in read_lines(folder, LandedJob)}
