"""The first layer of NNUE networks in training: a table of rows of a feature set of YaneuraOu, with shared factors.

A row of HalfKP (own king's square x piece) is rarely active, so in training it is a sum of four factors: its own, one
of the king's square, one of the piece, and for pieces on the board one of the place relative to the king. Squares of
the king share what is learnt that way. Only the active rows of a batch are summed and get a gradient. `first_layer()`
sums all of them, so the exported network has no factors. All feature sets with a block of rows for each square of the
own king have these factors, mirrored ones for the squares of files 1 to 5. The others, K+P and K+A2, have none.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.networks.feature_rows import list_feature_rows
from lite.networks.gathered import gather_sums
from lite.networks.parts import at_once, part_bounds
from lite.networks.rounding import UNIT, round_to
from lite.networks.row_sums import TableSums
from lite.networks.value_network import NetworkConfig, ValueNetwork
from search.compiling.jit import jit
from search.evaluation.feature_sets import BONA_BOARD_START, MEN, FeatureSet, feature_set
from search.rules.shogi import SQUARES

cached_feature_set = cache(feature_set)
_SPAN = 17
"""Number of differences between two files or two ranks."""


def relative_rows(stride: int) -> int:
    """Return the number of places relative to the king, of a set with `stride` rows for each square of the king."""
    return (stride - BONA_BOARD_START) // SQUARES * _SPAN * _SPAN


@jit
def _number_rows(rows, number, used, numbered):
    """Number the rows by first appearance: `used` lists them, `numbered` holds each listed row's number.

    number int32: scratch, -1 for every row of the table before and after.
    """
    count = 0
    for place in range(len(rows)):
        row = rows[place]
        if number[row] < 0:
            number[row] = count
            used[count] = row
            count += 1
        numbered[place] = number[row]
    for index in range(count):
        number[used[index]] = -1
    return count


@jit
def _relative_row(king, piece):
    """Return the row of a piece's place relative to the king's square; -1 for a piece in hand."""
    if piece < BONA_BOARD_START:
        return np.int64(-1)
    plane, square = (piece - BONA_BOARD_START) // SQUARES, (piece - BONA_BOARD_START) % SQUARES
    file, rank = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
    return (plane * _SPAN + file) * _SPAN + rank


@jit
def _sum_factors(table, king, piece, relative, used, first, last, result):
    stride = piece.shape[0]
    for index in range(first, last):
        row = np.int64(used[index])
        near = _relative_row(row // stride, row % stride)
        for lane in range(table.shape[1]):
            result[index, lane] = table[row, lane] + king[row // stride, lane] + piece[row % stride, lane]
        if near >= 0:
            for lane in range(table.shape[1]):
                result[index, lane] += relative[near, lane]


@jit
def _spread_gradient(gradient, used, table, king, piece, relative):
    """Add the gradient of each used row to those of the table and of all factors."""
    stride = piece.shape[0]
    for index in range(len(used)):
        row = np.int64(used[index])
        near = _relative_row(row // stride, row % stride)
        for lane in range(gradient.shape[1]):
            table[row, lane] = gradient[index, lane]
            king[row // stride, lane] += gradient[index, lane]
            piece[row % stride, lane] += gradient[index, lane]
        if near >= 0:
            for lane in range(gradient.shape[1]):
                relative[near, lane] += gradient[index, lane]


class _FactoredRows(torch.autograd.Function):
    """The used rows of a table plus their factors, (used, N)."""

    @staticmethod
    def forward(
        ctx: Any, table: torch.Tensor, king: torch.Tensor, piece: torch.Tensor, relative: torch.Tensor, used: np.ndarray
    ) -> torch.Tensor:
        arrays = [tensor.detach().numpy() for tensor in (table, king, piece, relative)]
        summed = torch.empty(len(used), table.shape[1], dtype=table.dtype)
        bounds = zip(*part_bounds(len(used), None), strict=True)
        at_once(lambda first, last: _sum_factors(*arrays, used, first, last, summed.numpy()), *bounds)
        ctx.used, ctx.shapes = used, [part.shape for part in (table, king, piece, relative)]
        return summed

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        gradient = gradients[0].contiguous()
        parts = [torch.zeros(shape, dtype=gradient.dtype) for shape in ctx.shapes]
        _spread_gradient(gradient.numpy(), ctx.used, *(part.numpy() for part in parts))
        return *parts, None


class FactoredNetwork(ValueNetwork):
    """A network of two perspectives whose first layer is a table of rows, with factors, and without normalisation."""

    listed = False
    fixed_units = True

    def __init__(self, config: NetworkConfig, features: str, width: int) -> None:
        super().__init__(config, perspectives=2)
        self._features = features
        own = self.feature_set
        stride, buckets = own.king_stride, int(own.king_bucket.max()) + 1 if own.king_stride else 0
        sizes = [buckets, stride, relative_rows(stride)] if stride else [0, 0, 0]
        self.bias = nn.Parameter(torch.full((width,), 0.5))
        self.table = nn.Parameter(torch.zeros(own.rows, width))
        self.king, self.piece, self.relative = (nn.Parameter(torch.zeros(size, width)) for size in sizes)
        nn.init.normal_(self.piece if stride else self.table, std=0.1 / MEN**0.5)

    @property
    def feature_set(self) -> FeatureSet:
        return cached_feature_set(self._features)

    def norms(self) -> list[nn.Module]:
        return []

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """Raise ValueError: the listing's inputs end at eight pawns in hand, and NNUE counts more."""
        raise ValueError(
            f"a {self.network_config.name} network has no form with the lite network's inputs, so none in ONNX"
        )

    def listed_rows(self, pieces: np.ndarray, hands: np.ndarray) -> tuple[TableSums, Any]:
        """Return the first layer, and the function from a range of positions to their rows, as `fused_outputs` has it.

        The arguments are those of a batch.
        """
        rows, start = list_feature_rows(self.feature_set, pieces, hands)
        table: torch.Tensor = self.table
        if len(self.king):
            # A batch has few rows of a large table: they get new numbers.
            used, numbered = np.empty_like(rows), np.empty_like(rows)
            used = used[: _number_rows(rows, np.full(len(table), -1, np.int32), used, numbered)]
            rows = numbered
            table = _FactoredRows.apply(table, self.king, self.piece, self.relative, used)  # type: ignore[no-untyped-call]

        bias: torch.Tensor = self.bias
        if self.rounding is not None:
            table, bias = round_to(table, UNIT), round_to(bias, UNIT)

        def lists(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
            part = start[2 * first : 2 * last + 1]
            return rows[part[0] : part[-1]], part - part[0]

        return TableSums(table, bias), lists

    def gathered_sums(self, rows: torch.Tensor) -> torch.Tensor:
        if self.rounding is not None:
            return self._rounded_sums(rows)
        sums = self.bias + gather_sums(self.table, rows)
        if not len(self.king):
            return sums
        king, piece, near = self._factors_of(rows)
        there = rows != len(self.table)
        # All rows of a sample are of one king.
        of_kings = there.sum(1, keepdim=True) * gather_sums(self.king, king.amin(1, keepdim=True))
        return sums + of_kings + gather_sums(self.piece, piece) + gather_sums(self.relative, near)

    def _factors_of(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the rows of the factors by king, piece and relative place, of rows of the table.

        The number of all rows stands for "no row"; it becomes the number of all kings and of all other factors.
        """
        stride = len(self.piece)
        king, piece = rows // stride, torch.where(rows != len(self.table), rows % stride, stride)
        plane, square = (piece - BONA_BOARD_START) // SQUARES, (piece - BONA_BOARD_START) % SQUARES
        file, rank = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
        on_board = (piece >= BONA_BOARD_START) & (piece < stride)
        near = torch.where(on_board, (plane * _SPAN + file) * _SPAN + rank, len(self.relative))
        return king, piece, near

    def _rounded_sums(self, rows: torch.Tensor) -> torch.Tensor:
        """Return `gathered_sums` of rounded rows: each used row is the rounded sum of its factors."""
        used, numbered = torch.unique(rows, return_inverse=True)
        used = used[used < len(self.table)]  # "no row" comes last, and its number stays that of no row
        table = self.table[used]
        if len(self.king):
            king, piece, near = self._factors_of(used)
            relative = torch.cat((self.relative, self.relative.new_zeros(1, table.shape[1])))
            table = table + self.king[king] + self.piece[piece] + relative[near]
        return round_to(self.bias, UNIT) + gather_sums(round_to(table, UNIT), numbered)

    def first_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows f8 [features, N] with the factors added, and bias f8 [N]."""
        table, king, piece, relative, bias = (
            part.detach().cpu().double().numpy()
            for part in (self.table, self.king, self.piece, self.relative, self.bias)
        )
        if not len(king):
            return table, bias
        rows = np.empty_like(table)
        _sum_factors(table, king, piece, relative, np.arange(len(table)), np.int64(0), np.int64(len(table)), rows)
        return rows, bias
