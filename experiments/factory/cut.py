"""A given number of positions of record sets, spread evenly over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lite.records.formats import HCPE, hcpe_dtype, record_files, record_format
from search.system.files import write_atomically


def cut_evenly(sources: Sequence[Path], positions: int, output: Path) -> int:
    """Write an hcpe file of `positions` positions of hcpe sets, at even distances; returns their number.

    Raises OSError, or ValueError if there are fewer, if a file has none, or for other formats.
    """
    files = record_files(sources)
    for path in files:
        _check_format(path)
        if path.stat().st_size < hcpe_dtype.itemsize:
            raise ValueError(f"{path}: holds no position; remove it or write it again")
    parts = [np.memmap(path, hcpe_dtype, "r", shape=path.stat().st_size // hcpe_dtype.itemsize) for path in files]
    starts = np.cumsum([0, *map(len, parts)])
    if positions > starts[-1]:
        raise ValueError(f"{output.name}: {positions:,} positions are requested, but there are {starts[-1]:,}")
    wanted = (np.arange(positions) * (starts[-1] / positions)).astype(np.int64)
    edges = np.searchsorted(wanted, starts)
    taken = [part[wanted[edges[n] : edges[n + 1]] - starts[n]] for n, part in enumerate(parts)]
    write_atomically(output, np.concatenate(taken).tobytes())
    return positions


def check_formats(sources: Sequence[Path]) -> None:
    """Raise OSError, or ValueError for formats that `cut_evenly` does not take; missing folders pass."""
    for source in sources:
        if source.exists() or source.suffix:
            for path in record_files([source]) if source.exists() else [source]:
                _check_format(path)


def _check_format(path: Path) -> None:
    if record_format(path) != HCPE:
        raise ValueError(f"{path}: only hcpe can be cut; convert it first")
