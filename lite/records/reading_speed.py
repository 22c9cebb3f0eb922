"""Measure how fast record files are decoded, how fast shuffled epochs are read, and the memory of an epoch."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lite.records.batch import labelled_dtype
from lite.records.file import RecordFile, Refusals
from lite.records.formats import record_files
from lite.records.reader import Reader

_POSITIONS = 1 << 20
"""Positions of a file that are measured."""


@dataclass(frozen=True)
class ReadingSpeed:
    """Reading speed of one record file, in positions per CPU second of all threads."""

    positions: int
    """Number of positions measured."""
    decode_positions_per_s: float
    """Positions per CPU second of decoding alone."""
    read_positions_per_s: float
    """Positions per CPU second of whole epochs: shuffling, decoding, and batches of 8,192 positions."""


@dataclass(frozen=True)
class EpochTenth:
    """Speed and memory of one tenth of an epoch."""

    positions_per_s: float
    """Positions per second of wall time."""
    positions_per_cpu_s: float
    """Positions per CPU second of all threads."""
    resident_bytes: int | None
    """Bytes of memory of the process at the end of the tenth; None if the system does not report them."""


@dataclass(frozen=True)
class EpochSpeed:
    """Speed and memory of one shuffled epoch over several files, read as in training."""

    positions: int
    files: int
    opening_s: float
    """Seconds to open the files."""
    tenths: tuple[EpochTenth, ...]


def measure_files(paths: Sequence[Path], rounds: int = 3) -> dict[str, ReadingSpeed]:
    """Return `measure_file` of each file by its path; directories give all their record files."""
    return {str(path): measure_file(path, rounds) for path in record_files(paths)}


def measure_epoch(paths: Sequence[Path], threads: int = 1) -> EpochSpeed:
    """Read one shuffled epoch over all files and measure each tenth of it."""
    begun = time.perf_counter()
    reader = Reader(paths, 8192, threads=threads)
    opening = time.perf_counter() - begun
    read = before = 0
    tenths: list[EpochTenth] = []
    begun, computed = time.perf_counter(), time.process_time()
    for batch in reader:
        read += len(batch)
        if read * 10 >= reader.positions * (len(tenths) + 1):
            now, by_now = time.perf_counter(), time.process_time()
            wall, cpu = ((read - before) / max(seconds, 1e-9) for seconds in (now - begun, by_now - computed))
            tenths.append(EpochTenth(wall, cpu, resident_bytes()))
            before, begun, computed = read, now, by_now
    return EpochSpeed(reader.positions, len(reader.files), opening, tuple(tenths))


def resident_bytes() -> int | None:
    """Return the bytes of memory that this process occupies; None if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return None


def measure_file(path: Path, rounds: int = 3) -> ReadingSpeed:
    """Measure the first blocks of a file, read from the page cache by compiled code; the best of `rounds` counts.

    CPU time is used because it does not depend on other load of the machine."""
    file = RecordFile(path)
    blocks, positions = [], 0
    for block in file.blocks:
        blocks.append(block)
        positions += block.positions
        if positions >= _POSITIONS:
            break
    out = np.empty(max(block.positions for block in blocks), labelled_dtype)
    decoding = []
    for _ in range(rounds + 1):
        begun = time.thread_time()
        for block in blocks:
            file.read_block(block, Refusals(), out)
        decoding.append(time.thread_time() - begun)
    reader = Reader([path], 8192, pool_positions=max(block.positions for block in blocks) * max(1, len(blocks) // 4))
    reading, read = [], 0
    for _ in range(rounds + 1):
        begun = time.process_time()
        read = sum(len(batch) for batch in reader)
        reading.append(time.process_time() - begun)
    # The first round compiles.
    return ReadingSpeed(positions, positions / max(min(decoding[1:]), 1e-9), read / max(min(reading[1:]), 1e-9))
