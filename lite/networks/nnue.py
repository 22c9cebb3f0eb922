"""NNUE for training: HalfKP or K+P, a first layer shared by both perspectives, clipped ReLU, layers that fit int8.

As YaneuraOu's own trainer does it (`source/eval/nnue/trainer` of its repository, after Nasu's "Efficiently Updatable
Neural-Network-based Evaluation Function for computer Shogi", 2018): activations are cut to 0..1, which an `nn.bin`
counts as 0..127, and the weights of later layers are kept where int8 holds them at 64 to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import nn

from lite.networks.factored_rows import FactoredNetwork
from lite.networks.fused_step import fused_outputs
from lite.networks.limits import check_hidden, check_size
from lite.networks.units import ACTIVATION_SCALE, OUTPUT_SCALE, WEIGHT_SCALE
from lite.networks.value_network import NetworkConfig
from search.evaluation.network import LANES, MAX_WIDTH

Features = Literal["half_kp", "k_p"]

HIDDEN_LIMIT = 127 / WEIGHT_SCALE
OUTPUT_LIMIT = 127 / (OUTPUT_SCALE / ACTIVATION_SCALE)
"""Largest weights that int8 holds at these scales."""


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


class NnueNetwork(FactoredNetwork):
    """Both perspectives' `width` sums, clipped to 0..1, then `hidden` layers and the output (a logit)."""

    activation = "clipped"

    def __init__(self, features: Features = "half_kp", width: int = 256, hidden: tuple[int, ...] = (32, 32)) -> None:
        config = HalfKpConfig if features == "half_kp" else KpConfig
        super().__init__(config(width, hidden), features, width)
        self.linear = nn.ModuleList(nn.Linear(into, out) for into, out in pairwise([2 * width, *hidden, 1]))
        for layer in self.hidden_layers()[:-1]:
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            if not layer.weight.is_meta:  # see shapes.py
                # Sums start in the middle of 0..1, where a gradient passes.
                with torch.no_grad():
                    layer.bias.copy_(0.5 - 0.5 * layer.weight.sum(1))

    def hidden_layers(self) -> list[nn.Linear]:
        return list(self.linear)  # type: ignore[arg-type]

    def _limits(self) -> list[float]:
        return [HIDDEN_LIMIT] * (len(self.linear) - 1) + [OUTPUT_LIMIT]

    def outputs(self, pieces: np.ndarray, hands: np.ndarray, in_check: np.ndarray) -> torch.Tensor:
        """Return outputs (B, 1) from a batch's arrays; `in_check` is ignored.

        In training the weights are clipped first, so that the gradient is taken inside their limits.
        """
        first_layer, lists = self.listed_rows(pieces, hands)
        linear = self._linear()
        arguments = (len(pieces), lists, first_layer, self.norms(), self.training)
        if self.rounding is None:
            return fused_outputs(*arguments, linear, self.activates, self.threads)
        inputs = fused_outputs(*arguments, [], self.activates, self.threads)
        return self.rounding.outputs(inputs, linear, nn.functional.linear)

    def _linear(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        linear: list[tuple[torch.Tensor, torch.Tensor]] = []
        for layer, limit in zip(self.hidden_layers(), self._limits(), strict=True):
            if self.training:
                with torch.no_grad():
                    layer.weight.clamp_(-limit, limit)
            linear.append((layer.weight.clamp(-limit, limit), layer.bias))
        return linear

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            (
                layer.weight.detach().cpu().double().clamp(-limit, limit).numpy(),
                layer.bias.detach().cpu().double().numpy(),
            )
            for layer, limit in zip(self.hidden_layers(), self._limits(), strict=True)
        ]
