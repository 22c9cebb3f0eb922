"""A residual policy-value network of dlshogi's shape, with or without squeeze-and-excitation.

Layers and their names are those of dlshogi's `policy_value_network_resnet.py`, so weights can be exchanged. With
`squeeze`, two small layers compute a scale for each channel of a block from the channels' means (Hu, Shen, Sun,
"Squeeze-and-Excitation Networks", 2018). Heads for draws and auxiliary targets share the value head's hidden layer;
auxiliary targets only help training and are dropped at export.

Inputs are the planes of `search.puct.planes`. The planes of input2 are constant, so training passes them as
(B, 57, 1, 1): a 1x1 convolution of a constant plane is constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import nn

from lite.records.formats import DECLARATION, ENTERED, MOVE_LIMIT, SENNICHITE
from lite.training.checkpoint import SavedTraining, load_module, save_module
from search.puct.planes import LABELS, PLANES1, PLANES2
from search.rules.shogi import SQUARES
from search.system.bounds import check_number
from search.system.options import OptionError

NETWORK = "liteshogi policy-value network"
MOVE_PLANES = LABELS // SQUARES

Auxiliary = Literal["sennichite", "declaration", "move_limit", "entered"]
TARGET_BITS = {"sennichite": SENNICHITE, "declaration": DECLARATION, "move_limit": MOVE_LIMIT, "entered": ENTERED}
"""Bit of `Batch.kind_of_result` that marks a positive position of each auxiliary target."""


@dataclass(frozen=True)
class ResnetConfig:
    """Dimensions and heads of the network."""

    learning_rate: ClassVar[float | None] = 0.002
    """Default of the highest learning rate."""

    blocks: int = 5
    """Number of residual blocks, each of two 3x3 convolutions."""
    channels: int = 64
    """Channels per block."""
    activation: Literal["relu", "swish"] = "relu"
    """Activation between layers."""
    squeeze: int = 0
    """Reduction of squeeze-and-excitation: its hidden layer has channels divided by this; 0 means none."""
    squeeze_bias: bool = False
    """Give the two layers of squeeze-and-excitation biases."""
    value_hidden: int = 256
    """Width of the value head's hidden layer."""
    draw: bool = False
    """Add a head that predicts draws."""
    auxiliary: tuple[Auxiliary, ...] = ()
    """Auxiliary training targets: how the game ended (sennichite, declaration, move_limit), and whether the mover's
    king was in the enemy camp at the end (entered)."""

    def check(self) -> None:
        """Raise OptionError for a configuration that cannot be built."""
        for name, most in (("blocks", 1000), ("channels", 1 << 14), ("value_hidden", 1 << 16)):
            check_number(name, getattr(self, name), most=most)
        if self.squeeze < 0 or self.squeeze > self.channels:
            raise OptionError(f"`squeeze` {self.squeeze}: must be 0 or at most the {self.channels} channels", "squeeze")
        if len(set(self.auxiliary)) < len(self.auxiliary):
            raise OptionError(f"`auxiliary` {' '.join(self.auxiliary)}: a target is named twice", "auxiliary")
        if unknown := set(self.auxiliary) - set(TARGET_BITS):
            raise OptionError(f"`auxiliary` {unknown.pop()}: must be among {', '.join(TARGET_BITS)}", "auxiliary")


class Outputs(NamedTuple):
    """Logits of all heads."""

    policy: torch.Tensor
    """Logits of move labels before the softmax, (B, 2187)."""
    value: torch.Tensor
    """Logit of a win for the mover, (B,)."""
    draw: torch.Tensor | None
    """Logit of a draw, (B,); None without a draw output."""
    auxiliary: torch.Tensor | None
    """Logits of auxiliary targets, (B, targets); None without any."""


class Excitation(nn.Module):
    """Squeeze-and-excitation: scales the channels of a block by a function of their means."""

    def __init__(self, channels: int, reduction: int, bias: bool) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // reduction, 1, bias=bias)
        self.fc2 = nn.Conv2d(channels // reduction, channels, 1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.fc2(torch.relu(self.fc1(means))))


class Block(nn.Module):
    """A residual block: two convolutions whose output is added to the input."""

    def __init__(self, config: ResnetConfig, activation: nn.Module) -> None:
        super().__init__()
        channels = config.channels
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.se = Excitation(channels, config.squeeze, config.squeeze_bias) if config.squeeze else nn.Identity()
        self.act = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.act(self.bn1(self.conv1(x)))
        result: torch.Tensor = self.act(self.se(self.bn2(self.conv2(inner))) + x)
        return result


class PolicyBias(nn.Module):
    """A bias for every move label; a 1x1 convolution has one bias for all squares."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(LABELS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.bias


class PolicyValueNetwork(nn.Module):
    """The network; `forward` returns dlshogi's two outputs, `heads` all of them."""

    def __init__(self, config: ResnetConfig) -> None:
        super().__init__()
        config.check()
        self.network_config = config
        channels = config.channels
        self.act = nn.SiLU() if config.activation == "swish" else nn.ReLU()
        self.l1_1_1 = nn.Conv2d(PLANES1, channels, 3, padding=1, bias=False)
        self.l1_1_2 = nn.Conv2d(PLANES1, channels, 1, bias=False)
        self.l1_2 = nn.Conv2d(PLANES2, channels, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.blocks = nn.Sequential(*(Block(config, self.act) for _ in range(config.blocks)))
        self.policy = nn.Conv2d(channels, MOVE_PLANES, 1, bias=False)
        self.policy_bias = PolicyBias()
        self.value_conv1 = nn.Conv2d(channels, MOVE_PLANES, 1, bias=False)
        self.value_norm1 = nn.BatchNorm2d(MOVE_PLANES)
        self.value_fc1 = nn.Linear(LABELS, config.value_hidden)
        self.value_fc2 = nn.Linear(config.value_hidden, 1)
        if config.draw:
            self.draw_fc2 = nn.Linear(config.value_hidden, 1)
        if config.auxiliary:
            self.auxiliary_fc2 = nn.Linear(config.value_hidden, len(config.auxiliary))

    @property
    def config(self) -> dict[str, Any]:
        """Configuration as JSON, from which `load_resnet` builds the network."""
        return asdict(self.network_config)

    def heads(self, x1: torch.Tensor, x2: torch.Tensor) -> Outputs:
        """Return the logits of all heads for input1 (B, 62, 9, 9) and input2 (B, 57, 9, 9) or (B, 57, 1, 1)."""
        first = self.l1_1_1(x1) + self.l1_1_2(x1) + self.l1_2(x2)
        trunk = self.blocks(self.act(self.norm1(first)))
        policy = self.policy_bias(self.policy(trunk).flatten(1))
        hidden = self.act(self.value_norm1(self.value_conv1(trunk))).flatten(1)
        hidden = self.act(self.value_fc1(hidden))
        return Outputs(
            policy,
            self.value_fc2(hidden).squeeze(1),
            self.draw_fc2(hidden).squeeze(1) if self.network_config.draw else None,
            self.auxiliary_fc2(hidden) if self.network_config.auxiliary else None,
        )

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return policy logits (B, 2187) and value logits (B, 1)."""
        outputs = self.heads(x1, x2)
        return outputs.policy, outputs.value.unsqueeze(1)


def multiply_adds(network: PolicyValueNetwork) -> int:
    """Return the multiply-adds of an evaluation.

    A convolution uses its weights on every square, linear layers and squeeze-and-excitation use theirs once.
    """
    used_once = (nn.Linear, Excitation)
    once = {id(weight) for part in network.modules() if isinstance(part, used_once) for weight in part.parameters()}
    weights = [weight for weight in network.parameters() if weight.ndim > 1]
    return sum(weight.numel() * (1 if id(weight) in once else SQUARES) for weight in weights)


def save_resnet(path: Path, model: PolicyValueNetwork, training: Mapping[str, Any]) -> None:
    """Save a network with its configuration and `training`, JSON about its origin."""
    save_module(path, NETWORK, model, training)


def load_resnet(path: Path | str) -> tuple[PolicyValueNetwork, SavedTraining]:
    """Return the network in evaluation mode and its training; a run's folder stands for its network file.

    Raises FileNotFoundError, or ValueError for a foreign, truncated or mismatching file.
    """
    return load_module(path, NETWORK, _from_config)


def _from_config(config: dict[str, Any]) -> PolicyValueNetwork:
    return PolicyValueNetwork(ResnetConfig(**config | {"auxiliary": tuple(config["auxiliary"])}))
