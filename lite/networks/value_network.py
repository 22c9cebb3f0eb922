"""The base of all value networks, and the interface that training and export use.

A network's first layer is a sum of table rows. Its interface is `ValueNetwork`: `forward(x1, x2)` is the slow
reference path over the listing's inputs, `outputs(pieces, hands, in_check)` the same function by summed rows, for
training on a CPU, and `gathered_outputs` for training on another device; `first_layer()` and `layers()` are what export
folds. The first output is the logit of the mover's win, the second, of a network that has one, that of a draw.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from lite.networks.activation import ACTIVATIONS, Activation
from lite.networks.first_layer import list_active_rows
from lite.networks.fused_step import FirstLayer, fused_outputs
from lite.networks.gathered import gather_active_rows, gather_sums, normalise
from lite.networks.kings import Kings, kings
from lite.networks.later_layers import counts_all_pawns
from lite.networks.layer_stacks import LayerStacks
from lite.networks.line_sums import LineSums
from lite.networks.rounding import Rounding
from lite.networks.row_sums import TableSums
from lite.workers import ALONE
from search.evaluation.feature_sets import HAND_ROW_LIMIT, HAND_ROW_START, HAND_ROWS, FeatureSet
from search.evaluation.output_buckets import bucket_of_hands, bucket_of_men
from search.evaluation.stacks import NO_STACKS, Stacks
from search.rules.shogi import EMPTY, HAND_CODES, OTHER_COLOUR

HAND_PADDING = 57
"""Index of the row that stands for "nothing" in `x2`."""
PRODUCT_MEAN, PRODUCT_SPREAD = 0.5, 0.5
"""Mean and standard deviation of the first layer's sums in an untrained network with an activation by pairs."""
_OTHER_PIECE = OTHER_COLOUR[: EMPTY + 1].tolist()
_OTHER_HAND = [(row + 28) % 56 if row < 56 else HAND_PADDING for row in range(HAND_PADDING + 1)]
"""The other player's index in `x2`, by index; `_OTHER_PIECE` holds board codes."""
_UNSAID = {
    "draw": False,
    "activation": "relu",
    "lines": (),
    "king": "none",
    "buckets": 1,
    "hidden_squares": False,
    "shortcut": False,
    "stacks": (),
}
"""Values at which a network file omits a field, so that files equal those of versions without the field."""


@dataclass(frozen=True)
class NetworkConfig:
    """Options of a network; every kind of network has its own subclass."""

    name: ClassVar[str]
    """Name of the kind of network."""
    learning_rate: ClassVar[float | None] = None
    """Default peak learning rate of the kind; None means the optimiser's, see `DEFAULT_RATES`."""

    def __post_init__(self) -> None:
        for field in fields(self):  # a list, as files have it and Python's users may give it, means a tuple
            if isinstance(value := getattr(self, field.name), list):
                object.__setattr__(self, field.name, tuple(value))

    def build(self) -> ValueNetwork:
        """Return the untrained network. Raises ValueError as `check` does."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise ValueError for options that cannot be built, or whose network the search could not evaluate."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return the kind and its fields as in a network file, without those of `_UNSAID` that have the value there."""
        named = {"network": self.name} | asdict(self)
        return {name: value for name, value in named.items() if name not in _UNSAID or value != _UNSAID[name]}


class ValueNetwork(nn.Module):
    """The interface of all networks, with everything that does not depend on how the rows are made.

    A subclass implements `rows()`, `norms()`, `hidden_layers()` and the reference path `_outputs(x1, x2)`.
    """

    activation = "relu"
    """Activation of the first layer, by its name in `ACTIVATIONS`."""
    hidden_squares = False
    """Whether the first hidden layer passes on the squares of its sums beside the clipped sums."""
    shortcut = False
    """Whether the first hidden layer has one more output, which is added to the value."""
    layer_stacks: LayerStacks | None
    """All layers after the first one, of a network with stacks, a shortcut or squares of hidden sums."""
    pair_block: int | None = None
    """Adjacent sums of the first layer of which the activation `pairwise` multiplies the halves; None means all."""
    threads: int | None = None
    """Threads of `logits`, for parts of at least PART_POSITIONS; None means as many as torch has."""
    workers = ALONE
    """Processes that share each training batch; batch normalisation covers all shares."""
    fixed_units = False
    """Whether the network is exported with the units of an nn.bin."""
    rounding: Rounding | None = None
    """Rounding that `outputs` computes with; None means exact."""

    def __init__(self, config: NetworkConfig, perspectives: int) -> None:
        super().__init__()
        config.check()
        self.network_config = config
        self.perspectives = perspectives
        self.layer_stacks = None
        # Computed by Python: PyTorch arithmetic on the device `meta` is slow, see shapes.py.
        self.register_buffer("_other_piece", torch.tensor(_OTHER_PIECE), persistent=False)
        self.register_buffer("_other_hand", torch.tensor(_OTHER_HAND), persistent=False)

    def _start_products(self) -> None:
        """Set the normalisations of an activation by pairs: sums start around the middle of 0..1.

        A gradient passes to a factor where both are above 0, and of plainly normalised sums that is a quarter.
        """
        for norm in self.norms() if self.activates.pairwise else ():
            weight, bias = norm.get_parameter("weight"), norm.get_parameter("bias")
            if not weight.is_meta:  # see shapes.py
                nn.init.constant_(weight, PRODUCT_SPREAD)
                nn.init.constant_(bias, PRODUCT_MEAN)

    def round_outputs(self, on: bool) -> None:
        """Choose whether `outputs` rounds weights and activations as the exported network does."""
        self.rounding = Rounding(self.activates, self.perspectives, self.fixed_units, self.workers) if on else None
        if self.layer_stacks is not None:
            self.layer_stacks.rounding = self.rounding

    @property
    def config(self) -> dict[str, Any]:
        """Configuration as JSON, from which `lite.networks.build` builds the network."""
        return self.network_config.as_json()

    @property
    def kings(self) -> Kings:
        """Dependence of the rows on the own king's square."""
        return kings(getattr(self.network_config, "king", "none"))

    @property
    def feature_set(self) -> FeatureSet:
        """Feature set of the folded rows."""
        return self.kings.feature_set

    def rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the table [rows, N] before normalisation, and the constant [N] that every sum starts from.

        The table has PIECE_SQUARE_ROWS rows for each bucket of `kings`, then "in check".
        """
        raise NotImplementedError

    def norms(self) -> list[nn.Module]:
        """Return the batch normalisations, in the order of their outputs."""
        raise NotImplementedError

    def hidden_layers(self) -> list[nn.Linear]:
        """Return the linear layers after the first activation, the output layer last."""
        raise NotImplementedError

    def _outputs(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """Return the first layer's activations (B, inputs of the next layer), by the reference path."""
        raise NotImplementedError

    @property
    def activates(self) -> Activation:
        """Activation of the first layer."""
        return ACTIVATIONS[self.activation]

    @property
    def buckets(self) -> int:
        """Number of output layers; the number of pieces in hand selects one."""
        return getattr(self.network_config, "buckets", 1)

    @property
    def stacks(self) -> Stacks:
        """The index that selects one copy of the layers for a position."""
        return NO_STACKS if self.layer_stacks is None else self.layer_stacks.stacks

    @property
    def listed(self) -> bool:
        """Whether `forward` takes the listing's inputs, whose hands end at eight pawns: too few for some stacks."""
        return not counts_all_pawns(getattr(self.network_config, "stacks", ()))

    @property
    def output_count(self) -> int:
        """Number of outputs per position."""
        return self.hidden_layers()[-1].out_features // self.buckets

    def _of_bucket(self, outputs: torch.Tensor, bucket: torch.Tensor) -> torch.Tensor:
        """Return the outputs (B, outputs) of each position's bucket (B,)."""
        if self.buckets == 1:
            return outputs
        parts = outputs.unflatten(1, (self.buckets, -1))
        # Not indexed by arange(B): an exported file would hold that as a constant, for one B alone.
        return parts.gather(1, bucket[:, None, None].expand(-1, 1, parts.shape[2])).squeeze(1)

    def _head(self, outputs: torch.Tensor, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        if self.layer_stacks is not None:
            outputs = self.layer_stacks(outputs, self.layer_stacks.index(x1, _listed_hands(x2)))
        else:
            *hidden, last = self.hidden_layers()
            for layer in hidden:
                outputs = self.activates.cut(layer(outputs))
            outputs = last(outputs)
        men = (x2 < HAND_PADDING - 1).sum(1)
        return self._of_bucket(outputs, bucket_of_men(men, self.buckets))

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        """Return outputs (B, outputs) from the listing's inputs.

        x1 int64 (B, 81): pieces 0..28. x2 int64 (B, 57): column i holds i if the hand (or check) feature i is
        active, else 57. This is the listed module, operation by operation; training uses `outputs`. Raises ValueError
        for a network that is not `listed`.
        """
        if not self.listed:
            tokens = ", ".join(self.stacks.tokens)
            raise ValueError(f"stacks {tokens}: they depend on more pawns in hand than the eight of the inputs x2")
        if self.perspectives == 1:
            return self._head(self._outputs(x1, x2), x1, x2)
        other_piece: Any = self._other_piece
        other_hand: Any = self._other_hand
        other_x1, other_x2 = other_piece[x1].flip(1), other_hand[x2]
        if self.training:
            # One batch of both views: they share the statistics of the first layer, not only its weights.
            both = self._outputs(torch.cat((x1, other_x1)), torch.cat((x2, other_x2))).chunk(2)
        else:
            both = self._outputs(x1, x2), self._outputs(other_x1, other_x2)
        return self._head(torch.cat(both, 1), x1, x2)

    def logits(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Return the first of the `outputs`: logits (B,) of the mover's win."""
        return self.outputs(pieces, hands, in_check)[:, 0]

    def outputs(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Return outputs (B, outputs) from a batch's arrays by summed rows.

        pieces u1 (B, 81), hands u1 (B, 14), in_check bool (B,). Equal to `forward` in value,
        gradient and running statistics, and more than ten times as fast.
        """

        first_layer, linear = self.summed_layers()
        hands_apart = isinstance(first_layer, LineSums)

        def lists(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
            part = slice(first, last)
            rows, start = list_active_rows(pieces[part], hands[part], in_check[part], self.perspectives)
            return self.kings.place(rows, start, hands_apart)

        fused = linear if self.rounding is None else []
        arguments = (len(pieces), lists, first_layer, self.norms(), self.training, fused, self.activates)
        outputs = fused_outputs(*arguments, threads=self.threads, workers=self.workers)
        if self.layer_stacks is not None:
            stack = self.layer_stacks.index(torch.from_numpy(pieces), torch.from_numpy(hands))
            outputs = self.layer_stacks(self.as_listed(outputs, first_layer), stack)
        elif self.rounding is not None:
            outputs = self.rounding.outputs(outputs, linear, nn.functional.linear)
        return self._of_bucket(outputs, bucket_of_hands(torch.from_numpy(hands).long(), self.buckets))

    def summed_layers(self) -> tuple[FirstLayer, list[tuple[torch.Tensor, torch.Tensor]]]:
        """Return the first layer as `outputs` needs it, and (weight, bias) of later layers with inputs in its order.

        There are no later layers if these are `layer_stacks`.
        """
        return TableSums(*self.rows(), self.pair_block), [] if self.layer_stacks is not None else self._linear()

    def as_listed(self, inputs: torch.Tensor, first_layer: FirstLayer) -> torch.Tensor:
        """Return the inputs (B, in) of the layer stacks in the module's order, from those in the order of `outputs`."""
        return inputs

    def gathered_outputs(self, pieces: torch.Tensor, hands: torch.Tensor, in_check: torch.Tensor) -> torch.Tensor:
        """Return `outputs` from tensors on the network's device."""
        views = range(self.perspectives)
        rows = [gather_active_rows(self.feature_set, pieces, hands, in_check, view) for view in views]
        sums = self.gathered_sums(torch.cat(rows))
        if norms := self.norms():
            sums = normalise(sums, norms, self.training, self.workers)
        outputs = torch.cat(self.activates.inputs(sums, self.pair_block).chunk(self.perspectives), 1)
        if self.layer_stacks is not None:
            outputs = self.layer_stacks(outputs, self.layer_stacks.index(pieces, hands))
            return self._of_bucket(outputs, bucket_of_hands(hands.long(), self.buckets))
        if self.rounding is not None:
            outputs = self.rounding.outputs(outputs, self._linear(), nn.functional.linear)
        else:
            *hidden, last = self._linear()
            for weight, bias in hidden:
                outputs = self.activates.cut(nn.functional.linear(outputs, weight, bias))
            outputs = nn.functional.linear(outputs, *last)
        return self._of_bucket(outputs, bucket_of_hands(hands.long(), self.buckets))

    def gathered_sums(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the first layer's sums (samples, N) before normalisation, from rows of `gather_active_rows`."""
        table, base = self.rows()
        return base + gather_sums(self.kings.unfold(table), rows)

    def _linear(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(layer.weight, layer.bias) for layer in self.hidden_layers()]

    def first_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows f8 [features, N] and bias f8 [N] before the activation, with batch normalisation folded in.

        Of an activation by pairs the first N/2 lanes are multiplied by the others.
        """
        exact = copy.deepcopy(self).cpu().double()
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
        table, bias = self.kings.unfold(rows * scale).detach().numpy(), (base * scale + shift).detach().numpy()
        if self.activates.pairwise and self.pair_block is not None:
            halves = np.arange(len(bias)).reshape(-1, 2, self.pair_block // 2)
            lanes = halves.transpose(1, 0, 2).ravel()
            table, bias = table[:, lanes], bias[lanes]
        return table, bias

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (weight f8 [out, in], bias f8 [out]) of every later layer, the output last.

        Between them is a ReLU with the activation's upper limit.

        With two perspectives the first half of the inputs is the mover's view, the other the opponent's; of a dual
        activation the clipped N of a view stand before their squares. With `stacks` both arrays have one more dimension
        in front: the stack.
        """
        if self.layer_stacks is not None:
            return self.layer_stacks.layers()
        return [
            (layer.weight.detach().cpu().double().numpy(), layer.bias.detach().cpu().double().numpy())
            for layer in self.hidden_layers()
        ]


def _listed_hands(x2: torch.Tensor) -> torch.Tensor:
    """Return the hands int64 (B, 14) of the listing's inputs; of pawns at most eight."""
    held = x2[:, : HAND_PADDING - 1] != HAND_PADDING
    kinds = list(zip(HAND_ROW_START.tolist(), HAND_ROW_LIMIT.tolist(), strict=True))
    first_rows = [(side + start, limit) for side in (0, HAND_ROWS) for start, limit in kinds]
    return torch.stack([held[:, first : first + limit].sum(1) for first, limit in first_rows], 1)


def listed_inputs(pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the listing's inputs from a batch's arrays: x1 int64 (B, 81), x2 int64 (B, 57)."""
    rows, start = list_active_rows(pieces, hands, in_check)
    sample = np.repeat(np.arange(len(pieces)), np.diff(start))
    features = rows.astype(np.int64) - HAND_CODES
    x2 = np.full((len(pieces), HAND_PADDING), HAND_PADDING, np.int64)
    held = features >= 0
    x2[sample[held], features[held]] = features[held]
    return torch.from_numpy(pieces.astype(np.int64)), torch.from_numpy(x2)
