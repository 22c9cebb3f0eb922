"""d1-RMSE: the error of a network's win rate after one ply and quiescence, against long searches.

A search asks its network about positions whose exchanges are settled, so the measure settles them too: it compares the
win rate of a search to depth 1 with that of a search of many nodes, on varied positions. It correlates with strength in
games, which accuracy on played positions does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.labels.study import SEARCH, UNLABELLED, Studio
from lite.records.encode import position_records
from lite.records.file import RecordFile, Refusals
from lite.records.formats import HCPE, hcpe_dtype, record_files
from lite.training.targets import win_rate
from search.evaluation.network_file import load_network
from search.rules.huffman import HCP
from search.score import CP_PER_LOGIT

SCALES = np.arange(200, 2001, 20)
"""Centipawns per logit that are tried for the network's scores."""
HASH_MB = 1
"""Table of the search to depth 1; it is cleared before each position, as older entries would deepen the search."""


@dataclass(frozen=True)
class D1:
    """The d1-RMSE of a network on a yardstick."""

    rmse: float
    """Root mean square error of the win rate."""
    error: float
    """Standard error of `rmse`."""
    scale: int
    """Centipawns per logit that suit the network best."""
    positions: int
    """Positions measured."""
    refusals: Refusals
    """Records of the yardstick that could not be used."""

    def figures(self) -> D1Figures:
        """Return the figures under names that stand beside those of other measurements."""
        refused = self.refusals.figures()
        return D1Figures(
            d1_rmse=self.rmse,
            d1_rmse_error=self.error,
            d1_scale=self.scale,
            d1_positions=self.positions,
            d1_records_read=refused.records_read,
            d1_refused=refused.refused,
            d1_first_refused=refused.first_refused,
        )


@dataclass(frozen=True)
class D1Figures:
    """Figures of `D1` as results and JSON name them."""

    d1_rmse: float
    """Error of the win rate after one ply and quiescence against long searches."""
    d1_rmse_error: float
    """Standard error of `d1_rmse`."""
    d1_scale: int
    """Centipawns per logit that suit the network best."""
    d1_positions: int
    """Number of positions of the yardstick."""
    d1_records_read: int
    """Number of records of the yardstick that were read."""
    d1_refused: dict[str, int]
    """Number of refused records of the yardstick by reason."""
    d1_first_refused: tuple[str, ...]
    """The first refused records of the yardstick."""


def measure_d1(network_path: str, data: Sequence[Path]) -> D1:
    """Measure a network on records with search scores.

    The records' scores become win rates by CP_PER_LOGIT, the network's scores by the scale that suits it best. The
    error is the standard error of the mean square, propagated to the root. Raises OSError or ValueError.
    """
    codes, scores, refusals = _records(data)
    studio = Studio(load_network(network_path), HASH_MB)
    found = np.empty(len(codes), np.int16)
    for place in range(len(codes)):
        studio.forget()
        found[place] = studio.study(codes[place : place + 1], SEARCH, depth=1)[0][0]
    known = found != UNLABELLED
    wanted = win_rate(scores[known], CP_PER_LOGIT)
    squares = [(win_rate(found[known], float(scale)) - wanted) ** 2 for scale in SCALES]
    best = int(np.argmin([square.mean() for square in squares]))
    rmse = float(np.sqrt(squares[best].mean()))
    error = float(squares[best].std() / np.sqrt(known.sum()) / max(2 * rmse, 1e-12))
    return D1(rmse, error, int(SCALES[best]), int(known.sum()), refusals)


def _records(data: Sequence[Path]) -> tuple[np.ndarray, np.ndarray, Refusals]:
    """Return hcp codes uint8 (n, 32) and scores int16 (n,) of the records with a score, and the refusals."""
    codes, scores, refusals = [], [], Refusals()
    for path in record_files(data):
        file = RecordFile(path, check_moves=False)
        refusals.add(file.lost)
        for block in file.blocks:
            positions = file.read_block(block, refusals)
            positions = positions[positions["scored"]]
            records = position_records(positions, HCPE, HCP).view(hcpe_dtype)
            codes.append(records["hcp"])
            scores.append(records["score"])
    if not sum(map(len, codes)):
        raise ValueError(f"{data[0]}: no position has a score; a yardstick needs records labelled by long searches")
    return np.ascontiguousarray(np.concatenate(codes)), np.concatenate(scores), refusals
