"""The place of an interrupted reader in its records, and what a resumed one must share with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from lite.amounts import amount

POOL_POSITIONS = 1 << 20
"""Positions shuffled together: 126 MB, and as much again for the pool that is decoded in the background."""


@dataclass(frozen=True)
class ReadFile:
    """A record file, known by its content."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class ReaderIdentity:
    """The files and options of a reader, see `Reader`."""

    files: tuple[ReadFile, ...]
    batch_size: int
    shuffle: bool
    seed: int
    skip_in_check: bool
    min_ply: int
    max_score: int | None
    check_moves: bool
    mark_entered: bool
    read_visits: bool
    pool_positions: int
    block_positions: int

    def require(self, here: ReaderIdentity, paths: Sequence[Path]) -> None:
        """Raise ValueError if another reader, of the files `paths`, has other content or options."""
        if len(self.files) != len(here.files):
            raise ValueError(
                f"cannot resume the data: it was {amount(len(self.files), 'file')}, is {len(here.files)}; "
                "give the files that the run was started with"
            )
        for before, file, path in zip(self.files, here.files, paths, strict=True):
            if before.digest != file.digest:
                other = "" if before.name == file.name else f", which was {before.name}"
                raise ValueError(
                    f"cannot resume the data: the content of {path} differs from that of the run's start{other} "
                    f"({file.size:,} bytes, digest {file.digest}; it was {before.size:,}, {before.digest}); give the "
                    "files in the same order, or start another run"
                )
        for one in fields(self):
            was, value = getattr(self, one.name), getattr(here, one.name)
            if one.name != "files" and was != value:
                raise ValueError(f"cannot resume the data: {one.name} was {was}, is {value}; use the same options")


@dataclass(frozen=True)
class ReaderPlace:
    """The place after a batch."""

    epoch: int
    """Epoch of the next batch, from 0."""
    pool: int
    """Number of its pool in the epoch."""
    offset: int
    """Positions of the pool that were given before."""
    of: ReaderIdentity
    """The reader."""
