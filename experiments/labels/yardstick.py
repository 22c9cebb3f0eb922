"""d1-RMSE: how far a network's word, one ply and quiescence deep, is from what a long search says.

A search asks its network what stands when exchanges are settled, so that is what is judged: the win rate of a search to
depth 1 against that of a search of many nodes, on varied positions. It goes with games where accuracy on played
positions does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
"""Centipawns of a logit that are tried for the network's scores."""
HASH_MB = 1
"""Of the search to depth 1, whose table is cleared before each position: what was met before would look deeper."""


def measure_d1(net: str, data: Sequence[Path]) -> dict[str, Any]:
    """{d1_rmse, d1_rmse_error, d1_scale, d1_positions} of a network of the engine's on records with search scores, and
    what was refused of them as `Refusals.figures` has it, as d1_refused and so on.

    Win rates of the records' scores are by CP_PER_LOGIT, the network's by the scale that suits it best. The error is
    the standard error of the mean square, brought to the root. Raises OSError or ValueError in words.
    """
    codes, scores, refusals = _records(data)
    studio = Studio(load_network(net), HASH_MB)
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
    scale = int(SCALES[best])
    figures = {"d1_rmse": rmse, "d1_rmse_error": error, "d1_scale": scale, "d1_positions": int(known.sum())}
    return figures | refusals.figures("d1_")


def _records(data: Sequence[Path]) -> tuple[np.ndarray, np.ndarray, Refusals]:
    """Hcp codes u1 (n, 32) and scores i2 (n,) of the records that have one, and what was refused."""
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
        raise ValueError(f"{data[0]}: no position with a score, which a network's could be held against")
    return np.ascontiguousarray(np.concatenate(codes)), np.concatenate(scores), refusals
