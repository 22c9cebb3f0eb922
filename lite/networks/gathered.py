"""The forward pass of all networks by PyTorch's own operations, for tensors on any device, such as a GPU.

It computes the same function as `fused_step.py`, which needs a CPU. Positions are transferred as the reader has them,
about 100 bytes each; the device finds and gathers their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import nn

from lite.workers import Workers
from search.evaluation.feature_sets import (
    HAND_SLOT_COUNT,
    HAND_SLOT_KIND,
    MEN,
    NO_KING,
    NO_ROW,
    FeatureSet,
)
from search.rules.shogi import EMPTY, HAND_CODES, HAND_KINDS, HAND_SLOTS, KINDS, KING, NO_CODE, SQUARES

KINGS = 2


@cache
def _tables(features: FeatureSet, device: torch.device) -> dict[str, torch.Tensor]:
    """Return the tables that find a feature set's rows, on a device."""
    arrays = {
        "square": torch.arange(SQUARES),
        "slot": HAND_CODES + torch.arange(2 * HAND_SLOTS),
        "slot_kind": torch.from_numpy(HAND_SLOT_KIND),
        "slot_count": torch.from_numpy(HAND_SLOT_COUNT),
        "man": torch.arange(MEN),
        "row": torch.from_numpy(features.codes_to_rows).long(),
        "bucket": torch.from_numpy(features.king_bucket).long(),
    }
    if features.mirrored_codes_to_rows is not None:
        arrays["mirrored"] = torch.from_numpy(features.mirrored)
        arrays["mirrored_row"] = torch.from_numpy(features.mirrored_codes_to_rows).long()
    if features.second_rows is not None:
        arrays["second_row"] = torch.from_numpy(features.second_rows).long()
    return {part: array.to(device) for part, array in arrays.items()}


def gather_active_rows(
    features: FeatureSet, pieces: torch.Tensor, hands: torch.Tensor, in_check: torch.Tensor, perspective: int
) -> torch.Tensor:
    """Return the active rows int64 (B, most) of a feature set, filled up with the number of all rows.

    `FeatureSet.active_rows` on a device, with the check row: pieces u1 (B, 81), hands u1 (B, 14) and in_check bool
    (B,) are the mover's view, as in `Batch`; perspective 0 is the mover's, 1 the opponent's. Positions must not
    have more pieces than a set, which the readers of records check.
    """
    tables = _tables(features, pieces.device)
    pieces, hands = pieces.long(), hands.long()
    none = torch.full((), features.rows, device=pieces.device)
    board = torch.where(pieces == EMPTY, NO_CODE, pieces * SQUARES + tables["square"])
    held = hands.view(-1, 2, HAND_KINDS)[:, :, tables["slot_kind"]] >= tables["slot_count"]
    codes = torch.cat((board, torch.where(held.flatten(1), tables["slot"], NO_CODE)), 1)
    found = tables["row"][perspective][codes]
    square = gather_king_squares(pieces, perspective)
    if features.mirrored_codes_to_rows is not None:
        mirrored = tables["mirrored"][square][:, None]
        found = torch.where(mirrored, tables["mirrored_row"][perspective][codes], found)
    offset = (tables["bucket"][square] * features.king_stride)[:, None]
    rows = [torch.where(found == NO_ROW, none, found + offset)]
    if features.missing_row is not None:
        men = (pieces != EMPTY).sum(1) - (pieces % KINDS == KING).sum(1) + hands.sum(1)
        rows.append(torch.where(tables["man"] < (MEN - men)[:, None], features.missing_row + offset, none))
    if features.check_row is not None:
        rows.append(torch.where(in_check[:, None] & (perspective == 0), features.check_row, none))
    if features.second_rows is not None:
        second = tables["second_row"][perspective][codes]
        rows.append(torch.where(second == NO_ROW, none, second))
    # One row for each piece of a set, then "in check" or one more row of each king.
    most = MEN + KINGS + (KINGS if features.second_rows is not None else 1)
    return _side_by_side(torch.cat(rows, 1), none, most)


def gather_king_squares(pieces: torch.Tensor, perspective: int) -> torch.Tensor:
    """Return `FeatureSet.king_squares` int64 (B,) on a device: NO_KING where there is no own king."""
    king = pieces == KING + KINDS * perspective
    square = king.byte().argmax(1)
    return torch.where(king.any(1), SQUARES - 1 - square if perspective else square, NO_KING)


def _side_by_side(rows: torch.Tensor, none: torch.Tensor, most: int) -> torch.Tensor:
    """Return rows (B, most) without most of the columns of `none`.

    PyTorch adds up the gradients of one row sequentially, so a hundred entries of `none` per position would take nine
    tenths of a step.
    """
    there = rows != none
    column = torch.where(there, there.cumsum(1) - 1, most)
    return none.repeat(len(rows), most + 1).scatter_(1, column, rows)[:, :most]


def gather_sums(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return the sum (samples, N) of each sample's rows of a table (features, N).

    rows int64 (samples, columns); an entry that equals the number of features is no row.
    """
    with_none = torch.cat((table, table.new_zeros(1, table.shape[1])))
    return nn.functional.embedding_bag(rows, with_none, mode="sum", padding_idx=len(table))


class _Total(torch.autograd.Function):
    """The sum of a tensor over all processes, and of its gradient in the backward pass."""

    @staticmethod
    def forward(ctx: Any, numbers: torch.Tensor, workers: Workers) -> torch.Tensor:
        ctx.workers = workers
        total = numbers.clone()
        workers.total(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        total = gradients[0].clone()
        ctx.workers.total(total)
        return total, None


def normalise(sums: torch.Tensor, modules: Sequence[nn.Module], training: bool, workers: Workers) -> torch.Tensor:
    """Return sums (samples, N) after batch normalisation, with each channel's columns adjacent, see `batch_scaling`.

    In training the statistics cover the shares of all `workers`, and the running statistics are updated.
    """
    norms: list[Any] = list(modules)
    weight, bias, mean, variance = (
        torch.cat([getattr(norm, name) for norm in norms]) for name in ("weight", "bias", "running_mean", "running_var")
    )
    of_channels = sums.view(len(sums), len(weight), -1)
    if training:
        elements = torch.full((1,), of_channels[:, 0].numel(), dtype=torch.float64, device=sums.device)
        moments = [power.sum((0, 2), dtype=torch.float64) for power in (of_channels, of_channels.square())]
        numbers: torch.Tensor = _Total.apply(torch.cat((*moments, elements)), workers)  # type: ignore[no-untyped-call]
        elements = numbers[-1]
        mean, square = (numbers[:-1] / elements).chunk(2)
        variance = (square - mean * mean).clamp(min=0)
        with torch.no_grad():
            parts = [len(norm.running_mean) for norm in norms]
            unbiased = variance * elements / (elements - 1)
            for norm, its_mean, its_variance in zip(norms, mean.split(parts), unbiased.split(parts), strict=True):
                norm.running_mean.lerp_(its_mean.to(sums.dtype), norm.momentum)
                norm.running_var.lerp_(its_variance.to(sums.dtype), norm.momentum)
                norm.num_batches_tracked += 1
    scale = weight * (variance + norms[0].eps).rsqrt()
    shift = bias - scale * mean
    return (of_channels * scale.to(sums.dtype)[:, None] + shift.to(sums.dtype)[:, None]).flatten(1)
