"""The dense network: a free row of numbers per feature, the baseline for the lite value network."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import torch
from torch import nn

from lite.networks.activation import ACTIVATIONS, ActivationName
from lite.networks.exporting import exporting, sum_rows_to_export
from lite.networks.first_layer import ROWS
from lite.networks.kings import KING_NAMES, KingName
from lite.networks.later_layers import StackName, check_later_layers, later_layers
from lite.networks.limits import check_hidden, check_size
from lite.networks.value_network import HAND_PADDING, NetworkConfig, ValueNetwork
from search.evaluation.feature_sets import PIECE_SQUARE_ROWS
from search.evaluation.network import MAX_WIDTH
from search.evaluation.output_buckets import MAX_BUCKETS
from search.rules.shogi import EMPTY, HAND_CODES, SQUARES
from search.system.bounds import check_choice


@dataclass(frozen=True)
class DenseConfig(NetworkConfig):
    """Options of a dense network."""

    name: ClassVar[str] = "dense"
    learning_rate: ClassVar[float | None] = 0.04

    width: int = 64
    """Outputs of the first layer: numbers per row and perspective."""
    hidden: tuple[int, ...] = (32,)
    """Outputs of each hidden layer."""
    perspectives: Literal[1, 2] = 1
    """Number of views of the board. 1: the mover's. 2: the mover's and the opponent's, through the same first layer."""
    draw: bool = False
    """Add a second output, the logit of a draw."""
    activation: ActivationName = "relu"
    """Activation of the first layer. relu: no upper limit. clipped: limit 1, also in the hidden layers. squared: the
    square of clipped. dual: clipped and squared side by side. pairwise: the first half times the second half, each
    clipped."""
    king: KingName = "none"
    """Rows that depend on the own king's square. none: they do not. mirrored: the board is reversed if the king is on
    files 6 to 9. zones: own rows per zone of 3x3 squares. all: own rows per square."""
    buckets: int = 1
    """Number of output layers; the number of pieces in hand selects one."""
    hidden_squares: bool = False
    """Pass on the squares of the first hidden layer's sums beside the clipped sums, as SFNN does."""
    shortcut: bool = False
    """Add one more output of the first hidden layer to the value directly, as SFNN does. With 15 or 31 outputs beside
    it, the layer costs as much as one of 16 or 32."""
    stacks: tuple[StackName, ...] = ()
    """Axes of an index that selects one copy of all layers after the first: zones of both kings (k...), pieces in both
    hands (hand...), progress of the game (progress...); at most one of each."""

    def check(self) -> None:
        check_size("width", self.width, MAX_WIDTH)
        check_hidden(self.hidden)
        check_choice("perspectives", self.perspectives, (1, 2))
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_choice("king", self.king, KING_NAMES)
        check_size("buckets", self.buckets, MAX_BUCKETS)
        check_later_layers(self, self.hidden)
        if ACTIVATIONS[self.activation].pairwise and self.width % 2:
            raise ValueError(f"width {self.width}: the activation {self.activation} needs an even number")

    def build(self) -> DensePieceSquareNetwork:
        return DensePieceSquareNetwork(**vars(self))


class DensePieceSquareNetwork(ValueNetwork):
    """A network with a row of `width` free numbers per feature, batch normalisation, activation and hidden layers."""

    def __init__(
        self,
        width: int = 64,
        hidden: tuple[int, ...] = (32,),
        perspectives: Literal[1, 2] = 1,
        draw: bool = False,
        activation: ActivationName = "relu",
        king: KingName = "none",
        buckets: int = 1,
        hidden_squares: bool = False,
        shortcut: bool = False,
        stacks: tuple[StackName, ...] = (),
    ) -> None:
        of_first = (width, hidden, perspectives, draw, activation, king, buckets)
        config = DenseConfig(*of_first, hidden_squares, shortcut, stacks)
        super().__init__(config, perspectives)
        self.hidden_squares, self.shortcut = hidden_squares, shortcut
        self.activation = activation
        self.table = nn.Parameter(torch.randn(ROWS, width) / 6)
        if self.kings.buckets > 1:
            self.king_table = nn.Parameter(torch.zeros(self.kings.buckets, PIECE_SQUARE_ROWS, width))
        self.norm = nn.BatchNorm1d(width)
        self._start_products()
        inputs, outputs = self.activates.input_count(width) * perspectives, buckets * (1 + draw)
        self.layer_stacks = later_layers(config, inputs, hidden, outputs)
        if self.layer_stacks is None:
            sizes = pairwise([inputs, *hidden, outputs])
            self.linear = nn.ModuleList(nn.Linear(into, out) for into, out in sizes)

    def norms(self) -> list[nn.Module]:
        return [self.norm]

    def hidden_layers(self) -> list[nn.Linear]:
        return list(self.linear if self.layer_stacks is None else self.layer_stacks.shared)  # type: ignore[arg-type]

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        table: torch.Tensor = self.table
        if self.kings.buckets > 1:
            board, check = table[:PIECE_SQUARE_ROWS], table[PIECE_SQUARE_ROWS:]
            table = torch.cat(((board + self.king_table).flatten(0, 1), check))
        return table, table.new_zeros(table.shape[1])

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        table = self.rows()[0]
        checks, none = len(table) - 1, len(table)
        table = torch.cat((table, table.new_zeros(1, table.shape[1])))
        x1, bucket = self.kings.of_boards(x1)
        offset = (bucket * PIECE_SQUARE_ROWS)[:, None]
        board = torch.where(x1 == EMPTY, none, x1 * SQUARES + torch.arange(SQUARES, device=x1.device) + offset)
        held = torch.where(x2 < HAND_PADDING - 1, x2 + HAND_CODES + offset, x2 - (HAND_PADDING - 1) + checks)
        rows = torch.cat((board, held), 1)
        if exporting():
            return self.activates.inputs(self.norm(sum_rows_to_export(table, rows, none)))
        return self.activates.inputs(self.norm(nn.functional.embedding_bag(rows, table, mode="sum")))
