"""Sums of chosen rows of a matrix, and their gradient: most of the time of a first layer.

Sums stay in vector registers while rows are added. LLVM does not achieve that with loops over arrays, which load and
store every sum for every row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from search.compiling.jit import jit
from search.primitives.llvm import i64, load, store, vector

BLOCK = 512
"""Samples whose gradients are distributed together: 256 KB at 128 outputs, which fits into the cache."""
SPARE = 8
"""Numbers after sums and gradients that kernels may read and write without effect."""
_BUCKET = BLOCK + 32
"""Places from one row's bucket to the next: not a power of two, which would map all buckets to a few cache lines."""
_MOST_BUCKETS = 8192
"""Most features with buckets: with more, samples of a block seldom share rows, and buckets would fill the memory."""


def _make_add_lanes(lanes: int) -> Any:
    """Return an intrinsic for `lanes` lanes of `add_rows`, from lane `first_lane`."""

    @intrinsic
    def add_lanes(context, target, index, matrix, chosen, first, last, first_lane):
        def emit(context, builder, signature, arguments):
            _, index, _, _, first, last, first_lane = arguments
            target, matrix, chosen = (
                context.make_array(signature.args[place])(context, builder, arguments[place]) for place in (0, 2, 3)
            )
            target_address, matrix_address = (builder.ptrtoint(array.data, i64) for array in (target, matrix))
            width = builder.extract_value(matrix.shape, 1)
            element = context.get_data_type(signature.args[2].dtype)
            size = ir.Constant(i64, context.get_abi_sizeof(element))

            def place(row):
                return builder.mul(builder.add(builder.mul(row, width), first_lane), size)

            kind = vector(element, lanes)
            total = cgutils.alloca_once_value(builder, load(builder, target_address, place(index), kind))
            with cgutils.for_range_slice(builder, first, last, ir.Constant(i64, 1), i64) as (nth, _):
                row = builder.zext(builder.load(builder.gep(chosen.data, [nth])), i64)
                added = load(builder, matrix_address, place(row), kind)
                builder.store(builder.fadd(builder.load(total), added), total)
            store(builder, target_address, place(index), builder.load(total))
            return context.get_dummy_value()

        return types.void(target, types.int64, matrix, chosen, types.int64, types.int64, types.int64), emit

    return add_lanes


_add_64, _add_32, _add_16, _add_8, _add_4, _add_2, _add_1 = (_make_add_lanes(1 << bits) for bits in range(6, -1, -1))


@jit
def add_rows(target, index, matrix, chosen, first, last):
    """Compute `target[index] += matrix[chosen[first:last]]`, row by row.

    target, matrix: float (any, N) of one width and dtype, C-contiguous; chosen: unsigned integers.
    """
    width = matrix.shape[1]
    lane = 0
    while width - lane >= 64:
        _add_64(target, index, matrix, chosen, first, last, lane)
        lane += 64
    if width - lane >= 32:
        _add_32(target, index, matrix, chosen, first, last, lane)
        lane += 32
    if width - lane >= 16:
        _add_16(target, index, matrix, chosen, first, last, lane)
        lane += 16
    if width - lane >= 8:
        _add_8(target, index, matrix, chosen, first, last, lane)
        lane += 8
    if width - lane >= 4:
        _add_4(target, index, matrix, chosen, first, last, lane)
        lane += 4
    if width - lane >= 2:
        _add_2(target, index, matrix, chosen, first, last, lane)
        lane += 2
    if width - lane >= 1:
        _add_1(target, index, matrix, chosen, first, last, lane)


@jit
def add_moments(sums, sample, moments):
    """Add a sample's numbers and their squares to moments f8 [2, N]."""
    total, square = moments[0], moments[1]
    for output in range(sums.shape[1]):
        value = np.float64(sums[sample, output])
        total[output] += value
        square[output] += value * value


@jit
def _sum_rows(table, base, rows, start, sums, moments):
    """Compute `sums[s] = base + table[rows[start[s]:start[s + 1]]].sum(0)`.

    Each column's sum and sum of squares is added to moments f8 [2, N].
    """
    for sample in range(len(start) - 1):
        for output in range(len(base)):
            sums[sample, output] = base[output]
        add_rows(sums, sample, table, rows, start[sample], start[sample + 1])
        add_moments(sums, sample, moments)


@jit
def _scatter_rows(gradient, rows, start, first, last, bucket, count, table_gradient):
    """Add the gradient (last - first, N) of at most BLOCK samples to those of their rows, in their order.

    The samples are first put into a bucket for each row, so that a row's gradient is read and written once.
    bucket: room for the samples of each row; count: their number, 0 before and after. Both are empty for a table with
    too many features.
    """
    if len(count) == 0:
        for sample in range(first, last):
            for place in range(start[sample], start[sample + 1]):
                row = rows[place]
                for output in range(gradient.shape[1]):
                    table_gradient[row, output] += gradient[sample - first, output]
        return
    for sample in range(first, last):
        for place in range(start[sample], start[sample + 1]):
            row = np.int64(rows[place])
            if count[row] == BLOCK:  # only where a sample lists a row more than once
                add_rows(table_gradient, row, gradient, bucket, row * _BUCKET, row * _BUCKET + BLOCK)
                count[row] = 0
            bucket[row * _BUCKET + count[row]] = sample - first
            count[row] += 1
    for row in range(len(count)):
        if count[row] > 0:
            add_rows(table_gradient, row, gradient, bucket, row * _BUCKET, row * _BUCKET + count[row])
            count[row] = 0


class TableSums:
    """A first layer as a table [features, N] of rows and the base [N] that every sum starts from."""

    def __init__(self, table: torch.Tensor, base: torch.Tensor, pair_block: int | None = None) -> None:
        """pair_block: adjacent columns of which an activation by pairs multiplies the halves; None means all."""
        self.tensors = (table, base)
        self.pair_block = pair_block or len(base)

    def channel_of(self, channels: int) -> np.ndarray:
        """Return the channel of each column, i8 (N,); those of a channel are adjacent."""
        width = len(self.tensors[1])
        return np.repeat(np.arange(channels), width // channels)

    def sum(self, arrays: list[np.ndarray], rows: np.ndarray, start: np.ndarray, sums: np.ndarray, moments: np.ndarray):
        """Write the sums (samples, N), and add to their columns' moments."""
        _sum_rows(*arrays, rows, start, sums, moments)

    def scatter(self, gradients: list[np.ndarray]) -> Callable[..., None]:
        """Return a function (gradient, rows, start, first, last) that adds to the gradient of the table.

        gradient (last - first, N) is that of samples first..last, at most BLOCK.
        """
        table = gradients[0]
        features = len(table) if len(table) <= _MOST_BUCKETS else 0
        bucket, count = np.empty(features * _BUCKET, np.uint16), np.zeros(features, np.int64)
        return lambda *samples: _scatter_rows(*samples, bucket, count, table)
