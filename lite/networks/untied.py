"""The lite value network with a kernel of its own for every output of its convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from lite.networks.lite_value import LiteConfig, LiteValueNetwork


@dataclass(frozen=True)
class UntiedConfig(LiteConfig):
    """Options of an untied network: those of a lite one."""

    name: ClassVar[str] = "untied"

    def build(self) -> UntiedNetwork:
        return UntiedNetwork(**vars(self))


class UntiedNetwork(LiteValueNetwork):
    """A lite network whose convolutions have own weights per square.

    [o, c, f, r] of `l2_1.weight` (C, D, 9, 9) leads to the output of rank r, that of `l2_2.weight` to that of file f.
    """

    kind = UntiedConfig

    def line_convolutions(self, embedding: int, channels: int) -> tuple[nn.Module, nn.Module]:
        return _UntiedLines(embedding, channels, along=2), _UntiedLines(embedding, channels, along=3)


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
