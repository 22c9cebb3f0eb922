"""Activations of the first layer's sums: those that the search has kernels for.

All start from a clipped ReLU. Squaring its outputs ("SCReLU" in chess engines) gives strong lanes more weight. Clipped
values and squares side by side ("dual") double the inputs of the next layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

ActivationName = Literal["relu", "clipped", "squared", "dual"]


@dataclass(frozen=True)
class Activation:
    """The function from sums to inputs of the next layer, and the upper limit of the hidden layers' ReLUs."""

    ceiling: float
    """Upper limit of activations."""
    clipped: bool
    """Whether the next layer reads the clipped sums."""
    squared: bool
    """Whether the next layer reads their squares, behind the clipped sums."""

    @property
    def parts(self) -> int:
        """Inputs of the next layer per output of the first layer."""
        return self.clipped + self.squared

    def square_offset(self, width: int) -> int:
        """Return the index of the first square among the inputs of `width` sums; -1 if there are no squares."""
        return width * self.clipped if self.squared else -1

    def cut(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return a layer's outputs, clipped to 0..ceiling."""
        return torch.relu(outputs) if self.ceiling == float("inf") else outputs.clamp(0.0, self.ceiling)

    def inputs(self, sums: torch.Tensor) -> torch.Tensor:
        """Return the inputs (samples, parts * N) of the next layer from the sums (samples, N)."""
        cut = self.cut(sums)
        return torch.cat([cut] * self.clipped + [cut * cut] * self.squared, 1) if self.squared else cut


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(float("inf"), clipped=True, squared=False),
    "clipped": Activation(1.0, clipped=True, squared=False),
    "squared": Activation(1.0, clipped=False, squared=True),
    "dual": Activation(1.0, clipped=True, squared=True),
}
"""Activations by name. `relu`, of the article, is clipped only by quantisation, at the range of a sample."""
