"""The first layer for training: sum the table rows that a position makes active, normalise, cut at zero.

Every net of this room is linear up to its first activation, so its first layer is a table of rows, one per feature of
`piece_square` (piece on square, pieces in hand, in check), and a position is the sum of about forty of them. The
listing's module moves a (B, 16, 9, 9) feature map about instead, which takes more than ten times as long. The kernels
here have their own backward and work in float32 (training) and float64 (tests).

Order of the 2325 rows: `piece*81 + square` with the piece as the mover sees it (0-13 own, 14-27 enemy), then 28 own
and 28 enemy rows for "holds at least n of a kind" (P8 L4 N4 S4 G4 B2 R2, the listing's order), then "in check".
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from search.evaluation.feature_sets import (
    HAND_ROW_LIMIT,
    HAND_ROW_START,
    HAND_ROWS,
    NO_ROW,
    PIECE_SQUARE_ROWS,
    piece_square,
)
from search.machine.jit import jit
from search.rules.shogi import EMPTY, HAND_CODES, HAND_KINDS, SQUARES

ROWS = PIECE_SQUARE_ROWS + 1
"""Rows of the feature set `piece_square`: 2268 of the board, 56 of the hands, 1 for "in check"."""
CHECK_ROW = ROWS - 1
HAND_LIMIT = np.concatenate((HAND_ROW_LIMIT, HAND_ROW_LIMIT))
"""Rows per kind in hand, by own P L N S B R G then the enemy's: pawns beyond the eighth add none."""
HAND_START = np.concatenate((HAND_ROW_START, HAND_ROW_START + HAND_ROWS))
"""Where a kind's rows start among the 56 hand rows: the rows stand in the order P L N S G B R."""
MAX_LISTED = SQUARES + 2 * HAND_ROWS + 1
"""More rows than any board can make active, legal or not."""


def _other_rows() -> np.ndarray:
    """For each row of the mover's view the row that says the same in the opponent's view; "in check" has none."""
    own, turned = piece_square().codes_to_rows
    other = np.full(ROWS, ROWS, np.uint16)
    other[own[own != NO_ROW]] = turned[own != NO_ROW]
    return other


OTHER_ROW = _other_rows()

_pools: dict[int, ThreadPoolExecutor] = {}


def _in_parts(function: Callable[[int, int], Any], count: int) -> list[Any]:
    """`function(first, last)` over as many equal parts of `range(count)` as torch has threads; results in order.

    The kernels release the GIL. The parts depend on the number of threads alone, so that a run repeats to the bit.
    """
    parts = min(torch.get_num_threads(), max(count, 1))
    bounds = [count * part // parts for part in range(parts + 1)]
    if parts == 1:
        return [function(0, count)]
    pool = _pools.setdefault(parts, ThreadPoolExecutor(parts))
    return list(pool.map(function, bounds[:-1], bounds[1:]))


@jit
def _list_rows(pieces, hands, in_check, perspectives, rows, start):
    listed = 0
    sample = 0
    for position in range(pieces.shape[0]):
        start[sample] = listed
        first = listed
        for square in range(SQUARES):
            piece = np.int64(pieces[position, square])
            rows[listed] = piece * SQUARES + square
            listed += piece != EMPTY
        for slot in range(2 * HAND_KINDS):
            held = min(np.int64(hands[position, slot]), HAND_LIMIT[slot])
            for nth in range(held):
                rows[listed] = HAND_CODES + HAND_START[slot] + nth
                listed += 1
        last = listed
        if in_check[position]:
            rows[listed] = CHECK_ROW
            listed += 1
        sample += 1
        if perspectives == 2:
            start[sample] = listed
            for place in range(first, last):
                rows[listed] = OTHER_ROW[rows[place]]
                listed += 1
            sample += 1
    start[sample] = listed
    return listed


def list_active_rows(
    pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray, perspectives: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The active rows of each sample, as `(rows u2 [total], start i8 [samples + 1])`.

    Sample s has `rows[start[s] : start[s + 1]]`. pieces u1 (B, 81) 0..28, hands u1 (B, 14), in_check bool (B,), all in
    the mover's view as in `Batch`. With two perspectives position b gives the samples 2b (the mover's view) and 2b+1
    (the opponent's, never "in check").
    """
    positions = len(pieces)
    if positions and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}: decode the records again")
    rows = np.empty(positions * perspectives * MAX_LISTED + 1, np.uint16)
    start = np.empty(positions * perspectives + 1, np.int64)
    total = _list_rows(pieces, hands, in_check, perspectives, rows, start)
    return rows[:total], start


@jit
def _sum_rows(table, base, rows, start, first, last, sums):
    width = table.shape[1]
    for sample in range(first, last):
        for output in range(width):
            sums[sample, output] = base[output]
        for place in range(start[sample], start[sample + 1]):
            row = rows[place]
            for output in range(width):
                sums[sample, output] += table[row, output]


@jit
def _scatter_rows(gradient, rows, start, first, last, table_gradient):
    width = gradient.shape[1]
    for sample in range(first, last):
        for place in range(start[sample], start[sample + 1]):
            row = rows[place]
            for output in range(width):
                table_gradient[row, output] += gradient[sample, output]


class _SumActiveRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, base: torch.Tensor, rows: np.ndarray, start: np.ndarray) -> torch.Tensor:
        samples = len(start) - 1
        sums = torch.empty(samples, table.shape[1], dtype=table.dtype)
        arrays = (table.detach().contiguous().numpy(), base.detach().contiguous().numpy(), rows, start)
        _in_parts(lambda first, last: _sum_rows(*arrays, first, last, sums.numpy()), samples)
        ctx.active, ctx.shape = (rows, start), table.shape
        return sums

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        gradient = gradients[0].contiguous()
        values, (rows, start) = gradient.numpy(), ctx.active

        def scatter(first: int, last: int) -> np.ndarray:
            table_gradient = np.zeros(ctx.shape, values.dtype)
            _scatter_rows(values, rows, start, first, last, table_gradient)
            return table_gradient

        total, *others = _in_parts(scatter, len(start) - 1)
        for part in others:
            total += part
        return torch.from_numpy(total), gradient.sum(0), None, None


def sum_active_rows(table: torch.Tensor, base: torch.Tensor, rows: np.ndarray, start: np.ndarray) -> torch.Tensor:
    """`base + table[active].sum(0)` of every sample: (samples, N), differentiable in `table` [F, N] and `base` [N]."""
    result: torch.Tensor = _SumActiveRows.apply(table, base, rows, start)  # type: ignore[no-untyped-call]
    return result


@jit
def _column_moments(sums, first, last, moments):
    """Adds sum and sum of squares of each column, in float64 whatever the input, to moments [2, N]."""
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            value = np.float64(sums[sample, output])
            moments[0, output] += value
            moments[1, output] += value * value


@jit
def _scale_and_cut(sums, scale, shift, first, last, result):
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            value = sums[sample, output] * scale[output] + shift[output]
            result[sample, output] = value if value > 0 else value - value  # 0, but a NaN stays one


@jit
def _gradient_moments(gradient, sums, scale, shift, mean, deviation, first, last, moments):
    """Adds to moments [2, N] each column's gradient after the cut, plain and times the normalised input."""
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            value = sums[sample, output]
            passed = gradient[sample, output] if value * scale[output] + shift[output] > 0 else np.float32(0)
            moments[0, output] += np.float64(passed)
            moments[1, output] += np.float64(passed) * np.float64((value - mean[output]) * deviation[output])


@jit
def _input_gradient(gradient, sums, scale, shift, constant, slope, first, last, result):
    for sample in range(first, last):
        for output in range(sums.shape[1]):
            value = sums[sample, output]
            passed = gradient[sample, output] if value * scale[output] + shift[output] > 0 else np.float32(0)
            result[sample, output] = scale[output] * passed - constant[output] - slope[output] * value


def _moments(kernel: Callable[..., None], samples: int, width: int, *arrays: np.ndarray) -> np.ndarray:
    def part_moments(first: int, last: int) -> np.ndarray:
        moments = np.zeros((2, width))
        kernel(*arrays, first, last, moments)
        return moments

    first_part, *others = _in_parts(part_moments, samples)
    for part in others:
        first_part += part
    return np.asarray(first_part)


class _NormaliseAndCut(torch.autograd.Function):
    """Batch normalisation over groups of adjacent columns, then ReLU. Ioffe and Szegedy 2015, equations 1-4 and their
    backward; a group is one channel of the listing's BatchNorm2d, its columns that channel's nine outputs."""

    @staticmethod
    def forward(
        ctx: Any, sums: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, mean: np.ndarray, variance: np.ndarray,
        epsilon: float, batch_statistics: bool,
    ) -> torch.Tensor:  # fmt: skip
        samples, width = sums.shape
        group = width // len(gamma)
        values = sums.detach().numpy()
        deviation = 1 / np.sqrt(variance + epsilon)
        scale = gamma.detach().numpy().astype(np.float64) * deviation
        shift = beta.detach().numpy().astype(np.float64) - scale * mean
        columns = [np.repeat(array, group).astype(values.dtype) for array in (scale, shift, mean, deviation)]
        result = torch.empty_like(sums)
        _in_parts(
            lambda first, last: _scale_and_cut(values, columns[0], columns[1], first, last, result.numpy()),
            samples,
        )
        ctx.values, ctx.columns, ctx.group, ctx.batch_statistics = values, columns, group, batch_statistics
        ctx.statistics = (scale, mean, deviation)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        gradient = gradients[0].contiguous().numpy()
        values, columns, group = ctx.values, list(ctx.columns), ctx.group
        samples, width = values.shape
        moments = _moments(_gradient_moments, samples, width, gradient, values, *columns)
        beta_gradient, gamma_gradient = moments.reshape(2, -1, group).sum(2)
        constant, slope = np.zeros_like(beta_gradient), np.zeros_like(beta_gradient)
        if ctx.batch_statistics:
            # d/dx of the mean and the variance: -a (mean(g) + x_hat mean(g x_hat)), as constant + slope * x.
            scale, mean, deviation = ctx.statistics
            elements = samples * group
            slope = scale * gamma_gradient / elements * deviation
            constant = scale * beta_gradient / elements - slope * mean
        columns += [np.repeat(array, group).astype(values.dtype) for array in (constant, slope)]
        result = np.empty_like(values)
        arrays = (gradient, values, columns[0], columns[1], columns[4], columns[5])
        _in_parts(lambda first, last: _input_gradient(*arrays, first, last, result), samples)
        as_tensor = [torch.from_numpy(g.astype(values.dtype)) for g in (gamma_gradient, beta_gradient)]
        return torch.from_numpy(result), *as_tensor, None, None, None, None


def normalise_and_cut(sums: torch.Tensor, norms: list[torch.nn.Module], training: bool) -> torch.Tensor:
    """ReLU of the batch-normalised sums (samples, N): as the listing's BatchNorm2d modules side by side, then ReLU.

    Each module of `norms` holds C channels; channel c of all of them in turn owns the next N / (all channels) columns.
    In training the statistics are the batch's, over samples and a channel's columns together, and the modules' running
    statistics move as PyTorch moves them (unbiased variance, `momentum`); otherwise the running ones are used.
    """
    first: Any = norms[0]
    channels = [int(norm.num_features) for norm in norms]  # type: ignore[arg-type]
    samples, width = sums.shape
    group = width // sum(channels)
    gamma = torch.cat([norm.weight for norm in norms])  # type: ignore[misc]
    beta = torch.cat([norm.bias for norm in norms])  # type: ignore[misc]
    if training:
        elements = samples * group
        if elements < 2:
            raise ValueError("batch normalisation needs more than one position in a training batch")
        values = sums.detach().numpy()
        totals = _moments(_column_moments, samples, width, values)
        mean, square = totals.reshape(2, -1, group).sum(2) / elements
        variance = np.maximum(square - mean * mean, 0)
        with torch.no_grad():
            place = 0
            for norm, count in zip(norms, channels, strict=True):
                module: Any = norm
                part = slice(place, place + count)
                momentum = module.momentum
                module.running_mean.lerp_(torch.from_numpy(mean[part]).to(sums.dtype), momentum)
                unbiased = variance[part] * elements / (elements - 1)
                module.running_var.lerp_(torch.from_numpy(unbiased).to(sums.dtype), momentum)
                module.num_batches_tracked += 1
                place += count
    else:
        mean = torch.cat([norm.running_mean for norm in norms]).double().numpy()  # type: ignore[misc]
        variance = torch.cat([norm.running_var for norm in norms]).double().numpy()  # type: ignore[misc]
    result: torch.Tensor = _NormaliseAndCut.apply(  # type: ignore[no-untyped-call]
        sums, gamma, beta, mean, variance, first.eps, training
    )
    return result
