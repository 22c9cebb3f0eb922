"""Statistics of the first layer's sums, for the normalisations of a network that was not trained with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import torch

from lite.networks.value_network import ValueNetwork

BATCHES = 16
"""Batches that the statistics are taken from."""


def take_statistics(model: ValueNetwork, outputs: Iterable[torch.Tensor]) -> None:
    """Give the normalisations the statistics of the data's sums, and weights with which the network computes the same.

    Without this a network that is made of integers would compute something else in the first step of a training, which
    normalises by a batch's own statistics. outputs: the network's outputs of batch after batch, computed as they are
    taken.
    """
    norms: list[Any] = model.norms()
    with torch.no_grad():
        before = [_scale_and_shift(norm) for norm in norms]
        with _training(model, norms):
            for number, _ in enumerate(islice(outputs, BATCHES), 1):
                for norm in norms:
                    norm.momentum = 1 / (number + 1)
        for norm, (scale, shift) in zip(norms, before, strict=True):
            norm.weight.copy_(scale * torch.sqrt(norm.running_var + norm.eps))
            norm.bias.copy_(shift + scale * norm.running_mean)


def _scale_and_shift(norm: Any) -> tuple[torch.Tensor, torch.Tensor]:
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return scale, norm.bias - scale * norm.running_mean


@contextmanager
def _training(model: ValueNetwork, norms: list[Any]) -> Iterator[None]:
    """Compute in training mode inside; the first batch replaces the running statistics."""
    was_training, momenta = model.training, [norm.momentum for norm in norms]
    model.train()
    for norm in norms:
        norm.momentum = 1.0
    try:
        yield
    finally:
        model.train(was_training)
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
