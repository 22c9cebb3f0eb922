"""The lite value network and its family: nets whose first layer is a sum of table rows.

`LiteValueNetwork` is the module of TadaoYamaoka's article of 2025 ("軽量価値ネットワーク", dlshogi): an embedding per
piece and per piece in hand, one convolution along the files and one along the ranks, batch normalisation, ReLU and two
linear layers. Parameter names are the article's. Its listing views a (B, 81, D) embedding as (B, D, 9, 9) without
permuting, which scrambles squares and channels; `layout="blog"` is that module to the last digit, `layout="board"` the
module as meant (and as its author corrected it).

`DensePieceSquareNetwork` is the plain thing to measure it against: a free row of N numbers per feature.

Both speak one protocol, `ValueNetwork`: `forward(x1, x2)` is the slow reference path over the listing's inputs,
`logits(pieces, hands, in_check)` the same function by summed rows, for training; `first_layer()` and `layers()` are
what export folds. All values are the mover's.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from lite.networks.first_layer import HAND_ROWS, ROWS, list_active_rows, normalise_and_cut, sum_active_rows
from search.evaluation.network import MAX_LAYER, MAX_LAYERS, MAX_WIDTH
from search.rules.shogi import EMPTY, KINDS, SQUARES

NETWORKS = ("lite", "untied", "dense", "half_kp", "k_p")
LAYOUTS = ("board", "blog")
MAX_EMBEDDING = 1024
HAND_PADDING = 57
"""Index of the row that stands for "nothing" in `x2`."""


@dataclass(frozen=True)
class NetworkConfig:
    """What the network looks like."""

    network: Literal["lite", "untied", "dense", "half_kp", "k_p"] = "lite"
    """lite: kernels shared by parallel lines; untied: one kernel an output; dense: a plain table of rows; half_kp,
    k_p: NNUE, which asks for --width 256 --hidden 32 32 and a --learning-rate of about 0.001."""
    dims: tuple[int, int, int] = (16, 4, 32)
    """lite, untied: embedding, channels of each of the two convolutions (18 outputs each pair), hidden layer."""
    layout: Literal["board", "blog"] = "board"
    """board: kernels run along files and ranks; blog: the listing's scrambled view of the board."""
    width: int = 64
    """dense, half_kp, k_p: numbers per row."""
    hidden: tuple[int, ...] = (32,)
    """dense, half_kp, k_p: sizes of the hidden layers."""
    perspectives: Literal[1, 2] = 1
    """1: the mover's view; 2: the mover's and the opponent's view side by side, through the same first layer. NNUE
    always has 2."""

    def check(self) -> None:
        """Raises ValueError for what cannot be built, or could never be evaluated by the search."""
        _check_choice("network", self.network, NETWORKS)
        _check_choice("layout", self.layout, LAYOUTS)
        _check_choice("perspectives", self.perspectives, (1, 2))
        if not isinstance(self.dims, tuple) or len(self.dims) != 3:
            raise ValueError(f"dims {_briefly(self.dims)}: three numbers are needed: embedding, channels, hidden")
        if not isinstance(self.hidden, tuple) or len(self.hidden) >= MAX_LAYERS:
            raise ValueError(f"hidden {_briefly(self.hidden)}: at most {MAX_LAYERS - 1} sizes of layers are needed")
        for name, number, most in (
            ("dims: embedding", self.dims[0], MAX_EMBEDDING),
            ("dims: channels", self.dims[1], MAX_WIDTH // 18),
            ("dims: hidden", self.dims[2], MAX_LAYER),
            ("width", self.width, MAX_WIDTH),
            *(("hidden", size, MAX_LAYER) for size in self.hidden),
        ):
            if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= most:
                raise ValueError(f"{name} {_briefly(number)}: choose a whole number from 1 to {most}")


def _briefly(found: Any) -> str:
    return repr(found)[:40]


def _check_choice(name: str, found: Any, choices: tuple[Any, ...]) -> None:
    if isinstance(found, bool) or found not in choices:
        raise ValueError(f"{name} {_briefly(found)}: choose one of {', '.join(map(str, choices))}")


class ValueNetwork(nn.Module):
    """The protocol of every net here, and all that does not depend on how its rows are made.

    A subclass gives `rows()`, `norms()`, `hidden_layers()` and the reference path `_outputs(x1, x2)`.
    """

    feature_set = "piece_square"
    activation = "relu"

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        config.check()
        self.network_config = config
        self.perspectives: int = config.perspectives
        piece = torch.arange(29)
        other_piece = torch.where(piece == EMPTY, piece, (piece + KINDS) % (2 * KINDS))
        hand = torch.arange(HAND_PADDING + 1)
        other_hand = torch.where(hand < 56, (hand + 28) % 56, HAND_PADDING)
        self.register_buffer("_other_piece", other_piece, persistent=False)
        self.register_buffer("_other_hand", other_hand, persistent=False)

    @property
    def config(self) -> dict[str, Any]:
        """What `lite.networks.build` needs to make this net again, as JSON."""
        return asdict(self.network_config)

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The table [2325, N] before normalisation, and the constant [N] that every sum starts from."""
        raise NotImplementedError

    def norms(self) -> list[nn.Module]:
        """The batch normalisations, in the order of the outputs that they own."""
        raise NotImplementedError

    def hidden_layers(self) -> list[nn.Linear]:
        """The linear layers after the first activation, the output layer last."""
        raise NotImplementedError

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """The first layer's (B, N) after its activation, by the reference path."""
        raise NotImplementedError

    def _head(self, outputs: torch.Tensor) -> torch.Tensor:
        *hidden, last = self.hidden_layers()
        for layer in hidden:
            outputs = torch.relu(layer(outputs))
        result: torch.Tensor = last(outputs)
        return result

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """Logits (B, 1) from the listing's inputs: x1 int64 (B, 81) pieces 0..28, x2 int64 (B, 57) hand indices.

        Column i of x2 holds i if the hand (or check) feature i is there, else 57. This is the listed module, operation
        by operation; the way to train is `logits`.
        """
        if self.perspectives == 1:
            return self._head(self._outputs(x1, x2))
        other_piece: Any = self._other_piece
        other_hand: Any = self._other_hand
        other_x1, other_x2 = other_piece[x1].flip(1), other_hand[x2]
        if self.training:
            # One batch of both views: they share the statistics of the first layer, not only its weights.
            both = self._outputs(torch.cat((x1, other_x1)), torch.cat((x2, other_x2))).chunk(2)
        else:
            both = self._outputs(x1, x2), self._outputs(other_x1, other_x2)
        return self._head(torch.cat(both, 1))

    forward_listed = forward

    def logits(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Logits (B,) from a batch's arrays (pieces u1 (B, 81), hands u1 (B, 14), in_check bool (B,)), by summed rows.

        Equal to `forward` in value, gradient and running statistics, and more than ten times as fast.
        """
        rows, start = list_active_rows(pieces, hands, in_check, self.perspectives)
        sums = sum_active_rows(*self.rows(), rows, start)
        outputs = normalise_and_cut(sums, self.norms(), self.training)
        return self._head(outputs.view(len(pieces), -1)).squeeze(1)

    def first_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows f8 [2325, N] and bias f8 [N] before the ReLU, batch normalisation folded in."""
        exact = copy.deepcopy(self).double()
        with torch.no_grad():
            rows, base = exact.rows()
        scales, shifts = [], []
        for norm in exact.norms():
            module: Any = norm
            scale = module.weight / torch.sqrt(module.running_var + module.eps)
            scales.append(scale)
            shifts.append(module.bias - scale * module.running_mean)
        group = rows.shape[1] // sum(map(len, scales))
        scale, shift = (torch.cat(parts).repeat_interleave(group) for parts in (scales, shifts))
        return (rows * scale).detach().numpy(), (base * scale + shift).detach().numpy()

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(weight f8 [out, in], bias f8 [out]) of every later layer, the output last; ReLU between them.

        With two perspectives the first N inputs are the mover's view, the next N the opponent's.
        """
        return [
            (layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy())
            for layer in self.hidden_layers()
        ]


class LiteValueNetwork(ValueNetwork):
    """The lite value network; `LiteValueNetwork((16, 4, 32), layout="blog")` loads the listing's state_dict.

    With `untied` each output of a convolution has its own kernel: `l2_1.weight` (C, D, 9, 9) where [o, c, f, r] leads
    from file f to the output of rank r, `l2_2.weight` likewise with [o, c, f, r] from rank r to the output of file f.
    """

    def __init__(
        self,
        dims: tuple[int, int, int] = (16, 4, 32),
        layout: Literal["board", "blog"] = "board",
        untied: bool = False,
        perspectives: Literal[1, 2] = 1,
    ) -> None:
        network: Literal["lite", "untied"] = "untied" if untied else "lite"
        super().__init__(
            NetworkConfig(network=network, dims=tuple(dims), layout=layout, perspectives=perspectives)  # type: ignore[arg-type]
        )
        embedding, channels, hidden = dims
        self.layout = layout
        self.untied = untied
        self.channels = channels
        self.l1_1 = nn.Embedding(29, embedding, padding_idx=EMPTY)
        self.l1_2 = nn.EmbeddingBag(HAND_PADDING + 1, embedding, mode="sum", padding_idx=HAND_PADDING)
        if untied:
            self.l2_1: nn.Module = _UntiedLines(embedding, channels, along=2)
            self.l2_2: nn.Module = _UntiedLines(embedding, channels, along=3)
        else:
            self.l2_1 = nn.Conv2d(embedding, channels, (9, 1), bias=False)
            self.l2_2 = nn.Conv2d(embedding, channels, (1, 9), bias=False)
        self.bn2_1 = nn.BatchNorm2d(channels)
        self.bn2_2 = nn.BatchNorm2d(channels)
        self.l3 = nn.Linear(channels * 18 * perspectives, hidden)
        self.l4 = nn.Linear(hidden, 1)

    def norms(self) -> list[nn.Module]:
        return [self.bn2_1, self.bn2_2]

    def hidden_layers(self) -> list[nn.Linear]:
        return [self.l3, self.l4]

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        embedded = self.l1_1(x1)
        if self.layout == "board":
            embedded = embedded.permute(0, 2, 1)
        hands = _sum_rows_to_export(self.l1_2.weight, x2, HAND_PADDING) if _exporting() else self.l1_2(x2)
        board = embedded.reshape(-1, self.l1_1.embedding_dim, 9, 9) + hands[:, :, None, None]
        lines = (self.bn2_1(self.l2_1(board)), self.bn2_2(self.l2_2(board)))
        return torch.relu(torch.cat([line.flatten(1) for line in lines], 1))

    def _line_matrix(self) -> torch.Tensor:
        """Both convolutions as one linear map [D, 9, 9, N] from the feature map to the N = 18 C outputs."""
        weights: list[Any] = [self.l2_1.weight, self.l2_2.weight]
        unit = torch.eye(9, dtype=weights[0].dtype)
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
        board = torch.einsum("pd,sdn->psn", pieces - empty, by_square).reshape(HAND_ROWS, width)
        hands = self.l1_2.weight[:HAND_PADDING] @ lines.sum((1, 2))
        return torch.cat((board, hands)), torch.einsum("d,sdn->n", empty, by_square)


class _UntiedLines(nn.Module):
    """A convolution along one axis of the board whose kernel differs from line to line: (B, D, 9, 9) -> (B, C, 9)."""

    def __init__(self, embedding: int, channels: int, along: int) -> None:
        super().__init__()
        self.along = along
        self.weight = nn.Parameter(torch.empty(channels, embedding, 9, 9))
        nn.init.uniform_(self.weight, -1 / (9 * embedding) ** 0.5, 1 / (9 * embedding) ** 0.5)

    def forward(self, board: torch.Tensor) -> torch.Tensor:
        lines = torch.einsum("bcfr,ocfr->bor" if self.along == 2 else "bcfr,ocfr->bof", board, self.weight)
        return lines.unsqueeze(2)


class DensePieceSquareNetwork(ValueNetwork):
    """A row of `width` free numbers per feature, batch normalisation, ReLU, hidden layers: NNUE without kings."""

    def __init__(self, width: int = 64, hidden: tuple[int, ...] = (32,), perspectives: Literal[1, 2] = 1) -> None:
        super().__init__(NetworkConfig(network="dense", width=width, hidden=tuple(hidden), perspectives=perspectives))
        self.table = nn.Parameter(torch.randn(ROWS, width) / 6)
        self.norm = nn.BatchNorm1d(width)
        sizes = [width * perspectives, *hidden, 1]
        self.linear = nn.ModuleList(nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes))

    def norms(self) -> list[nn.Module]:
        return [self.norm]

    def hidden_layers(self) -> list[nn.Linear]:
        return list(self.linear)  # type: ignore[arg-type]

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.table, torch.zeros(self.table.shape[1], dtype=self.table.dtype)

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        nothing = torch.zeros(1, self.table.shape[1], dtype=self.table.dtype)
        table = torch.cat((self.table, nothing))
        squares = torch.arange(SQUARES)
        board = torch.where(x1 == EMPTY, ROWS, x1 * SQUARES + squares)
        rows = torch.cat((board, x2 + HAND_ROWS), 1)
        if _exporting():
            return torch.relu(self.norm(_sum_rows_to_export(table, rows, ROWS)))
        return torch.relu(self.norm(nn.functional.embedding_bag(rows, table, mode="sum")))


def _exporting() -> bool:
    return bool(torch.compiler.is_exporting() or torch.onnx.is_in_onnx_export())


def _sum_rows_to_export(table: torch.Tensor, rows: torch.Tensor, padding: int) -> torch.Tensor:
    """An embedding bag in operations that ONNX has, for any number of positions; `padding` marks "no row"."""
    return (table[rows] * (rows != padding).unsqueeze(2).to(table.dtype)).sum(1)


def listed_inputs(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """The listing's inputs from a batch's arrays: x1 int64 (B, 81), x2 int64 (B, 57)."""
    rows, start = list_active_rows(pieces, hands, in_check)
    sample = np.repeat(np.arange(len(pieces)), np.diff(start))
    features = rows.astype(np.int64) - HAND_ROWS
    x2 = np.full((len(pieces), HAND_PADDING), HAND_PADDING, np.int64)
    held = features >= 0
    x2[sample[held], features[held]] = features[held]
    return torch.from_numpy(pieces.astype(np.int64)), torch.from_numpy(x2)
