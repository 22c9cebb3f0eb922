"""SFNN for training: the networks that YaneuraOu's engines of 2025 and 2026 play with, over any of its feature sets.

Each perspective's `width` sums are clipped to 0..1, and the first half is multiplied by the second one. The first
hidden layer passes on the squares of its sums beside the clipped sums; where its size is 8n - 1, it has one more
output, the shortcut, which is added to the network's output. All layers exist once for each stack of the index.

Weights are kept where int8 holds them at the scales of an nn.bin, as those of `nnue.py` are. The output is a logit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import nn

from lite.networks.factored_rows import FactoredNetwork
from lite.networks.fused_step import fused_outputs
from lite.networks.later_layers import StackName, check_stacks
from lite.networks.layer_stacks import LayerStacks
from lite.networks.limits import check_size
from lite.networks.nnue import HIDDEN_LIMIT, OUTPUT_LIMIT
from lite.networks.units import SQUARE_GAIN
from lite.networks.value_network import NetworkConfig
from search.evaluation.network import MAX_LAYER, MAX_WIDTH
from search.evaluation.nnue_architecture import FEATURES
from search.system.bounds import briefly, check_choice

SfnnFeatures = Literal["halfkp", "kp", "ka2", "halfkpvm", "halfka1", "halfkahm1", "halfka2", "halfkahm2"]

FEATURE_SETS = {known.token: name for name, known in FEATURES.items()}
"""Feature sets by YaneuraOu's names."""
WIDTH_STEP = 64
"""YaneuraOu's AVX2 build takes rows of a multiple of this."""
HIDDEN_STEP = 8
PAIR_MEAN, SQUARE_MEAN, CLIPPED_MEAN = 0.25, 0.3, 0.5
"""Approximate mean inputs of untrained layers: products, squares and clipped sums."""


@dataclass(frozen=True)
class SfnnConfig(NetworkConfig):
    """Options of an SFNN."""

    name: ClassVar[str] = "sfnn"
    learning_rate: ClassVar[float | None] = 0.005

    features: SfnnFeatures = "halfka2"
    """Feature set, by YaneuraOu's name."""
    width: int = 1024
    """Outputs of the first layer per perspective, a multiple of 64; the first half is multiplied by the second."""
    hidden: tuple[int, int] = (7, 64)
    """Outputs of the two hidden layers. The first is 8n - 1, with a shortcut to the output, or 8n, without."""
    stacks: tuple[StackName, ...] = ("k3k3",)
    """Axes of the index that selects one copy of the layers: at most one of hands, kings' zones and progress each."""

    @property
    def shortcut(self) -> bool:
        """Whether the first hidden layer has one more output, which is added to the network's."""
        return self.hidden[0] % HIDDEN_STEP == HIDDEN_STEP - 1

    def as_json(self) -> dict[str, Any]:
        return {"network": self.name} | asdict(self)

    def check(self) -> None:
        check_choice("features", self.features, tuple(FEATURE_SETS))
        check_size("width", self.width, MAX_WIDTH)
        if self.width % WIDTH_STEP:
            raise ValueError(f"width {self.width}: must be a multiple of {WIDTH_STEP}")
        if not isinstance(self.hidden, tuple) or len(self.hidden) != 2:
            raise ValueError(f"hidden {briefly(self.hidden)}: must be two sizes of layers")
        for size in self.hidden:
            check_size("hidden", size, MAX_LAYER - 1)
        if self.hidden[0] % HIDDEN_STEP not in (0, HIDDEN_STEP - 1):
            raise ValueError(f"hidden {self.hidden[0]}: must be 8n - 1 (with a shortcut) or 8n (without)")
        check_stacks(self.stacks)

    def build(self) -> SfnnNetwork:
        return SfnnNetwork(**vars(self))


class SfnnNetwork(FactoredNetwork):
    """Both perspectives' sums, multiplied pairwise, then stacks of two hidden layers and the output (a logit)."""

    activation = "pairwise"
    hidden_squares = True

    def __init__(
        self,
        features: SfnnFeatures = "halfka2",
        width: int = 1024,
        hidden: tuple[int, int] = (7, 64),
        stacks: tuple[StackName, ...] = ("k3k3",),
    ) -> None:
        config = SfnnConfig(features, width, hidden, stacks)
        super().__init__(config, FEATURE_SETS.get(features, ""), width)
        self.shortcut = config.shortcut
        # A product of two halves is 127 / 128 of what its factors are, see `SQUARE_GAIN`: the weights make up for it.
        first = [SQUARE_GAIN * HIDDEN_LIMIT] * hidden[0] + [SQUARE_GAIN * OUTPUT_LIMIT] * self.shortcut
        limits = (first, [HIDDEN_LIMIT] * hidden[1], [OUTPUT_LIMIT])
        self.layer_stacks = LayerStacks(
            width, hidden, 1, stacks, hidden_squares=True, shortcut=self.shortcut, limits=limits
        )
        means = (
            torch.full((width,), PAIR_MEAN),
            torch.cat((torch.full((hidden[0],), SQUARE_MEAN), torch.full((hidden[0],), CLIPPED_MEAN))),
        )
        for layer, mean in zip(self.hidden_layers()[:-1], means, strict=True):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            if not layer.weight.is_meta:  # see shapes.py
                # Sums start in the middle of 0..1, where a gradient passes; the shortcut at 0.
                with torch.no_grad():
                    layer.bias.copy_(0.5 - layer.weight @ mean)
        if self.shortcut and not self.table.is_meta:
            with torch.no_grad():
                own = self.hidden_layers()[0]
                own.weight[-1] = 0
                own.bias[-1] = 0

    def hidden_layers(self) -> list[nn.Linear]:
        assert self.layer_stacks is not None
        return list(self.layer_stacks.shared)  # type: ignore[arg-type]

    def outputs(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Return outputs (B, 1) from a batch's arrays; `in_check` is ignored."""
        assert self.layer_stacks is not None
        first_layer, lists = self.listed_rows(pieces, hands)
        arguments = (len(pieces), lists, first_layer, self.norms(), self.training)
        inputs = fused_outputs(*arguments, [], self.activates, self.threads)
        return self.layer_stacks(inputs, self.layer_stacks.index(torch.from_numpy(pieces), torch.from_numpy(hands)))
