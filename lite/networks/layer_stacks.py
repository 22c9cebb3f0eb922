"""The layers after the first one, once for each stack: a position is evaluated by the stack that its index chooses.

Stacks share what they have in common: a layer of a stack is the shared layer plus the stack's own part, which is zero
at first. A stack that few positions choose therefore stays close to the others (nnue-pytorch does so for its first
layer). `layers()` returns the sums, so an exported network has no shared parts.

The index is that of the search (`search.evaluation.stacks`), from the same tables.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.networks.exporting import exporting
from lite.networks.feature_rows import list_feature_rows
from lite.networks.gathered import gather_active_rows, gather_king_squares
from lite.networks.rounding import Rounding
from lite.networks.units import SQUARE_GAIN
from search.evaluation.feature_sets import BONA_END, feature_set
from search.evaluation.stacks import (
    HANDS,
    KING_ZONES,
    MOST_HAND_CLASS,
    PROGRESS,
    PROGRESS_STEPS,
    Stacks,
    axis_size,
    make_stacks,
    ordered_tokens,
    progress_thresholds,
    stack_count,
)
from search.rules.shogi import HAND_KINDS, SQUARES

MOST_AT_ONCE = 16
"""Largest number of stacks of which a GPU computes all for every position, to select one afterwards."""

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""(weight [stacks, out, in], bias [stacks, out]) of each layer."""
_half_kp = cache(lambda: feature_set("half_kp"))


# The index


def stack_index(
    tokens: Sequence[str],
    pieces: torch.Tensor,
    hands: torch.Tensor,
    progress: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> torch.Tensor:
    """Return `Stacks.index` of positions, int64 (B,), on their device.

    pieces u1 (B, 81), hands u1 (B, 14): the mover's view, as in `Batch`. progress: weight int32 [81, 1548] and bias
    int64 of the progress axis, if the tokens name one.
    """
    held = hands.long().view(-1, 2, HAND_KINDS)
    found = torch.zeros_like(pieces[:, 0], dtype=torch.int64)
    for token in ordered_tokens(tokens):
        found = found * axis_size(token)
        if token in HANDS:
            own, other = _hand_classes(token, held).unbind(1)
            found = found + HANDS[token].classes * own + other
        elif token in KING_ZONES:
            zones = KING_ZONES[token].astype(np.int64)
            table = torch.from_numpy(zones).to(pieces.device)
            own, other = (table[gather_king_squares(pieces, view)] for view in range(2))
            found = found + (int(zones.max()) + 1) * own + other
        else:
            assert progress is not None, "a progress axis needs a table"
            limits = torch.from_numpy(progress_thresholds()).to(pieces.device)
            reached = torch.searchsorted(limits, progress_sums(pieces, hands, *progress), right=True)
            found = found + reached * axis_size(token) // PROGRESS_STEPS
    return found


def _hand_classes(token: str, held: torch.Tensor) -> torch.Tensor:
    """Return the class of each side's hand, int64 (B, 2), from counts int64 (B, 2, 7)."""
    chosen, device = HANDS[token], held.device
    points = (held * torch.tensor(chosen.weights, device=device)).sum(2)
    classes = ((points + 3) // 4).clamp(max=MOST_HAND_CLASS)
    for bit in sorted(set(chosen.bits) - {0}):  # kinds of one bit count once together
        kinds = torch.tensor([kind for kind, own in enumerate(chosen.bits) if own == bit], device=device)
        classes = classes + bit * (held[:, :, kinds] > 0).any(2)
    return classes


def progress_sums(pieces: torch.Tensor, hands: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return `Stacks.progress_sums` of positions, int64 (B,), on their device; arguments as of `stack_index`."""
    table = weight.flatten().long()
    if pieces.device.type == "cpu":
        rows, start = list_feature_rows(_half_kp(), pieces.numpy(), hands.numpy())
        if not len(pieces):
            return table.new_zeros(0)
        sums = np.add.reduceat(table.numpy()[rows], start[:-1])  # every sample has 38 rows or more
        return torch.from_numpy(sums.reshape(-1, 2).sum(1)) + bias
    table = nn.functional.pad(table, (0, 1))
    no_checks = torch.zeros(len(pieces), dtype=torch.bool, device=pieces.device)
    views = [table[gather_active_rows(_half_kp(), pieces, hands, no_checks, view)].sum(1) for view in range(2)]
    return bias + views[0] + views[1]


# The layers


class _StackedLinear(torch.autograd.Function):
    """A linear layer of each stack, applied to the positions of the stack: (B, in) to (B, out)."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, groups: list[tuple[int, torch.Tensor]]
    ) -> torch.Tensor:
        outputs = x.new_empty(len(x), bias.shape[1])
        for stack, positions in groups:
            outputs[positions] = torch.addmm(bias[stack], x[positions], weight[stack].t())
        ctx.save_for_backward(x, weight)
        ctx.groups = groups
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (x, weight), gradient = ctx.saved_tensors, gradients[0]
        of_x, of_weight = torch.empty_like(x), torch.zeros_like(weight)
        of_bias = gradient.new_zeros(weight.shape[:2])
        for stack, positions in ctx.groups:
            own = gradient[positions]
            of_x[positions] = own @ weight[stack]
            torch.mm(own.t(), x[positions], out=of_weight[stack])
            of_bias[stack] = own.sum(0)
        return of_x, of_weight, of_bias, None


def stacked_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, groups: list[tuple[int, torch.Tensor]]
) -> torch.Tensor:
    """Return (B, out): each position's inputs x (B, in) through the layer of its stack.

    weight [stacks, out, in], bias [stacks, out]; groups: of `positions_by_stack`.
    """
    result: torch.Tensor = _StackedLinear.apply(x, weight, bias, groups)  # type: ignore[no-untyped-call]
    return result


def positions_by_stack(stack: torch.Tensor) -> list[tuple[int, torch.Tensor]]:
    """Return every stack that occurs in `stack` (B,), with the positions (n,) that choose it."""
    order = torch.argsort(stack, stable=True)
    stacks, counts = torch.unique_consecutive(stack[order], return_counts=True)
    return list(zip(stacks.tolist(), order.split(counts.tolist()), strict=True))


class LayerStacks(nn.Module):
    """The hidden layers and the output layer, once for each stack of the axes that `tokens` name.

    Sums of hidden layers are clipped to 0..ceiling. With `hidden_squares` the first hidden layer passes on the squares
    of its sums, up to the ceiling, and then the clipped sums. With `shortcut` it has one more output, which is added to
    the first output of the network (the value), and which is no input of the next layer.
    """

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int = 1,
        tokens: Sequence[str] = (),
        *,
        hidden_squares: bool = False,
        shortcut: bool = False,
        ceiling: float = 1.0,
        limits: Sequence[Sequence[float]] | None = None,
    ) -> None:
        """hidden: outputs of the hidden layers without the shortcut; `hidden_squares` and `shortcut` need at least one.

        limits: largest absolute weights of each layer by its outputs, which training never exceeds; None means none.
        """
        super().__init__()
        if (hidden_squares or shortcut) and not hidden:
            raise ValueError("hidden squares and a shortcut need a hidden layer")
        self.tokens = ordered_tokens(tokens)
        self.count = stack_count(self.tokens)
        """Number of stacks."""
        self.hidden_squares, self.shortcut, self.ceiling = hidden_squares, shortcut, ceiling
        into, out = [inputs, *hidden], [*hidden, outputs]
        if hidden:
            into[1] *= 1 + hidden_squares
        out[0] += shortcut
        self.shared = nn.ModuleList(nn.Linear(*sizes) for sizes in zip(into, out, strict=True))
        """The part that all stacks share, or everything if there is only one."""
        own = self.count if self.count > 1 else 0
        shapes = list(zip(out, into, strict=True))
        self.own_weight = nn.ParameterList(nn.Parameter(torch.zeros(own, *shape)) for shape in shapes)
        self.own_bias = nn.ParameterList(nn.Parameter(torch.zeros(own, size)) for size in out)
        self.measures_excess = False
        """Whether training steps compute what `take_excess` returns."""
        self._excess: torch.Tensor | None = None
        self.rounding: Rounding | None = None
        """Rounding that outputs are computed with; None means exact."""
        self.limited = limits is not None
        for number, limit in enumerate(limits or ()):
            self.register_buffer(f"limit_{number}", torch.tensor(limit)[:, None], persistent=False)
        kings = SQUARES if self.has_progress else 0
        self.register_buffer("progress_weight", torch.zeros(kings, BONA_END, dtype=torch.int32))
        self.register_buffer("progress_bias", torch.zeros((), dtype=torch.int64))

    @property
    def has_progress(self) -> bool:
        """Whether an axis is the progress of the game, whose table `set_progress` sets."""
        return any(token in PROGRESS for token in self.tokens)

    def set_progress(self, weight: np.ndarray, bias: int) -> None:
        """Set the table of the progress axis: weight int32 [81, 1548] and bias, as in `Stacks`."""
        table, constant = self._progress
        table.copy_(torch.from_numpy(weight))
        constant.fill_(bias)

    @property
    def stacks(self) -> Stacks:
        """The index, as the search has it."""
        if not self.has_progress:
            return make_stacks(self.tokens)
        weight, bias = self._progress
        return make_stacks(self.tokens, weight.cpu().numpy(), int(bias))

    @property
    def _progress(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Weight and bias of the progress axis."""
        return self.progress_weight, self.progress_bias  # type: ignore[return-value]

    def index(self, pieces: torch.Tensor, hands: torch.Tensor) -> torch.Tensor:
        """Return the stack of each position, int64 (B,); see `stack_index`."""
        return stack_index(self.tokens, pieces, hands, self._progress if self.has_progress else None)

    def forward(self, x: torch.Tensor, stack: torch.Tensor | None = None) -> torch.Tensor:
        """Return outputs (B, outputs) from the first hidden layer's inputs x (B, in).

        stack: int64 (B,), of `index`; needed if there is more than one stack.
        """
        if self.training:
            self.clip()
        layers = self.weights()
        if self.count == 1:
            return self._through(x, layers, lambda x, weight, bias: nn.functional.linear(x, weight[0], bias[0]))
        assert stack is not None, "the stack of each position is needed"
        if exporting():
            return self._through(x, layers, lambda x, weight, bias: _by_position(x, weight, bias, stack))
        if x.device.type != "cpu" and self.count <= MOST_AT_ONCE:
            return self._through(x, layers, lambda x, weight, bias: _selected(x, weight, bias, stack))
        groups = positions_by_stack(stack)
        return self._through(x, layers, lambda x, weight, bias: stacked_linear(x, weight, bias, groups))

    def _through(self, x: torch.Tensor, layers: Layers, linear: Any) -> torch.Tensor:
        """Return the outputs; `linear(x, weight, bias)` applies a layer of each position's stack."""
        excess: list[torch.Tensor] = []

        def see_sums(sums: torch.Tensor) -> None:
            if self.measures_excess and self.training:
                excess.append((sums.abs() - self.ceiling).clamp(min=0).square().mean())

        if self.rounding is not None:
            form: dict[str, Any] = {"hidden_squares": self.hidden_squares, "shortcut": self.shortcut}
            outputs = self.rounding.outputs(x, layers, linear, **form, see_sums=see_sums)
        else:
            outputs = self._exact_outputs(x, layers, linear, see_sums)
        self._excess = torch.stack(excess).sum() if excess else None
        return outputs

    def _exact_outputs(self, x: torch.Tensor, layers: Layers, linear: Any, see_sums: Any) -> torch.Tensor:
        direct = None
        for number, (weight, bias) in enumerate(layers[:-1]):
            sums = linear(x, weight, bias)
            if number == 0 and self.shortcut:
                sums, direct = sums[:, :-1], sums[:, -1:]
            see_sums(sums)
            x = torch.relu(sums) if self.ceiling == float("inf") else sums.clamp(0.0, self.ceiling)
            if number == 0 and self.hidden_squares:
                x = torch.cat(((SQUARE_GAIN * sums * sums).clamp(max=self.ceiling), x), 1)
        outputs: torch.Tensor = linear(x, *layers[-1])
        if direct is None:
            return outputs
        return torch.cat((outputs[:, :1] + direct, outputs[:, 1:]), 1)

    def take_excess(self) -> torch.Tensor:
        """Return the mean square of the hidden sums' excess over -ceiling..ceiling in the last training step, once."""
        excess, self._excess = self._excess, None
        assert excess is not None, "measured in training steps alone"
        return excess

    def weights(self) -> Layers:
        """Return every layer with the shared part added, its weights within the limits."""
        layers: Layers = []
        for number, (shared, weight, bias) in enumerate(zip(self.shared, self.own_weight, self.own_bias, strict=True)):
            whole: Any = shared
            total, constant = whole.weight[None], whole.bias[None]
            if self.count > 1:
                total, constant = total + weight, constant + bias
            if self.limited:
                limit = getattr(self, f"limit_{number}")
                total = torch.minimum(torch.maximum(total, -limit), limit)
            layers.append((total, constant))
        return layers

    def fill(self, number: int, weight: torch.Tensor, bias: torch.Tensor) -> None:
        """Set layer `number` of all stacks, [stacks, out, in] and [stacks, out]; what they share becomes the mean."""
        linear: Any = self.shared[number]
        parts = (linear.weight, self.own_weight[number], weight), (linear.bias, self.own_bias[number], bias)
        with torch.no_grad():
            for shared, own, whole in parts:
                shared.copy_(whole.mean(0))
                if self.count > 1:
                    own.copy_(whole.to(shared) - shared)

    def clip(self) -> None:
        """Move the weights into the limits, so that a gradient passes to each of them."""
        if not self.limited:
            return
        with torch.no_grad():
            for number, (shared, own) in enumerate(zip(self.shared, self.own_weight, strict=True)):
                limit: Any = getattr(self, f"limit_{number}")
                weight: Any = shared.weight
                if self.count > 1:
                    own.copy_((weight + own).clamp_(-limit, limit).sub_(weight))
                else:
                    weight.clamp_(-limit, limit)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (weight f8, bias f8) of every layer, [stacks, out, in] and [stacks, out]; of one stack without the
        first dimension."""
        exact = copy.deepcopy(self).cpu().double()
        with torch.no_grad():
            arrays = [tuple(part.numpy() for part in layer) for layer in exact.weights()]
        return [(weight[0], bias[0]) if self.count == 1 else (weight, bias) for weight, bias in arrays]


def _selected(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stack: torch.Tensor) -> torch.Tensor:
    """Return `stacked_linear` by computing all stacks: one large product in place of many small ones."""
    all_stacks = nn.functional.linear(x, weight.flatten(0, 1), bias.flatten()).unflatten(1, bias.shape)
    return all_stacks.gather(1, stack[:, None, None].expand(-1, 1, bias.shape[1])).squeeze(1)


def _by_position(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, stack: torch.Tensor) -> torch.Tensor:
    """Return `stacked_linear` by operations of ONNX, for any number of positions: each takes its stack's layer."""
    return torch.matmul(weight[stack], x[:, :, None])[:, :, 0] + bias[stack]
