"""Sums of rows that are zero but for two lines: the first layer of the lite network and of the untied one.

A piece on a square reaches the C outputs of its rank, by the convolution along the files, and the C outputs of its
file, by the one along the ranks. Of a row's 18 C numbers the other 16 C are zero, and are neither kept nor added here.
Outputs stand line by line: the ranks 0..8, then the files 0..8, each with its C channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lite.networks.row_sums import add_moments
from search.machine.jit import jit
from search.machine.llvm import i64, load, store, vector
from search.rules.shogi import HAND_CODES, SQUARES

LINES = 18
_RANK_LINE = (np.arange(HAND_CODES) % SQUARES % 9).astype(np.uint8)
_FILE_LINE = (9 + np.arange(HAND_CODES) % SQUARES // 9).astype(np.uint8)


def lanes_of(channels: int) -> int:
    """Numbers that a line takes in a table of pieces: four, or a multiple of eight."""
    return 4 if channels <= 4 else -(-channels // 8) * 8


def _make_add(lanes: int) -> Any:
    """An intrinsic that adds `lanes` numbers of an array from a place on to those of another."""

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
def _sum_lines(board, hands, base, rows, start, sums, moments):
    """`sums[s] = base + ` what the rows of sample s add, and each column's moments as in `TableSums.sum`.

    board (2268, 2 * lanes): of each piece and square the rank's numbers, then the file's, each with zeros behind its C
    channels, for they are added to the next line's, too. hands (57, N). sums: room for SPARE numbers must follow.
    """
    flat, lanes, width = board.reshape(-1), board.shape[1] // 2, len(base)
    channels = width // LINES
    target = sums.reshape(-1)
    for sample in range(len(start) - 1):
        place = sample * width
        for output in range(width):
            target[place + output] = base[output]
        for nth in range(start[sample], start[sample + 1]):
            row = np.int64(rows[nth])
            if row < HAND_CODES:
                _add_line(target, place + _RANK_LINE[row] * channels, flat, 2 * lanes * row, lanes)
                _add_line(target, place + _FILE_LINE[row] * channels, flat, 2 * lanes * row + lanes, lanes)
            else:
                for output in range(width):
                    target[place + output] += hands[row - HAND_CODES, output]
        add_moments(sums, sample, moments)


@jit
def _scatter_lines(gradient, rows, start, first, last, board, hands):
    """Adds the gradient of each sample to that of its rows; of board's numbers after the C channels it is senseless.

    gradient: room for SPARE numbers must follow.
    """
    flat, lanes, width = board.reshape(-1), board.shape[1] // 2, gradient.shape[1]
    channels = width // LINES
    source = gradient.reshape(-1)
    for sample in range(first, last):
        origin = (sample - first) * width
        for nth in range(start[sample], start[sample + 1]):
            row = np.int64(rows[nth])
            if row < HAND_CODES:
                _add_line(flat, 2 * lanes * row, source, origin + _RANK_LINE[row] * channels, lanes)
                _add_line(flat, 2 * lanes * row + lanes, source, origin + _FILE_LINE[row] * channels, lanes)
            else:
                for output in range(width):
                    hands[row - HAND_CODES, output] += gradient[sample - first, output]


class LineSums:
    """A first layer as the board's rows of two lines each, (2268, 2 * lanes), the hands' and the check's rows (57, N),
    and the base [N]."""

    def __init__(self, board: torch.Tensor, hands: torch.Tensor, base: torch.Tensor) -> None:
        self.tensors = (board, hands, base)

    def channel_of(self, channels: int) -> np.ndarray:
        """The channel of each column: the first half of them owns the ranks' columns, the other the files'."""
        line, channel = np.divmod(np.arange(LINES * channels // 2), channels // 2)
        return np.asarray(channel + channels // 2 * (line >= LINES // 2))

    def sum(self, arrays: list[np.ndarray], rows: np.ndarray, start: np.ndarray, sums: np.ndarray, moments: np.ndarray):
        _sum_lines(*arrays, rows, start, sums, moments)

    def scatter(self, gradients: list[np.ndarray]) -> Callable[..., None]:
        board, hands, _ = gradients
        return lambda *samples: _scatter_lines(*samples, board, hands)
