"""What the first layer's sums become before the hidden layers read them: the activations that there is a kernel for.

All of them are clipped ReLUs to begin with. Squaring what is clipped ("SCReLU" in chess engines) lets a lane count more
the stronger it is, and both side by side ("dual") cost the next layer twice the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

ActivationName = Literal["relu", "clipped", "squared", "dual"]


@dataclass(frozen=True)
class Activation:
    """How sums become inputs, and where the hidden layers' ReLUs are cut."""

    ceiling: float
    """Where activations are cut, from above."""
    clipped: bool
    """Whether the clipped sums are inputs."""
    squared: bool
    """Whether their squares are, behind them."""

    @property
    def parts(self) -> int:
        """Inputs of the next layer for each of the first layer's outputs."""
        return self.clipped + self.squared

    def square_offset(self, width: int) -> int:
        """Where the squares of `width` sums begin among the inputs; -1 where there are none."""
        return width * self.clipped if self.squared else -1

    def cut(self, outputs: torch.Tensor) -> torch.Tensor:
        """Outputs of any layer, cut to 0..ceiling."""
        return torch.relu(outputs) if self.ceiling == float("inf") else outputs.clamp(0.0, self.ceiling)

    def inputs(self, sums: torch.Tensor) -> torch.Tensor:
        """Inputs (samples, parts * N) of the first layer's sums (samples, N)."""
        cut = self.cut(sums)
        return torch.cat([cut] * self.clipped + [cut * cut] * self.squared, 1) if self.squared else cut


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(float("inf"), clipped=True, squared=False),
    "clipped": Activation(1.0, clipped=True, squared=False),
    "squared": Activation(1.0, clipped=False, squared=True),
    "dual": Activation(1.0, clipped=True, squared=True),
}
"""By name. `relu` is the article's, which only the integers clip, where a sample of positions says."""
