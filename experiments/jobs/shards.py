"""Shards of records in a run folder that can be killed at any moment: every job's records are in it once or not yet.

`shard_00000.hcpe`, `shard_00001.hcpe` and so on hold records, and the run's results say which job's lie where. The
shard under way is called `….part`, which no reader takes for data; it gets its name when it is full or the run ends in
good order, and is never written to again. Content is on the disk before its line in the results is written, so content
after the last line's belongs to a job that did not land: it is removed when the folder is opened again, and the job is
done again.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from experiments.jobs.ledger import LandedJob, Ledger
from experiments.jobs.protocol import Product
from lite.durable_file import DurableFile, sync_directory
from lite.records.formats import record_format
from lite.run_folder import RESULTS, RunWriter
from search.system.files import complaints_about

SHARD_BYTES = 64_000_000
"""Bytes of a full shard."""
FREE_BYTES = 2_000_000_000
"""Bytes that stay free on the disk."""
PART = ".part"


class Shards:
    """The shards of an open run folder; a context manager.

    Raises ValueError if its files contradict each other, with the remedy; OSError where the system refuses something.
    Jobs that have landed are kept in every case.
    """

    def __init__(self, run: RunWriter, form: str, shard_bytes: int = SHARD_BYTES, keep_part: bool = False) -> None:
        """`form` is hcpe, hcpe3 or psv. `keep_part`: a run that ends in an exception leaves the shard under way as it
        is, for the next call to fill, so that interruptions show in no file."""
        record_format(Path(f"shard.{form}"))
        self.folder = run.folder
        self._run, self._form, self._shard_bytes, self._keep_part = run, form, shard_bytes, keep_part
        self._part: DurableFile | None = None

    def __enter__(self) -> Self:
        self._ledger = Ledger(self._run)
        self._open()
        self.done = self._ledger.done
        """Numbers of the jobs that have landed."""
        self.totals = self._ledger.totals
        """Sums of their counts."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._keep_part and self._part is not None:
            self._part.close()
        else:
            self._finish()

    @property
    def bytes(self) -> int:
        """Bytes of all records."""
        return sum(self._ledger.stops.values())

    def landed(self) -> Iterator[LandedJob]:
        """Read all jobs that have landed, in the order in which they did."""
        return self._ledger.entries()

    def append(self, job: int, product: Product) -> bool:
        """Land a product; returns False if its job has landed before, and that product stays.

        An OSError means that the disk does not take it: it has not landed, and all earlier products have."""
        if job in self.done:
            return False
        self.check_room(len(product.content))
        part = self._part = self._part or self._begin()
        shard, start = self._shard, part.size
        part.append(product.content)
        try:
            self._ledger.enter(
                LandedJob(job=job, shard=shard, start=start, stop=part.size, counts=dict(product.counts))
            )
        except (OSError, ValueError):
            part.cut(start)
            raise
        if part.size >= self._shard_bytes:
            self._finish()
        return True

    def _path(self, shard: int) -> Path:
        return self.folder / f"shard_{shard:05}.{self._form}"

    def _part_path(self, shard: int) -> Path:
        path = self._path(shard)
        return path.with_name(path.name + PART)

    def check_room(self, size: int = 0) -> None:
        """Raise OSError where the disk has no room for `size` bytes beside those that stay free."""
        free = shutil.disk_usage(self.folder).free
        if free - size < FREE_BYTES:
            words = f"Only {free / 1e9:.1f} GB are free on its disk, of which {FREE_BYTES / 1e9:.0f} stay free"
            raise OSError(errno.ENOSPC, f"{words}: make room, and run the same command again", str(self.folder))

    def _open(self) -> None:
        """Bring the files into the state that the ledger describes."""
        stops, last = self._ledger.stops, self._ledger.last_shard
        for path in sorted(self.folder.glob(f"shard_*.{self._form}")):
            if path not in map(self._path, stops):
                raise ValueError(
                    f"{path}: no line of {RESULTS} says which jobs' records it holds; move it out of {self.folder}, "
                    "where it can be read like any other file"
                )
        for shard, stop in stops.items():
            self._check(shard, stop)
        for shard, stop in stops.items():
            if stop and not self._path(shard).exists():
                self._shard, self._part = shard, DurableFile(self._part_path(shard), stop)
                if shard != last or stop >= self._shard_bytes:
                    self._finish()
        if last is None:
            self._shard = -1
        else:
            self._shard = last if stops[last] else last - 1  # a shard of jobs without records is begun again
        for path in self.folder.glob(f"shard_*.{self._form}{PART}"):
            if self._part is None or path != self._part.path:
                path.unlink()  # begun, and nothing landed in it

    def _check(self, shard: int, stop: int) -> None:
        """Raise ValueError if a shard contradicts the ledger."""
        path, part = self._path(shard), self._part_path(shard)
        if path.exists():
            size = path.stat().st_size
            wrong = f"has {size:,} bytes, not {stop:,}" if size != stop else ""
        else:
            size = part.stat().st_size if part.exists() else 0
            wrong = f"has {size:,} bytes, fewer than {stop:,}" if size < stop else ""
            if wrong and not part.exists():
                wrong = f"is missing, with {stop:,} bytes"
        if wrong:
            raise ValueError(
                f"{path if path.exists() else part}: {wrong}, against {RESULTS}; restore it from a copy, or, to have "
                f'its jobs done again, remove it and the lines with "shard":{shard}, from {RESULTS}'
            )

    def _begin(self) -> DurableFile:
        self._shard += 1
        return DurableFile(self._part_path(self._shard), 0)

    def _finish(self) -> None:
        """Give the shard under way its name, if it is not empty and agrees with the ledger."""
        if self._part is None:
            return
        part, self._part = self._part, None
        size = part.close()
        if not self._ledger.stops.get(self._shard):
            part.path.unlink()
        elif size == self._ledger.stops[self._shard]:
            with complaints_about(part.path):
                os.rename(part.path, self._path(self._shard))
                sync_directory(self.folder)
