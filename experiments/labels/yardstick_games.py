"""The game of each played position of a yardstick, so that its errors are over games.

hcpe has no room for it, so it lies in a file of its own beside the shards. Yardsticks without that file, of records
that do not separate games, or copied without it, have errors that treat the positions as independent.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype, record_files
from lite.training.metrics import games_of
from search.rules.huffman import HCP
from search.system.files import write_atomically

GAMES = "games.npy"
"""File in a yardstick's folder: i4, the game of each record of its shards in order; -1 is unknown."""


def write_games(folder: Path, data: Sequence[Path]) -> None:
    """Find the positions of a yardstick's folder in the records that it was made from, and write GAMES.

    Writes nothing where the records do not separate games. Raises OSError, RecordError."""
    made = np.concatenate([np.fromfile(path, hcpe_dtype)["hcp"] for path in record_files([folder])])
    keys = _keys(made)
    order = np.argsort(keys)
    found = np.full(len(keys), -1, np.int64)  # numbers of records of the data, the first of each position
    plies, results, count = [np.zeros(0, np.int16)], [np.zeros(0, np.float32)], 0
    for positions in _blocks(data):
        read = _keys(position_records(positions, HCPE, HCP).view(hcpe_dtype)["hcp"])
        place = np.minimum(np.searchsorted(keys, read, sorter=order), len(keys) - 1)
        met = np.flatnonzero(keys[order[place]] == read)[::-1]
        fresh = found[order[place[met]]] < 0
        found[order[place[met[fresh]]]] = count + met[fresh]
        plies.append(positions["ply"])
        results.append(np.where(positions["turn"] == 0, positions["result"], 1 - positions["result"]))
        count += len(positions)
    games = games_of(np.concatenate(plies), np.concatenate(results))
    if games is None:
        return
    content = io.BytesIO()
    np.save(content, np.where(found < 0, -1, games[found]).astype(np.int32))
    write_atomically(folder / GAMES, content.getvalue())


def read_games(data: Sequence[Path], records: int) -> np.ndarray | None:
    """Return the game of each of `records` records of a yardstick i4 (records,), -1 where unknown; None without GAMES.

    Raises ValueError that names a damaged file, and OSError."""
    if len(data) != 1 or not (path := data[0] / GAMES).is_file():
        return None
    try:
        games = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        games = np.zeros(0)
    if games.shape != (records,) or games.dtype != np.int32:
        raise ValueError(
            f"{path}: not the games of this yardstick's positions; remove it, and make the yardstick again"
        )
    return np.asarray(games)


def _blocks(data: Sequence[Path]) -> Iterator[np.ndarray]:
    """Yield the positions of record files in order, `labelled_dtype`."""
    for path in record_files(data):
        file = RecordFile(path, check_moves=False)
        for block in file.blocks:
            yield file.read_block(block, Refusals())


def _keys(codes: np.ndarray) -> np.ndarray:
    """Return hcp codes u1 (n, 32) as values that NumPy can sort (n,)."""
    return np.ascontiguousarray(codes).view("S32").ravel()
