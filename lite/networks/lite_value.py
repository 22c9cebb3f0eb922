"""The lite value network.

`LiteValueNetwork` is the module of TadaoYamaoka's article of 2025 ("軽量価値ネットワーク", dlshogi): an embedding per
piece and per piece in hand, one convolution along the files and one along the ranks, batch normalisation, ReLU and two
linear layers. Parameter names are the article's. Its listing views a (B, 81, D) embedding as (B, D, 9, 9) without
permuting, which scrambles squares and channels; `layout="blog"` is that module to the last digit, `layout="board"` the
module as meant (and as its author corrected it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import nn

from lite.networks.fused_step import FirstLayer
from lite.networks.limits import briefly, check_choice, check_size
from lite.networks.line_sums import LineSums, lanes_of
from lite.networks.value_network import HAND_PADDING, NetworkConfig, ValueNetwork, exporting, sum_rows_to_export
from search.evaluation.network import MAX_LAYER, MAX_WIDTH
from search.rules.shogi import EMPTY, HAND_CODES, SQUARES

MAX_EMBEDDING = 1024
Layout = Literal["board", "blog"]


@dataclass(frozen=True)
class LiteConfig(NetworkConfig):
    """What a lite value network looks like."""

    name: ClassVar[str] = "lite"

    dims: tuple[int, int, int] = (16, 4, 32)
    """Embedding, channels of each of the two convolutions (18 outputs each pair), hidden layer."""
    layout: Layout = "board"
    """board: kernels run along files and ranks; blog: the listing's scrambled view of the board."""
    perspectives: Literal[1, 2] = 1
    """1: the mover's view; 2: the mover's and the opponent's view side by side, through the same first layer."""
    draw: bool = False
    """A second output, the logit of a draw."""

    def check(self) -> None:
        check_choice("layout", self.layout, ("board", "blog"))
        check_choice("perspectives", self.perspectives, (1, 2))
        if not isinstance(self.dims, tuple) or len(self.dims) != 3:
            raise ValueError(f"dims {briefly(self.dims)}: three numbers are needed: embedding, channels, hidden")
        for name, size, most in zip(
            ("embedding", "channels", "hidden"), self.dims, (MAX_EMBEDDING, MAX_WIDTH // 18, MAX_LAYER), strict=True
        ):
            check_size(f"dims: {name}", size, most)

    def build(self) -> LiteValueNetwork:
        return LiteValueNetwork(self.dims, self.layout, self.perspectives, self.draw)


class LiteValueNetwork(ValueNetwork):
    """The lite value network; `LiteValueNetwork((16, 4, 32), layout="blog")` loads the listing's state_dict."""

    kind: type[LiteConfig] = LiteConfig

    def __init__(
        self,
        dims: tuple[int, int, int] = (16, 4, 32),
        layout: Layout = "board",
        perspectives: Literal[1, 2] = 1,
        draw: bool = False,
    ) -> None:
        super().__init__(self.kind(dims, layout, perspectives, draw), perspectives)
        embedding, channels, hidden = dims
        self.layout = layout
        self.channels = channels
        self.l1_1 = nn.Embedding(29, embedding, padding_idx=EMPTY)
        self.l1_2 = nn.EmbeddingBag(HAND_PADDING + 1, embedding, mode="sum", padding_idx=HAND_PADDING)
        self.l2_1, self.l2_2 = self.line_convolutions(embedding, channels)
        self.bn2_1 = nn.BatchNorm2d(channels)
        self.bn2_2 = nn.BatchNorm2d(channels)
        self.l3 = nn.Linear(channels * 18 * perspectives, hidden)
        self.l4 = nn.Linear(hidden, 1 + draw)

    def line_convolutions(self, embedding: int, channels: int) -> tuple[nn.Module, nn.Module]:
        """(B, D, 9, 9) to (B, C, 1, 9) along the files, and to (B, C, 9, 1) along the ranks, without biases."""
        along_files = nn.Conv2d(embedding, channels, (9, 1), bias=False)
        return along_files, nn.Conv2d(embedding, channels, (1, 9), bias=False)

    def norms(self) -> list[nn.Module]:
        return [self.bn2_1, self.bn2_2]

    def hidden_layers(self) -> list[nn.Linear]:
        return [self.l3, self.l4]

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        embedded = self.l1_1(x1)
        if self.layout == "board":
            embedded = embedded.permute(0, 2, 1)
        hands = sum_rows_to_export(self.l1_2.weight, x2, HAND_PADDING) if exporting() else self.l1_2(x2)
        board = embedded.reshape(-1, self.l1_1.embedding_dim, 9, 9) + hands[:, :, None, None]
        lines = (self.bn2_1(self.l2_1(board)), self.bn2_2(self.l2_2(board)))
        return torch.relu(torch.cat([line.flatten(1) for line in lines], 1))

    def _line_matrix(self) -> torch.Tensor:
        """Both convolutions as one linear map [D, 9, 9, N] from the feature map to the N = 18 C outputs."""
        weights: list[Any] = [self.l2_1.weight, self.l2_2.weight]
        unit = torch.eye(9, dtype=weights[0].dtype, device=weights[0].device)
        along_files = torch.einsum("ocfr,ri->cfroi", weights[0].expand(-1, -1, -1, 9), unit)
        along_ranks = torch.einsum("ocfr,fi->cfroi", weights[1].expand(-1, -1, 9, -1), unit)
        return torch.cat([along.reshape(*along.shape[:3], -1) for along in (along_files, along_ranks)], 3)

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        lines = self._line_matrix()
        depth, width = lines.shape[0], lines.shape[3]
        if self.layout == "blog":
            # The view without a permute: place sq*D + d of a position's embedding is read as channel, file, rank.
            by_square = lines.reshape(SQUARES, depth, width)
        else:
            by_square = lines.reshape(depth, SQUARES, width).permute(1, 0, 2)
        pieces, empty = self.l1_1.weight[:EMPTY], self.l1_1.weight[EMPTY].detach()
        # The padding row is zero after any training, yet a loaded net may hold something else there; rows are then
        # differences to an empty square, and the constant is the empty board.
        board = torch.einsum("pd,sdn->psn", pieces - empty, by_square).reshape(HAND_CODES, width)
        hands = self.l1_2.weight[:HAND_PADDING] @ lines.sum((1, 2))
        return torch.cat((board, hands)), torch.einsum("d,sdn->n", empty, by_square)

    def summed_layers(self) -> tuple[FirstLayer, list[tuple[torch.Tensor, torch.Tensor]]]:
        if self.layout == "blog":
            return super().summed_layers()  # whose scrambled board makes rows that are zero nowhere
        weights: list[Any] = [self.l2_1.weight, self.l2_2.weight]
        pieces, empty = self.l1_1.weight[:EMPTY], self.l1_1.weight[EMPTY].detach()
        spare = lanes_of(self.channels) - self.channels
        reached = [torch.einsum("pd,odfr->pfro", pieces - empty, weight).expand(-1, 9, 9, -1) for weight in weights]
        board = torch.cat([nn.functional.pad(numbers, (0, spare)) for numbers in reached], 3)
        of_files, of_ranks = (weight.expand(-1, -1, 9, 9) for weight in weights)
        lines = torch.cat((of_files.sum(2), of_ranks.sum(3)), 2)
        hands = torch.einsum("hd,odl->hlo", self.l1_2.weight[:HAND_PADDING], lines)
        base = torch.einsum("d,odl->lo", empty, lines)
        # The module's outputs stand channel by channel, these line by line.
        by_channel = self.l3.weight.view(-1, self.perspectives, 2, self.channels, 9)
        hidden: tuple[torch.Tensor, torch.Tensor] = (by_channel.transpose(3, 4).flatten(1), self.l3.bias)
        first_layer = LineSums(board.reshape(HAND_CODES, -1), hands.flatten(1), base.flatten())
        return first_layer, [hidden, (self.l4.weight, self.l4.bias)]
