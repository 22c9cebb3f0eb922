"""The table of a progress axis of layer stacks: read from a file, or learnt from the move numbers of the data.

Progress is a logistic regression over king x BonaPiece pairs (`search.evaluation.stacks`). Its target here is the rank
of a position's move number among those of the data, from 0 to 1, so that equal parts of the progress have about equally
many positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from lite.networks.feature_rows import list_feature_rows
from lite.records.batch import Batch
from lite.training.checkpoint import NETWORK, file_format, load_model
from search.evaluation.feature_sets import BONA_END, feature_set
from search.evaluation.network_file import load_network
from search.evaluation.stacks import PROGRESS_SHIFT
from search.rules.shogi import SQUARES

POSITIONS = 300_000
"""Number of positions from which a table is learnt; the list of their rows takes 300 bytes each."""
_PLAIN_BYTES = 8 * SQUARES * BONA_END
"""Size of a progress.bin: float64 weights and nothing else."""
_STEPS, _RATE, _BATCH = 150, 0.02, 8192

Table = tuple[np.ndarray, int]
"""Weight int32 [81, 1548] and bias, in 1 / 65536."""


def read_progress_table(path: Path) -> Table:
    """Return the table of an nn.bin, a network of this program, or a progress.bin. Raises OSError, ValueError."""
    if path.suffix == ".bin" and path.stat().st_size == _PLAIN_BYTES:
        return _rounded(np.fromfile(path, "<f8").reshape(SQUARES, BONA_END), 0.0, path)
    trained = path.is_dir() or (path.suffix == ".safetensors" and file_format(path) == NETWORK)
    stacks = load_model(path)[0].stacks if trained else load_network(path).stacks
    if stacks.progress_weight is None:
        raise ValueError(f"{path}: the network has no progress table")
    return stacks.progress_weight, stacks.progress_bias


def _rounded(weight: np.ndarray, bias: float, path: Path) -> Table:
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that cannot be scaled are refused below
        scaled = weight * (1 << PROGRESS_SHIFT)
    if not np.isfinite(scaled).all() or np.abs(scaled).max() >= 1 << 31:
        raise ValueError(f"{path}: its numbers are no progress table")
    return np.rint(scaled).astype(np.int32), round(bias * (1 << PROGRESS_SHIFT))


def learn_progress_table(batches: Iterable[Batch]) -> Table:
    """Return the progress table that predicts the move numbers of the batches' first POSITIONS positions best.

    Raises ValueError if no position has a move number.
    """
    rows, counts, plies, positions = [], [], [], 0
    for batch in batches:
        known = batch.ply >= 0
        listed, start = list_feature_rows(feature_set("half_kp"), batch.pieces[known], batch.hands[known])
        rows.append(listed)
        counts.append(np.diff(start[::2]))  # both views of a position add to one sum
        plies.append(batch.ply[known])
        positions += len(batch)
        if positions >= POSITIONS:
            break
    ply = np.concatenate(plies) if plies else np.zeros(0)
    if not len(ply):
        raise ValueError("no position has a move number to learn the progress from")
    in_order = np.sort(ply)
    rank = (np.searchsorted(in_order, ply) + np.searchsorted(in_order, ply, side="right")) / (2 * len(ply))
    first = np.concatenate(([0], np.cumsum(np.concatenate(counts))))
    return _fit(np.concatenate(rows), first, rank.astype(np.float32))


def _fit(rows: np.ndarray, first: np.ndarray, target: np.ndarray) -> Table:
    """Return the table of the logistic regression; rows[first[i] : first[i + 1]] are those of position i."""
    table, bias = torch.zeros(SQUARES * BONA_END), torch.zeros(())
    optimiser = torch.optim.Adam([table, bias], lr=_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, _STEPS)
    wanted = torch.from_numpy(target)
    for step in range(_STEPS):
        begin = step * _BATCH % max(1, len(target) - _BATCH + 1)
        end = min(begin + _BATCH, len(target))
        own = torch.from_numpy(rows[first[begin] : first[end]].astype(np.int64))
        position = torch.arange(end - begin).repeat_interleave(torch.from_numpy(np.diff(first[begin : end + 1])))
        logits = torch.zeros(end - begin).index_add(0, position, table[own]) + bias
        # The gradient of the mean cross-entropy. PyTorch's own, of an embedding bag, takes ten times as long.
        error = (torch.sigmoid(logits) - wanted[begin:end]) / (end - begin)
        table.grad = torch.bincount(own, error[position], minlength=len(table))
        bias.grad = error.sum()
        optimiser.step()
        schedule.step()
    weight = table.double().numpy().reshape(SQUARES, BONA_END)
    return _rounded(weight, float(bias), Path("the learnt table"))
