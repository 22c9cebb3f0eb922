"""The plain thing to measure the lite value network against: a free row of numbers per feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import torch
from torch import nn

from lite.networks.first_layer import ROWS
from lite.networks.limits import check_choice, check_hidden, check_size
from lite.networks.value_network import NetworkConfig, ValueNetwork, exporting, sum_rows_to_export
from search.evaluation.network import MAX_WIDTH
from search.rules.shogi import EMPTY, HAND_CODES, SQUARES


@dataclass(frozen=True)
class DenseConfig(NetworkConfig):
    """What a dense network looks like."""

    name: ClassVar[str] = "dense"

    width: int = 64
    """Numbers per row."""
    hidden: tuple[int, ...] = (32,)
    """Sizes of the hidden layers."""
    perspectives: Literal[1, 2] = 1
    """1: the mover's view; 2: the mover's and the opponent's view side by side, through the same first layer."""
    draw: bool = False
    """A second output, the logit of a draw."""

    def check(self) -> None:
        check_size("width", self.width, MAX_WIDTH)
        check_hidden(self.hidden)
        check_choice("perspectives", self.perspectives, (1, 2))

    def build(self) -> DensePieceSquareNetwork:
        return DensePieceSquareNetwork(self.width, self.hidden, self.perspectives, self.draw)


class DensePieceSquareNetwork(ValueNetwork):
    """A row of `width` free numbers per feature, batch normalisation, ReLU, hidden layers: NNUE without kings."""

    def __init__(
        self, width: int = 64, hidden: tuple[int, ...] = (32,), perspectives: Literal[1, 2] = 1, draw: bool = False
    ) -> None:
        super().__init__(DenseConfig(width, tuple(hidden), perspectives, draw), perspectives)
        self.table = nn.Parameter(torch.randn(ROWS, width) / 6)
        self.norm = nn.BatchNorm1d(width)
        sizes = [width * perspectives, *hidden, 1 + draw]
        self.linear = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes))

    def norms(self) -> list[nn.Module]:
        return [self.norm]

    def hidden_layers(self) -> list[nn.Linear]:
        return list(self.linear)  # type: ignore[arg-type]

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.table, self.table.new_zeros(self.table.shape[1])

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        nothing = torch.zeros(1, self.table.shape[1], dtype=self.table.dtype)
        table = torch.cat((self.table, nothing))
        squares = torch.arange(SQUARES)
        board = torch.where(x1 == EMPTY, ROWS, x1 * SQUARES + squares)
        rows = torch.cat((board, x2 + HAND_CODES), 1)
        if exporting():
            return torch.relu(self.norm(sum_rows_to_export(table, rows, ROWS)))
        return torch.relu(self.norm(nn.functional.embedding_bag(rows, table, mode="sum")))
