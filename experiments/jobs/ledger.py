"""The book of a data folder: a line of JSON for each job that has landed, and where its records lie."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from experiments.jobs.interval_set import IntervalSet
from lite.durable_file import DurableFile
from search.system.files import complaints_about
from search.system.metadata import parse_json

Counts = Mapping[str, int | float]
_FIELDS = ("job", "shard", "start", "stop", "counts")
_LARGEST = 1 << 63


class Ledger:
    """`ledger.jsonl`, read and opened to be written on.

    A line is {"job", "shard", "start", "stop", "counts"}: bytes start to before stop of the shard are the job's. Each
    is on the disk before the next is begun, so a crash can spoil the last line alone: that is dropped. Raises OSError,
    and ValueError that names the line if another does not make sense.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done = IntervalSet()
        """The jobs."""
        self.totals: dict[str, int | float] = {}
        """The sums of all counts."""
        self.stops: dict[int, int] = {}
        """Bytes of each shard, the shards in the order in which they were begun."""
        self._file = DurableFile(path, self._read() if path.exists() else 0)

    @property
    def last_shard(self) -> int | None:
        """The shard of the last line."""
        return next(reversed(self.stops), None)

    def enter(self, job: int, shard: int, start: int, stop: int, counts: Counts) -> None:
        """Write a line whose bytes are on the disk. OSError leaves the ledger as it was."""
        line = dict(zip(_FIELDS, (job, shard, start, stop, dict(counts)), strict=True))
        if difficulty := self._difficulty(line):
            raise ValueError(f"{self.path}: {difficulty}")
        self._file.append(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._count(line)

    def entries(self) -> Iterator[tuple[int, Counts]]:
        """`read_entries` of it."""
        return read_entries(self.path)

    def close(self) -> None:
        self._file.close()

    def _read(self) -> int:
        """Take in all lines; the bytes of those that are whole."""
        good = 0
        spoiled = ""
        with complaints_about(self.path), open(self.path, "rb") as file:
            for number, text in enumerate(file, 1):
                if spoiled:
                    raise ValueError(
                        f"{self.path}: {spoiled}; another program has written to it: restore it from a copy, or begin "
                        "in another folder"
                    )
                line: Any = None
                try:
                    line = parse_json(text.decode()) if text.endswith(b"\n") else None
                except ValueError:
                    spoiled = f"line {number} is no JSON"
                if line is None:
                    spoiled = spoiled or f"line {number} has no end"
                elif difficulty := self._difficulty(line):
                    raise ValueError(
                        f"{self.path}: line {number}: {difficulty}; restore it from a copy, or begin in another folder"
                    )
                else:
                    self._count(line)
                    good += len(text)
        return good

    def _difficulty(self, line: Any) -> str:
        """Why a line cannot follow those before it; empty if it can."""
        if difficulty := _malformed(line):
            return difficulty
        job, shard, start, stop, _ = (line[name] for name in _FIELDS)
        if job in self.done:
            return f"job {job} stands in the ledger already"
        if self.last_shard is not None and shard < self.last_shard:
            return f"shard {shard} was left for shard {self.last_shard} before"
        if start != self.stops.get(shard, 0):
            return f"bytes {start} to {stop} of shard {shard} do not follow {self.stops.get(shard, 0)}"
        return ""

    def _count(self, line: dict[str, Any]) -> None:
        self.done.add(line["job"])
        self.stops[line["shard"]] = line["stop"]
        for name, value in line["counts"].items():
            self.totals[name] = self.totals.get(name, 0) + value


@dataclass(frozen=True)
class Place:
    """Where a job's records lie."""

    job: int
    shard: int
    start: int
    """Its first byte there."""
    stop: int
    counts: Counts


def read_entries(path: Path) -> Iterator[tuple[int, Counts]]:
    """(Job, its counts) of all whole lines of a ledger, in the order in which they were written, while others may write
    on it. Raises OSError, and ValueError that names a line that is none."""
    for line in _whole_lines(path):
        yield line["job"], line["counts"]


def read_stops(path: Path) -> dict[int, int]:
    """Bytes of each shard that the whole lines of a ledger tell of, likewise."""
    return {place.shard: place.stop for place in read_places(path)}


def read_places(path: Path) -> Iterator[Place]:
    """Of the jobs of all whole lines of a ledger, likewise."""
    for line in _whole_lines(path):
        yield Place(*(line[name] for name in _FIELDS))


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    with complaints_about(path), open(path, "rb") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith(b"\n"):
                return
            try:
                line = parse_json(text.decode())
            except ValueError:
                line = None
            if _malformed(line):
                raise ValueError(f"{path}: line {number} is no job's; restore the file from a copy")
            yield line


def _malformed(line: Any) -> str:
    """Why nothing that was read can be a job's; empty if it can."""
    if not isinstance(line, dict) or line.keys() != set(_FIELDS):
        return f"it needs {', '.join(_FIELDS)}"
    if not all(type(line[name]) is int and 0 <= line[name] < _LARGEST for name in _FIELDS[:-1]):
        return "job, shard, start and stop must be whole numbers from 0 on, no larger than a file may be"
    if line["stop"] < line["start"]:
        return f"bytes {line['start']} to {line['stop']} are none: they end before they begin"
    return "" if _are_counts(line["counts"]) else "its counts must be finite numbers, int or float, less than 2^63"


def _are_counts(counts: Any) -> TypeGuard[dict[str, int | float]]:
    return isinstance(counts, dict) and all(
        type(value) in (int, float) and abs(value) < _LARGEST for value in counts.values()
    )
