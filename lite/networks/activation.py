"""Activations of the first layer's sums: those that the search has kernels for.

All start from a clipped ReLU. Squaring its outputs ("SCReLU" in chess engines) gives strong lanes more weight. Clipped
values and squares side by side ("dual") double the inputs of the next layer; products of two clipped sums each
("pairwise", of SFNN) halve them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

ActivationName = Literal["relu", "clipped", "squared", "dual", "pairwise"]


@dataclass(frozen=True)
class Activation:
    """The function from sums to inputs of the next layer, and the upper limit of the hidden layers' ReLUs."""

    ceiling: float
    """Upper limit of activations."""
    clipped: bool
    """Whether the next layer reads the clipped sums."""
    squared: bool
    """Whether the next layer reads the squares of the clipped sums, after those sums."""
    pairwise: bool = False
    """Whether the next layer reads products of two clipped sums each, and nothing else."""

    def input_count(self, width: int) -> int:
        """Return the number of inputs of the next layer that come from `width` sums."""
        return width // 2 if self.pairwise else width * (self.clipped + self.squared)

    def square_offset(self, width: int) -> int:
        """Return the index of the first square among the inputs of `width` sums; -1 if there are no squares."""
        return width * self.clipped if self.squared else -1

    def cut(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return a layer's outputs, clipped to 0..ceiling."""
        return torch.relu(outputs) if self.ceiling == float("inf") else outputs.clamp(0.0, self.ceiling)

    def inputs(self, sums: torch.Tensor, pair_block: int | None = None) -> torch.Tensor:
        """Return the inputs (samples, `input_count`) of the next layer from the sums (samples, N).

        pair_block: number of adjacent sums whose first half is multiplied by their second half, by the activation
        `pairwise`; None means all.
        """
        cut = self.cut(sums)
        if self.pairwise:
            first, second = cut.unflatten(1, (-1, 2, (pair_block or sums.shape[1]) // 2)).unbind(2)
            return (first * second).flatten(1)
        return torch.cat([cut] * self.clipped + [cut * cut] * self.squared, 1) if self.squared else cut


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(float("inf"), clipped=True, squared=False),
    "clipped": Activation(1.0, clipped=True, squared=False),
    "squared": Activation(1.0, clipped=False, squared=True),
    "dual": Activation(1.0, clipped=True, squared=True),
    "pairwise": Activation(1.0, clipped=False, squared=False, pairwise=True),
}
"""Activations by name. `relu`, of the article, is clipped only by quantisation, at the range of a sample."""
