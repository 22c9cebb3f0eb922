"""The files that a conversion writes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lite.datasets.chunks import Games
from lite.datasets.duplicates import HashCounts, HashSet
from lite.records.encode import copy_games, position_records
from lite.records.formats import HCPE
from search.rules import huffman
from search.system.files import WholeFile


@dataclass
class Output:
    """One of the files to write, and its counts."""

    file: WholeFile
    form: str
    games: int = 0
    positions: int = 0
    size: int = 0
    seen: HashSet = field(default_factory=HashSet)
    """Hashes of everything written, to drop duplicates."""
    sums: HashCounts = field(default_factory=HashCounts)
    """Counts of everything to write, to merge duplicates."""

    def write(self, raw: np.ndarray, positions: int, games: int) -> None:
        """Write bytes that hold `positions` positions of `games` games."""
        self.file.write(raw.tobytes())
        self.size += raw.size
        self.positions += positions
        self.games += games

    def write_positions(self, positions: np.ndarray, games: int) -> None:
        """Write positions of `games` games as hcpe or psv."""
        dialect = huffman.HCP if self.form == HCPE else huffman.PSV
        self.write(position_records(positions, self.form, dialect), len(positions), games)

    def write_games(self, games: Games, which: np.ndarray, keep: np.ndarray, game_of: np.ndarray) -> None:
        """Write the games of the mask `which` as hcpe3. keep: mask of the positions that are kept. game_of: number of
        each position's game."""
        if not which.any():
            return
        positions = int((keep & which[game_of]).sum())
        if keep[which[game_of]].all():
            # No position of these games is left out, so their bytes are copied unchanged.
            stops = games.starts + 36 + 6 * games.plies.astype(np.int64) + 4 * games.candidates
            parts = [games.raw[start:stop] for start, stop in zip(games.starts[which], stops[which], strict=True)]
            self.write(np.concatenate(parts), positions, len(parts))
            return
        out = np.empty(games.raw.size * 2, np.uint8)
        size = copy_games(games.raw, games.starts, which, keep, out)
        self.write(out[:size], positions, int(which.sum()))
