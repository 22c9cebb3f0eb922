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

import numpy as np
import torch
from torch import nn

from lite.networks.activation import ACTIVATIONS, ActivationName
from lite.networks.exporting import exporting, sum_rows_to_export
from lite.networks.fused_step import FirstLayer
from lite.networks.kings import KING_NAMES, KingName
from lite.networks.later_layers import StackName, check_later_layers, later_layers
from lite.networks.limits import check_size
from lite.networks.line_sums import LineSums, lanes_of
from lite.networks.lines import FURTHER_LINES, LINES, LineName, directions_of
from lite.networks.value_network import HAND_PADDING, NetworkConfig, ValueNetwork
from search.evaluation.network import MAX_LAYER, MAX_WIDTH
from search.evaluation.output_buckets import MAX_BUCKETS
from search.rules.shogi import EMPTY
from search.system.bounds import briefly, check_choice

MAX_EMBEDDING = 1024
Layout = Literal["board", "blog"]


@dataclass(frozen=True)
class LiteConfig(NetworkConfig):
    """Options of a lite value network."""

    name: ClassVar[str] = "lite"

    dims: tuple[int, int, int] = (16, 4, 32)
    """Numbers per embedding, channels of each direction's convolution (9 outputs per channel), outputs of the hidden
    layer."""
    layout: Layout = "board"
    """Order of the board that the convolutions see. board: files and ranks. blog: the permuted order of the listing in
    the article on the original lite network."""
    perspectives: Literal[1, 2] = 1
    """Number of views of the board. 1: the mover's. 2: the mover's and the opponent's, through the same first layer."""
    draw: bool = False
    """Add a second output, the logit of a draw."""
    activation: ActivationName = "relu"
    """Activation of the first layer. relu: no upper limit. clipped: limit 1, also in the hidden layer. squared: the
    square of clipped. dual: clipped and squared side by side. pairwise: of each line the first half of the channels
    times the second half, each clipped."""
    lines: tuple[LineName, ...] = ()
    """Further directions of convolutions beside files and ranks, with as many channels each: diagonals, and blocks of
    3x3 squares."""
    king: KingName = "none"
    """Embeddings that depend on the own king's square. none: they do not. mirrored: the board is reversed if the king
    stands on files 6 to 9. zones: own embeddings per zone of 3x3 squares. all: own embeddings per square."""
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
        check_choice("layout", self.layout, ("board", "blog"))
        check_choice("perspectives", self.perspectives, (1, 2))
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        if not isinstance(self.dims, tuple) or len(self.dims) != 3:
            raise ValueError(f"dims {briefly(self.dims)}: must be three numbers: embedding, channels, hidden")
        if not isinstance(self.lines, tuple) or len(set(self.lines)) < len(self.lines):
            raise ValueError(f"lines {briefly(self.lines)}: name each direction once")
        for line in self.lines:
            check_choice("lines", line, FURTHER_LINES)
        check_choice("king", self.king, KING_NAMES)
        check_size("buckets", self.buckets, MAX_BUCKETS)
        most = (MAX_EMBEDDING, MAX_WIDTH // LINES // len(directions_of(self.lines)), MAX_LAYER)
        for name, size, limit in zip(("embedding", "channels", "hidden"), self.dims, most, strict=True):
            check_size(f"dims: {name}", size, limit)
        check_later_layers(self, self.dims[2:])
        if ACTIVATIONS[self.activation].pairwise and self.dims[1] % 2:
            raise ValueError(f"dims: channels {self.dims[1]}: the activation {self.activation} needs an even number")

    def build(self) -> LiteValueNetwork:
        return LiteValueNetwork(**vars(self))


class LiteValueNetwork(ValueNetwork):
    """The lite value network; `LiteValueNetwork((16, 4, 32), layout="blog")` loads the listing's state_dict."""

    kind: type[LiteConfig] = LiteConfig

    def __init__(
        self,
        dims: tuple[int, int, int] = (16, 4, 32),
        layout: Layout = "board",
        perspectives: Literal[1, 2] = 1,
        draw: bool = False,
        activation: ActivationName = "relu",
        lines: tuple[LineName, ...] = (),
        king: KingName = "none",
        buckets: int = 1,
        hidden_squares: bool = False,
        shortcut: bool = False,
        stacks: tuple[StackName, ...] = (),
    ) -> None:
        of_first = (dims, layout, perspectives, draw, activation, lines, king, buckets)
        config = self.kind(*of_first, hidden_squares, shortcut, stacks)
        super().__init__(config, perspectives)
        self.hidden_squares, self.shortcut = hidden_squares, shortcut
        self.activation = activation
        embedding, channels, hidden = dims
        self.layout = layout
        self.channels = channels
        self.pair_block = channels * LINES
        self.directions = directions_of(lines)
        self.l1_1 = nn.Embedding(29, embedding, padding_idx=EMPTY)
        self.l1_2 = nn.EmbeddingBag(HAND_PADDING + 1, embedding, mode="sum", padding_idx=HAND_PADDING)
        self.l2_1, self.l2_2 = self.line_convolutions(embedding, channels)
        self.bn2_1 = nn.BatchNorm2d(channels)
        self.bn2_2 = nn.BatchNorm2d(channels)
        further = range(2, len(self.directions))
        self.further_lines = nn.ModuleList(self.line_convolutions(embedding, channels)[1] for _ in further)
        self.further_norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in further)
        if self.kings.buckets > 1:
            self.king_pieces = nn.Parameter(torch.zeros(self.kings.buckets, EMPTY, embedding))
            self.king_hands = nn.Parameter(torch.zeros(self.kings.buckets, HAND_PADDING - 1, embedding))
        width = channels * LINES * len(self.directions)
        self._start_products()
        inputs, outputs = self.activates.input_count(width) * perspectives, buckets * (1 + draw)
        self.layer_stacks = later_layers(config, inputs, (hidden,), outputs)
        if self.layer_stacks is None:
            self.l3 = nn.Linear(inputs, hidden)
            self.l4 = nn.Linear(hidden, outputs)

    def line_convolutions(self, embedding: int, channels: int) -> tuple[nn.Module, nn.Module]:
        """Return the convolutions of (B, D, 9, 9) to (B, C, 1, 9) along files and to (B, C, 9, 1) along ranks."""
        along_files = nn.Conv2d(embedding, channels, (9, 1), bias=False)
        return along_files, nn.Conv2d(embedding, channels, (1, 9), bias=False)

    def norms(self) -> list[nn.Module]:
        return [self.bn2_1, self.bn2_2, *self.further_norms]

    def hidden_layers(self) -> list[nn.Linear]:
        return [self.l3, self.l4] if self.layer_stacks is None else list(self.layer_stacks.shared)  # type: ignore[arg-type]

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        x1, bucket = self.kings.of_boards(x1)
        embedded = self.l1_1(x1)
        hands = sum_rows_to_export(self.l1_2.weight, x2, HAND_PADDING) if exporting() else self.l1_2(x2)
        if self.kings.buckets > 1:
            embedded = embedded + nn.functional.pad(self.king_pieces, (0, 0, 0, 1))[bucket[:, None], x1]
            hands = hands + nn.functional.pad(self.king_hands, (0, 0, 0, 2))[bucket[:, None], x2].sum(1)
        if self.layout == "board":
            embedded = embedded.permute(0, 2, 1)
        board = embedded.reshape(-1, self.l1_1.embedding_dim, 9, 9) + hands[:, :, None, None]
        lines = [self.bn2_1(self.l2_1(board)), self.bn2_2(self.l2_2(board))]
        further = zip(self.directions[2:], self.further_lines, self.further_norms, strict=True)
        for (line, place), convolution, norm in further:
            in_order = torch.from_numpy(np.argsort(line * LINES + place))
            lines.append(norm(convolution(board.flatten(2)[:, :, in_order].unflatten(2, (LINES, LINES)))))
        return self.activates.inputs(torch.cat([line.flatten(1) for line in lines], 1), self.pair_block)

    def _square_weights(self) -> list[torch.Tensor]:
        """Return the weights from each square to its line, (C, D, 81) per direction."""
        first: list[Any] = [self.l2_1.weight, self.l2_2.weight]
        weights = [weight.expand(-1, -1, 9, 9).flatten(2) for weight in first]
        for (line, place), module in zip(self.directions[2:], self.further_lines, strict=True):
            convolution: Any = module
            of_places = convolution.weight.expand(-1, -1, LINES, LINES).flatten(2)
            weights.append(of_places[:, :, torch.from_numpy(line * LINES + place).to(of_places.device)])
        return weights

    def _lines_of_squares(self, like: torch.Tensor) -> list[torch.Tensor]:
        """Return 1 where a square lies in a line, else 0; (81, 9) per direction."""
        found = (nn.functional.one_hot(torch.from_numpy(line), LINES) for line, _ in self.directions)
        return [one.to(like) for one in found]

    def _embeddings(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the embeddings of pieces (buckets, 28, D), of hands (buckets, 56, D), and of an empty square (D,).

        The embeddings of pieces are differences from the embedding of an empty square.
        """
        pieces, empty = self.l1_1.weight[:EMPTY], self.l1_1.weight[EMPTY].detach()
        # The padding row is zero after any training, yet a loaded net may hold something else there; rows are then
        # differences to an empty square, and the constant is the empty board.
        of_pieces, of_hands = (pieces - empty)[None], self.l1_2.weight[None, : HAND_PADDING - 1]
        if self.kings.buckets > 1:
            of_pieces, of_hands = of_pieces + self.king_pieces, of_hands + self.king_hands
        return of_pieces, of_hands, empty

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        pieces, hands, empty = self._embeddings()
        weights = zip(self._square_weights(), self._lines_of_squares(empty), strict=True)
        # All convolutions as one linear map [D, 81, N] from the feature map to the outputs, channel by channel.
        lines = torch.cat([torch.einsum("ods,sl->dsol", *pair).flatten(2) for pair in weights], 2)
        depth, squares, width = lines.shape
        if self.layout == "blog":
            # The view without a permute: place sq*D + d of a position's embedding is read as channel, file, rank.
            by_square = lines.reshape(squares, depth, width)
        else:
            by_square = lines.permute(1, 0, 2)
        of_hands = lines.sum(1)
        board = torch.einsum("bpd,sdn->bpsn", pieces, by_square).flatten(1, 2)
        check = self.l1_2.weight[HAND_PADDING - 1 : HAND_PADDING] @ of_hands
        table = torch.cat((torch.cat((board, hands @ of_hands), 1).flatten(0, 1), check))
        return table, torch.einsum("d,sdn->n", empty, by_square)

    def summed_layers(self) -> tuple[FirstLayer, list[tuple[torch.Tensor, torch.Tensor]]]:
        if self.layout == "blog":
            return super().summed_layers()  # whose scrambled board makes rows that are zero nowhere
        pieces, hands, empty = self._embeddings()
        weights = self._square_weights()
        spare = lanes_of(self.channels) - self.channels
        reached = [torch.einsum("bpd,ods->bpso", pieces, weight) for weight in weights]
        board = torch.cat([nn.functional.pad(numbers, (0, spare)) for numbers in reached], 3)
        of_lines = zip(weights, self._lines_of_squares(empty), strict=True)
        lines = torch.cat([torch.einsum("ods,sl->odl", *pair) for pair in of_lines], 2)
        held = torch.cat((hands.flatten(0, 1), self.l1_2.weight[HAND_PADDING - 1 : HAND_PADDING]))
        of_hands = torch.einsum("hd,odl->hlo", held, lines)
        base = torch.einsum("d,odl->lo", empty, lines)
        first_layer = LineSums(
            [line for line, _ in self.directions], board.flatten(3).flatten(0, 2), of_hands.flatten(1), base.flatten()
        )
        if self.layer_stacks is not None:
            return first_layer, []
        # The module's outputs stand channel by channel, these line by line.
        by_channel = self.l3.weight.view(len(self.l3.bias), -1, self._input_channels, LINES)
        hidden: tuple[torch.Tensor, torch.Tensor] = (by_channel.transpose(2, 3).flatten(1), self.l3.bias)
        return first_layer, [hidden, (self.l4.weight, self.l4.bias)]

    @property
    def _input_channels(self) -> int:
        """Inputs of the hidden layer from one line of one direction."""
        return self.channels // 2 if self.activates.pairwise else self.channels

    def as_listed(self, inputs: torch.Tensor, first_layer: FirstLayer) -> torch.Tensor:
        if not isinstance(first_layer, LineSums):
            return inputs
        return inputs.view(len(inputs), -1, LINES, self._input_channels).transpose(2, 3).flatten(1)
