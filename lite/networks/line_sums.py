"""Sums of rows that are zero except for a few lines: the first layer of the lite and the untied network.

A piece on a square reaches the C outputs of its rank, by the convolution along the files, the C outputs of its file, by
the one along the ranks, and those of its line in each further direction. Of the 9 C numbers that a row has for a
direction the other 8 C are zero, and are neither kept nor added here. Outputs stand line by line: the ranks 0..8, the
files 0..8, then the lines of the further directions, each with its C channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lite.networks.lines import LINES
from lite.networks.row_sums import add_moments
from search.compiling.jit import jit
from search.primitives.llvm import i64, load, store, vector
from search.rules.shogi import SQUARES


def lanes_of(channels: int) -> int:
    """Return the numbers per line in a table of pieces: 4, or a multiple of 8."""
    return 4 if channels <= 4 else -(-channels // 8) * 8


def _make_add(lanes: int) -> Any:
    """Return an intrinsic that adds `lanes` numbers of an array from a place to those of another."""

    @intrinsic
    def add(context, target, place, source, origin):
        def emit(context, builder, signature, arguments):
            element = context.get_data_type(signature.args[0].dtype)
            size = ir.Constant(i64, context.get_abi_sizeof(element))
            kind = vector(element, lanes)
            addresses, values = [], []
            for array, number in ((0, 1), (2, 3)):
                data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
                address = builder.add(builder.ptrtoint(data, i64), builder.mul(arguments[number], size))
                addresses.append(address)
                values.append(load(builder, address, 0, kind))
            store(builder, addresses[0], 0, builder.fadd(*values))
            return context.get_dummy_value()

        return types.void(target, types.int64, source, types.int64), emit

    return add


_add_4, _add_8 = _make_add(4), _make_add(8)


@jit
def _add_line(target, place, source, origin, lanes):
    if lanes == 4:
        _add_4(target, place, source, origin)
    else:
        for lane in range(0, lanes, 8):
            _add_8(target, place + lane, source, origin + lane)


@jit
def _sum_lines(columns, board, hands, base, rows, start, sums, moments):
    """Compute `sums[s]` as base plus the rows of sample s, and each column's moments as in `TableSums.sum`.

    columns [directions, 81]: first column of the line of each square. board (pieces * 81, directions * lanes): for each
    piece and square the numbers of its line in each direction, with zeros after its C channels, as they are added to
    the next line, too. hands (other rows, N). sums: room for SPARE numbers must follow.
    """
    flat, row_lanes, width, directions = board.reshape(-1), board.shape[1], len(base), len(columns)
    lanes = row_lanes // directions
    target = sums.reshape(-1)
    for sample in range(len(start) - 1):
        place = sample * width
        for output in range(width):
            target[place + output] = base[output]
        for nth in range(start[sample], start[sample + 1]):
            row = np.int64(rows[nth])
            if row < len(board):
                square = np.uint8(row % SQUARES)
                for direction in range(directions):
                    origin = row_lanes * row + lanes * direction
                    _add_line(target, place + columns[direction, square], flat, origin, lanes)
            else:
                for output in range(width):
                    target[place + output] += hands[row - len(board), output]
        add_moments(sums, sample, moments)


@jit
def _scatter_lines(columns, gradient, rows, start, first, last, board, hands):
    """Add the gradient of each sample to that of its rows; board's numbers after the C channels get a meaningless one.

    gradient: room for SPARE numbers must follow.
    """
    flat, row_lanes, width, directions = board.reshape(-1), board.shape[1], gradient.shape[1], len(columns)
    lanes = row_lanes // directions
    source = gradient.reshape(-1)
    for sample in range(first, last):
        origin = (sample - first) * width
        for nth in range(start[sample], start[sample + 1]):
            row = np.int64(rows[nth])
            if row < len(board):
                square = np.uint8(row % SQUARES)
                for direction in range(directions):
                    target = row_lanes * row + lanes * direction
                    _add_line(flat, target, source, origin + columns[direction, square], lanes)
            else:
                for output in range(width):
                    hands[row - len(board), output] += gradient[sample - first, output]


class LineSums:
    """A first layer whose board rows are kept as one line per direction."""

    def __init__(
        self, lines: Sequence[np.ndarray], board: torch.Tensor, hands: torch.Tensor, base: torch.Tensor
    ) -> None:
        """lines: line of each square [81], per direction. board (pieces * 81, directions * lanes). hands: rows of hands
        and "in check" (other rows, N). base [N]."""
        self.tensors = (board, hands, base)
        channels = len(base) // (LINES * len(lines))
        self.pair_block = channels
        self.columns = channels * (LINES * np.arange(len(lines))[:, None] + np.stack(lines))

    def channel_of(self, channels: int) -> np.ndarray:
        """Return the channel of each column, i8 (N,); a direction's channels own its columns."""
        of_direction = channels // len(self.columns)
        line, channel = np.divmod(np.arange(LINES * channels), of_direction)
        return np.asarray(channel + of_direction * (line // LINES))

    def sum(self, arrays: list[np.ndarray], rows: np.ndarray, start: np.ndarray, sums: np.ndarray, moments: np.ndarray):
        _sum_lines(self.columns, *arrays, rows, start, sums, moments)

    def scatter(self, gradients: list[np.ndarray]) -> Callable[..., None]:
        board, hands, _ = gradients
        return lambda *samples: _scatter_lines(self.columns, *samples, board, hands)
