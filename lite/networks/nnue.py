"""NNUE for training: HalfKP or K+P, a first layer shared by both perspectives, clipped ReLU, layers that fit int8.

As YaneuraOu's own trainer does it (`source/eval/nnue/trainer` of its repository, after Nasu's "Efficiently Updatable
Neural-Network-based Evaluation Function for computer Shogi", 2018): activations are cut to 0..1, which an `nn.bin`
counts as 0..127, and the weights of later layers are kept where int8 holds them at 64 to one.

A row of HalfKP (own king's square x piece) is rarely active, so in training it is a sum of four factors: its own, one
of the king's square, one of the piece, and for pieces on the board one of the place relative to the king. Squares of
the king share what is learnt that way. Only the active rows of a batch are summed and get a gradient. `first_layer()`
sums all of them, so the exported network has no factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import nn

from lite.networks.first_layer import MAX_LISTED
from lite.networks.fused_step import fused_outputs
from lite.networks.gathered import gather_sums
from lite.networks.limits import check_hidden, check_size
from lite.networks.parts import at_once, part_bounds
from lite.networks.row_sums import TableSums
from lite.networks.value_network import NetworkConfig, ValueNetwork
from search.compiling.jit import jit
from search.evaluation.feature_sets import (
    BONA_END,
    HAND_SLOT_COUNT,
    HAND_SLOT_KIND,
    MEN,
    NO_KING,
    NO_ROW,
    FeatureSet,
    feature_set,
)
from search.evaluation.network import LANES, MAX_WIDTH
from search.rules.shogi import EMPTY, HAND_CODES, HAND_SLOTS, KINDS, KING, SQUARES

Features = Literal["half_kp", "k_p"]

WEIGHT_SCALE = 64
"""Integer of the weight 1 in hidden layers of an nn.bin."""
ACTIVATION_SCALE = 127
"""Integer of the activation 1 in an nn.bin."""
OUTPUT_SCALE = 600 * 16
"""Output of one logit in an nn.bin: YaneuraOu's trainer uses 600 per logit, and FV_SCALE is 16."""
HIDDEN_LIMIT = 127 / WEIGHT_SCALE
OUTPUT_LIMIT = 127 / (OUTPUT_SCALE / ACTIVATION_SCALE)
"""Largest weights that int8 holds at these scales."""

_features = cache(feature_set)
_BOARD_START = 90
"""BonaPiece numbers from here on are pieces on squares."""
_SPAN = 17
"""Number of differences between two files or two ranks."""
RELATIVE_ROWS = (BONA_END - _BOARD_START) // SQUARES * _SPAN * _SPAN


@jit
def _list_rows(pieces, hands, codes_to_rows, king_bucket, king_stride, missing_row, rows, start):
    listed = 0
    for position in range(pieces.shape[0]):
        for view in range(2):
            start[2 * position + view] = listed
            own_king = KING + KINDS * view
            king = NO_KING
            men = 0
            first = listed
            for square in range(SQUARES):
                piece = np.int64(pieces[position, square])
                if piece == EMPTY:
                    continue
                if piece == own_king:
                    king = SQUARES - 1 - square if view else square
                men += piece % KINDS != KING
                row = codes_to_rows[view, piece * SQUARES + square]
                if row != NO_ROW:
                    rows[listed] = row
                    listed += 1
            for slot in range(2 * HAND_SLOTS):
                side, nth = slot // HAND_SLOTS, slot % HAND_SLOTS
                if hands[position, side * 7 + HAND_SLOT_KIND[nth]] >= HAND_SLOT_COUNT[nth]:
                    men += 1
                    rows[listed] = codes_to_rows[view, HAND_CODES + slot]
                    listed += 1
            for _ in range(MEN - men):
                rows[listed] = missing_row
                listed += 1
            offset = king_bucket[king] * king_stride
            for place in range(first, listed):
                rows[place] += offset
    start[2 * pieces.shape[0]] = listed
    return listed


def list_feature_rows(features: FeatureSet, pieces: np.ndarray, hands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the active rows `(rows u4 [total], start i8 [2 B + 1])` of each position's views, the mover's first.

    Sample s has `rows[start[s] : start[s + 1]]`. pieces u1 (B, 81), hands u1 (B, 14): the mover's view, as in `Batch`.
    """
    if len(pieces) and int(pieces.max()) > EMPTY:
        raise ValueError(f"pieces must be 0..{EMPTY}, found {int(pieces.max())}: decode the records again")
    assert features.missing_row is not None
    rows = np.empty(2 * len(pieces) * (MAX_LISTED + 2 * HAND_SLOTS) + 1, np.uint32)
    start = np.empty(2 * len(pieces) + 1, np.int64)
    buckets, stride, missing = features.king_bucket, np.int64(features.king_stride), np.int64(features.missing_row)
    total = _list_rows(pieces, hands, features.codes_to_rows, buckets, stride, missing, rows, start)
    return rows[:total], start


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
    if piece < _BOARD_START:
        return np.int64(-1)
    plane, square = (piece - _BOARD_START) // SQUARES, (piece - _BOARD_START) % SQUARES
    file, rank = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
    return (plane * _SPAN + file) * _SPAN + rank


@jit
def _sum_factors(table, king, piece, relative, used, first, last, result):
    for index in range(first, last):
        row = np.int64(used[index])
        near = _relative_row(row // BONA_END, row % BONA_END)
        for lane in range(table.shape[1]):
            result[index, lane] = table[row, lane] + king[row // BONA_END, lane] + piece[row % BONA_END, lane]
        if near >= 0:
            for lane in range(table.shape[1]):
                result[index, lane] += relative[near, lane]


@jit
def _spread_gradient(gradient, used, table, king, piece, relative):
    """Add the gradient of each used row to those of the table and of all factors."""
    for index in range(len(used)):
        row = np.int64(used[index])
        near = _relative_row(row // BONA_END, row % BONA_END)
        for lane in range(gradient.shape[1]):
            table[row, lane] = gradient[index, lane]
            king[row // BONA_END, lane] += gradient[index, lane]
            piece[row % BONA_END, lane] += gradient[index, lane]
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


@dataclass(frozen=True)
class NnueConfig(NetworkConfig):
    """Options of an NNUE network, whose feature set a subclass names."""

    name: ClassVar[Features]
    learning_rate: ClassVar[float | None] = 0.005

    width: int = 256
    """Outputs of the first layer per perspective, a multiple of 32."""
    hidden: tuple[int, ...] = (32, 32)
    """Outputs of each hidden layer."""

    def check(self) -> None:
        check_size("width", self.width, MAX_WIDTH)
        if self.width % LANES:
            raise ValueError(f"width {self.width}: must be a multiple of {LANES}")
        check_hidden(self.hidden)

    def build(self) -> NnueNetwork:
        return NnueNetwork(self.name, self.width, self.hidden)


@dataclass(frozen=True)
class HalfKpConfig(NnueConfig):
    """Options of a HalfKP network."""

    name: ClassVar[Features] = "half_kp"


@dataclass(frozen=True)
class KpConfig(NnueConfig):
    """Options of a K+P network."""

    name: ClassVar[Features] = "k_p"


class NnueNetwork(ValueNetwork):
    """Both perspectives' `width` sums, clipped to 0..1, then `hidden` layers and the output (a logit)."""

    activation = "clipped"
    listed = False

    def __init__(self, features: Features = "half_kp", width: int = 256, hidden: tuple[int, ...] = (32, 32)) -> None:
        config = HalfKpConfig if features == "half_kp" else KpConfig
        super().__init__(config(width, hidden), perspectives=2)
        factored = features == "half_kp"
        sizes = [SQUARES, BONA_END, RELATIVE_ROWS] if factored else [0, 0, 0]
        self.bias = nn.Parameter(torch.full((width,), 0.5))
        self.table = nn.Parameter(torch.zeros(self.feature_set.rows, width))
        self.king, self.piece, self.relative = (nn.Parameter(torch.zeros(size, width)) for size in sizes)
        nn.init.normal_(self.piece if factored else self.table, std=0.1 / MEN**0.5)
        self.linear = nn.ModuleList(nn.Linear(into, out) for into, out in pairwise([2 * width, *hidden, 1]))
        for layer in self.hidden_layers()[:-1]:
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            if not layer.weight.is_meta:  # see shapes.py
                # Sums start in the middle of 0..1, where a gradient passes.
                with torch.no_grad():
                    layer.bias.copy_(0.5 - 0.5 * layer.weight.sum(1))

    @property
    def feature_set(self) -> FeatureSet:
        return _features(self.network_config.name)

    def hidden_layers(self) -> list[nn.Linear]:
        return list(self.linear)  # type: ignore[arg-type]

    def _limits(self) -> list[float]:
        return [HIDDEN_LIMIT] * (len(self.linear) - 1) + [OUTPUT_LIMIT]

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """Raise ValueError: the listing's inputs end at eight pawns in hand, and NNUE counts more."""
        raise ValueError(
            f"a {self.network_config.name} network has no form with the lite network's inputs, so none in ONNX"
        )

    def outputs(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Return outputs (B, 1) from a batch's arrays; `in_check` is ignored.

        In training the weights are clipped first, so that the gradient is taken inside their limits.
        """
        rows, start = list_feature_rows(self.feature_set, pieces, hands)
        table: torch.Tensor = self.table
        if len(self.king):
            # A batch has few rows of a large table: they get new numbers.
            used, numbered = np.empty_like(rows), np.empty_like(rows)
            used = used[: _number_rows(rows, np.full(len(table), -1, np.int32), used, numbered)]
            rows = numbered
            table = _FactoredRows.apply(table, self.king, self.piece, self.relative, used)  # type: ignore[no-untyped-call]

        def lists(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
            part = start[2 * first : 2 * last + 1]
            return rows[part[0] : part[-1]], part - part[0]

        first_layer = TableSums(table, self.bias)
        arguments = (len(pieces), lists, first_layer, self.norms(), self.training, self._linear(), self.activates)
        return fused_outputs(*arguments, self.threads)

    def norms(self) -> list[nn.Module]:
        return []

    def _linear(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        linear: list[tuple[torch.Tensor, torch.Tensor]] = []
        for layer, limit in zip(self.hidden_layers(), self._limits(), strict=True):
            if self.training:
                with torch.no_grad():
                    layer.weight.clamp_(-limit, limit)
            linear.append((layer.weight.clamp(-limit, limit), layer.bias))
        return linear

    def gathered_sums(self, rows: torch.Tensor) -> torch.Tensor:
        sums = self.bias + gather_sums(self.table, rows)
        if not len(self.king):
            return sums
        # The number of all rows stands for "no row"; it becomes the number of all kings and of all other factors.
        there = rows != len(self.table)
        king, piece = rows // BONA_END, torch.where(there, rows % BONA_END, BONA_END)
        plane, square = (piece - _BOARD_START) // SQUARES, (piece - _BOARD_START) % SQUARES
        file, rank = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
        on_board = (piece >= _BOARD_START) & (piece < BONA_END)
        near = torch.where(on_board, (plane * _SPAN + file) * _SPAN + rank, RELATIVE_ROWS)
        # All rows of a sample are of one king.
        of_kings = there.sum(1, keepdim=True) * gather_sums(self.king, king.amin(1, keepdim=True))
        return sums + of_kings + gather_sums(self.piece, piece) + gather_sums(self.relative, near)

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

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            (
                layer.weight.detach().cpu().double().clamp(-limit, limit).numpy(),
                layer.bias.detach().cpu().double().numpy(),
            )
            for layer, limit in zip(self.hidden_layers(), self._limits(), strict=True)
        ]
