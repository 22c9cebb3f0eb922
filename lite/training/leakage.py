"""A check that held-out positions are not among the training positions, whatever the formats of the files.

Equal files are refused before a run. Games that were converted, merged or sampled into other files are found by their
positions: hashes of held-out positions are compared with those of the first positions that are learnt from, which are
drawn from all files. Positions of the opening are left out, as different games share them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lite.records.batch import Batch
from lite.records.reader import Reader
from search.rules.shogi import EMPTY, MIRRORED_SQUARE

HELD_OUT_POSITIONS = 200_000
"""Largest number of held-out positions that are hashed."""
COMPARED_POSITIONS = 500_000
"""Largest number of training positions that are compared."""
MOST_PIECES = 36
"""Largest number of pieces on the board of a compared position; the first position has 40."""
LEAST_FOUND = 5
LEAST_SHARE = 0.01
"""Least number of equal positions that gives a warning, and their least share of the held-out positions."""
_FACTORS = np.random.default_rng(0x5F0).integers(0, 1 << 64, 81 + 14, np.uint64, endpoint=False) | np.uint64(1)


def position_hashes(batch: Batch) -> np.ndarray:
    """Return a hash u8 of each position of a batch that is not of the opening, by its pieces and hands.

    Both are as the mover sees them, so a position and its colours reversed have the same hash, as have a position and
    its mirror image, which training may show instead of it.
    """
    late = np.count_nonzero(batch.pieces != EMPTY, axis=1) <= MOST_PIECES
    pieces, hands = batch.pieces[late], batch.hands[late]
    return np.minimum(_hashes(pieces, hands), _hashes(pieces[:, MIRRORED_SQUARE], hands))


def _hashes(pieces: np.ndarray, hands: np.ndarray) -> np.ndarray:
    parts = np.concatenate((pieces, hands), axis=1).astype(np.uint64)
    parts = (parts + np.uint64(1)) * _FACTORS
    # Without a mix a sum of products is linear, and exchanged pieces could cancel out.
    parts ^= parts >> np.uint64(29)
    return np.asarray((parts * np.uint64(0x9E3779B97F4A7C15)).sum(1, dtype=np.uint64))


def drawn_from_all(files: Iterable[Path], batch_size: int) -> Reader:
    """Return a reader of held-out files whose first HELD_OUT_POSITIONS positions come from all parts of them.

    Raises as `Reader`."""
    blocks = max(1, HELD_OUT_POSITIONS // 100)
    return Reader(files, batch_size, pool_positions=HELD_OUT_POSITIONS, block_positions=blocks)


class LeakageCheck:
    """Compares the first training positions of a run with its held-out positions."""

    def __init__(
        self, held_out: Iterable[Batch], positions: int, name: str = "held-out positions", data: str = "the data"
    ) -> None:
        """`held_out`: batches as of `drawn_from_all`. `positions`: the number of positions in the data. `name` and
        `data`: the held-out positions and the data in the warning."""
        known: list[np.ndarray] = []
        read = 0
        for batch in held_out:
            known.append(position_hashes(batch))
            read += len(batch)
            if read >= HELD_OUT_POSITIONS:
                break
        self._known = np.unique(np.concatenate(known)) if known else np.zeros(0, np.uint64)
        self._found: set[int] = set()
        self._positions, self._compared = positions, 0
        self._name, self._data = name, data
        self.is_done = not len(self._known)
        """Whether enough positions were compared."""

    def add(self, batch: Batch) -> str:
        """Compare the positions of a training batch; return the `warning` after the last one, else ""."""
        if self.is_done:
            return ""
        hashes = position_hashes(batch)
        place = np.minimum(np.searchsorted(self._known, hashes), len(self._known) - 1)
        self._found.update(hashes[self._known[place] == hashes].tolist())
        self._compared += len(batch)
        self.is_done = self._compared >= min(COMPARED_POSITIONS, self._positions)
        return self.warning() if self.is_done else ""

    def finish(self) -> str:
        """Compare no further positions; return the `warning` if it has not been returned yet, else "".

        An epoch leaves out the positions that fill no batch, so a run of one epoch never reads all of its data.
        """
        if self.is_done:
            return ""
        self.is_done = True
        return self.warning()

    @property
    def share(self) -> float:
        """Estimated share of held-out positions that are also in the data; positions of openings are not counted."""
        if not self._compared:
            return 0.0
        seen = min(1.0, self._compared / max(1, self._positions))
        return min(1.0, len(self._found) / max(1, len(self._known)) / seen)

    def warning(self) -> str:
        """Return the line about held-out positions in the training data; empty if there are too few of them."""
        if len(self._found) < LEAST_FOUND or self.share < LEAST_SHARE:
            return ""
        return (
            f"warning: about {100 * self.share:.0f} % of the {self._name} beyond the opening are in {self._data}, too: "
            "held-out figures are too good; hold out other games"
        )
