"""Positions a second of decoding records, and of whole shuffled epochs; and what memory an epoch takes."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lite.records.decode import labelled_dtype
from lite.records.file import RecordFile, Refusals
from lite.records.formats import record_files
from lite.records.reader import Reader

_POSITIONS = 1 << 20
"""Enough of a file to measure."""


def bench_reading(paths: Sequence[Path], rounds: int = 3) -> dict[str, dict[str, Any]]:
    """The figures of `measure` by file, directories of records included."""
    return {str(path): measure(path, rounds) for path in record_files(paths)}


def measure_epoch(paths: Sequence[Path], threads: int = 1) -> dict[str, Any]:
    """{positions, files, opening_s, tenths} of one shuffled epoch over all files together, as training reads it.

    tenths: {positions_per_s, positions_per_cpu_s, resident_bytes} of each tenth of the epoch: in wall time, in CPU
    seconds of all threads, and the process's memory at the tenth's end, None where the system does not tell."""
    begun = time.perf_counter()
    reader = Reader(paths, 8192, threads=threads)
    opening = time.perf_counter() - begun
    report: dict[str, Any] = {"positions": reader.positions, "files": len(reader.files), "opening_s": opening}
    read = before = 0
    found: list[dict[str, Any]] = []
    begun, computed = time.perf_counter(), time.process_time()
    for batch in reader:
        read += len(batch)
        if read * 10 >= reader.positions * (len(found) + 1):
            now, by_now = time.perf_counter(), time.process_time()
            speeds = [(read - before) / max(seconds, 1e-9) for seconds in (now - begun, by_now - computed)]
            tenth = {"positions_per_s": speeds[0], "positions_per_cpu_s": speeds[1]}
            found.append(tenth | {"resident_bytes": resident_bytes()})
            before, begun, computed = read, now, by_now
    return report | {"tenths": found}


def resident_bytes() -> int | None:
    """Bytes of memory that this process holds; None where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return None


def measure(path: Path, rounds: int = 3) -> dict[str, Any]:
    """{positions, decode_positions_per_s, read_positions_per_s} of a file, in CPU seconds, compiled beforehand.

    Both take the file's first blocks from the page cache; the second is a whole epoch: shuffling, decoding, batches of
    8,192. CPU time rather than wall time, so that a busy machine says the same."""
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
    return {
        "positions": positions,
        "decode_positions_per_s": positions / max(min(decoding[1:]), 1e-9),
        "read_positions_per_s": read / max(min(reading[1:]), 1e-9),
    }
