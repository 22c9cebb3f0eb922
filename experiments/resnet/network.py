"""The baseline: a residual policy-value network of dlshogi's shape, with or without squeeze-and-excitation.

Layers and their names are dlshogi's (`policy_value_network_resnet.py` there), so that weights can be exchanged. With
`squeeze` each block's output is scaled channel by channel by what two small layers make of the channels' means
(Hu, Shen, Sun, "Squeeze-and-Excitation Networks", 2018), placed as in the article that brought it to small shogi
networks. Heads beside policy and value share the value head's hidden layer: draw, and auxiliary targets, which only
shape what the trunk learns and are dropped at export.

Inputs are the planes of search/puct/planes.py. input2's planes are constant, so that training gives them as
(B, 57, 1, 1): a 1x1 convolution of a constant is that constant everywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import nn

from lite.records.formats import DECLARATION, ENTERED, MOVE_LIMIT, SENNICHITE
from lite.training.checkpoint import load_module, write_tensors
from search.puct.planes import LABELS, PLANES1, PLANES2
from search.rules.shogi import SQUARES

NETWORK = "liteshogi policy-value network"
MOVE_PLANES = LABELS // SQUARES

Auxiliary = Literal["sennichite", "declaration", "move_limit", "entered"]
TARGET_BITS = {"sennichite": SENNICHITE, "declaration": DECLARATION, "move_limit": MOVE_LIMIT, "entered": ENTERED}
"""The bit of `Batch.kind_of_result` that makes a position a positive of each auxiliary target."""


@dataclass(frozen=True)
class ResnetConfig:
    """What the network looks like."""

    learning_rate: ClassVar[float | None] = 0.002
    """Highest learning rate that suits it, where none is told."""

    blocks: int = 5
    """Residual blocks of two 3x3 convolutions."""
    channels: int = 64
    """Channels of each."""
    activation: Literal["relu", "swish"] = "relu"
    """Between the layers."""
    squeeze: int = 0
    """Squeeze-and-excitation: channels over this number in its hidden layer (8 as in the article); 0 leaves it out."""
    squeeze_bias: bool = False
    """Whether its two layers have biases."""
    value_hidden: int = 256
    """Hidden layer of the value head."""
    draw: bool = False
    """A head that gives the probability of a draw."""
    auxiliary: tuple[Auxiliary, ...] = ()
    """Targets that only help training: how the game ended (sennichite, declaration win, move limit), and whether the
    mover's king stood in the enemy camp then (entered)."""

    def check(self) -> None:
        """Raises ValueError for what cannot be built."""
        for name, most in (("blocks", 1000), ("channels", 1 << 14), ("value_hidden", 1 << 16)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"--{name.replace('_', '-')} {getattr(self, name)}: choose 1 to {most}")
        if self.squeeze < 0 or self.squeeze > self.channels:
            raise ValueError(f"--squeeze {self.squeeze}: 0 for none, or at most the {self.channels} channels")
        if len(set(self.auxiliary)) < len(self.auxiliary):
            raise ValueError(f"--auxiliary {' '.join(self.auxiliary)}: a target is named twice")
        if unknown := set(self.auxiliary) - set(TARGET_BITS):
            raise ValueError(f"--auxiliary {unknown.pop()}: known are {', '.join(TARGET_BITS)}")


class Outputs(NamedTuple):
    """Logits of all heads."""

    policy: torch.Tensor
    """(B, 2187): move labels, before the softmax."""
    value: torch.Tensor
    """(B,): the mover's win."""
    draw: torch.Tensor | None
    """(B,): a draw."""
    auxiliary: torch.Tensor | None
    """(B, targets)."""


class Excitation(nn.Module):
    """The scales of a block's channels, from their means."""

    def __init__(self, channels: int, reduction: int, bias: bool) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // reduction, 1, bias=bias)
        self.fc2 = nn.Conv2d(channels // reduction, channels, 1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.fc2(torch.relu(self.fc1(means))))


class Block(nn.Module):
    """Two convolutions around which the input is carried."""

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
    """A number of its own for every move label: a 1x1 convolution's bias would be one for all squares."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(LABELS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.bias


class PolicyValueNetwork(nn.Module):
    """The network; `forward` gives what dlshogi's gives, `heads` everything."""

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
        """What `load_resnet` needs to make this network again, as JSON."""
        return asdict(self.network_config)

    def heads(self, x1: torch.Tensor, x2: torch.Tensor) -> Outputs:
        """Logits of every head, from input1 (B, 62, 9, 9) and input2 (B, 57, 9, 9) or (B, 57, 1, 1)."""
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
        """Policy logits (B, 2187) and the value's logit (B, 1)."""
        outputs = self.heads(x1, x2)
        return outputs.policy, outputs.value.unsqueeze(1)


def multiply_adds(network: PolicyValueNetwork) -> int:
    """Of an evaluation: a convolution's weights serve every square, those of linear layers and of what reads the
    channels' means once."""
    used_once = (nn.Linear, Excitation)
    once = {id(weight) for part in network.modules() if isinstance(part, used_once) for weight in part.parameters()}
    weights = [weight for weight in network.parameters() if weight.ndim > 1]
    return sum(weight.numel() * (1 if id(weight) in once else SQUARES) for weight in weights)


def save_resnet(path: Path, model: PolicyValueNetwork, training: dict[str, Any]) -> None:
    """A network with its configuration and `training`: JSON on how it came to be."""
    write_tensors(path, NETWORK, model.state_dict(), {"network": model.config, "training": training})


def load_resnet(path: Path | str) -> tuple[PolicyValueNetwork, dict[str, Any]]:
    """The network in evaluation mode and the JSON saved with it; a run's directory stands for its network file.

    Raises FileNotFoundError, or ValueError in words for a foreign, truncated or mismatching file.
    """
    return load_module(path, NETWORK, _from_config)


def _from_config(config: dict[str, Any]) -> PolicyValueNetwork:
    return PolicyValueNetwork(ResnetConfig(**config | {"auxiliary": tuple(config["auxiliary"])}))
