"""Verification of runs: whether data, networks and shards still have the digests and sizes that were recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from experiments.jobs.ledger import read_stops
from experiments.jobs.progress import CountedProgress
from experiments.report.report import find_runs
from experiments.report.section import UNREADABLE
from lite.datasets.description import SHARD
from lite.datasets.provenance import digest_of
from lite.records.formats import RecordError
from lite.run_folder import RECORD, find_run
from search.evaluation.shipped import is_shipped, network_file
from search.system.metadata import one_line

SAME, CHANGED, MISSING = "same", "changed", "not there"
NOTHING = "no file was recorded"
_DEEPEST = 3
"""Folders between a run and the runs of its parts, at most."""


@dataclass(frozen=True)
class Check:
    """The comparison of a file with the record of a run."""

    run: str
    """Folder of the run."""
    file: str
    """The file; empty if the run has recorded none."""
    state: str
    """`same`, `changed`, `not there`, or why there is nothing to compare."""


@dataclass(frozen=True)
class Kept:
    """The record of a file, or of a folder of data."""

    name: str
    path: Path
    of: str | int
    """Digest, or for a shard its bytes."""


def verify(paths: Sequence[Path]) -> list[Check]:
    """Check all runs among folders. Raises OSError, or ValueError, as a report does."""
    digest = cache(digest_of)  # data of many runs are read once
    checks = []
    runs = find_runs(paths, shown=False)
    for number, run in enumerate(runs, 1):
        inside = f"{run.path}{os.sep}"
        try:
            kept = list(dict.fromkeys(_kept(run.path, run.path)))
            with CountedProgress(f"files of run {number} of {len(runs)} compared") as watch:
                for done, one in enumerate(kept, 1):
                    checks.append(Check(str(run.path), one.name.removeprefix(inside), _state(one, digest)))
                    watch(done, len(kept))
            if not kept:
                checks.append(Check(str(run.path), "", NOTHING))
        except (*UNREADABLE, OSError) as error:
            if str(error).startswith(str(run.path)):
                raise
            words = str(error) if isinstance(error, ValueError | OSError) else repr(error)
            raise ValueError(
                f"{run.path}: cannot be verified ({one_line(words, 400)}); restore its files from a copy"
            ) from None
    return checks


def _state(one: Kept, digest: Callable[[Path], str]) -> str:
    try:
        found = one.path.stat().st_size if isinstance(one.of, int) else digest(one.path)
    except (FileNotFoundError, RecordError):  # or a folder whose data are gone
        return MISSING
    return SAME if found == one.of else CHANGED


def _kept(folder: Path, root: Path, depth: int = 0) -> Iterator[Kept]:
    """Yield the files of a run and of the runs of its parts; `root` is the folder of the whole."""
    record = find_run(folder)
    if record is not None:
        for shard, size in read_stops(folder).items():
            name = f"{SHARD}{shard:05}"
            if size:
                path = next(folder.glob(f"{name}.*"), folder / name)
                yield Kept(str(path), path, size)
        for name, digest in record.products.items():
            yield Kept(str(folder / name), folder / name, digest)
        for name, digest in record.files.items():
            path = _place(name, folder, root)
            yield Kept(name if not path.is_relative_to(root) else str(path), path, digest)
    if depth < _DEEPEST:
        for inside in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
            if depth < _DEEPEST - 1 or (inside / RECORD).exists():
                yield from _kept(inside, root, depth + 1)


def _place(name: str, folder: Path, root: Path) -> Path:
    """Return where a recorded file lies; the parts of a run that was moved or copied as a whole lie in it still."""
    if is_shipped(name):
        return network_file(name)
    path = folder / name
    if folder != root and not path.is_relative_to(root):
        for length in range(_DEEPEST, 0, -1):
            moved = root.joinpath(*Path(name).parts[-length:])
            if moved.exists():
                return moved
    return path
