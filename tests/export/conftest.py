"""Fixtures for what leaves training: nets with made-up weights and statistics, and positions to try them on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from export.positions import Sample, random_sample
from lite.networks.dense import DensePieceSquareNetwork
from lite.networks.lite_value import LiteValueNetwork
from lite.networks.untied import UntiedNetwork
from lite.networks.value_network import ValueNetwork

NETS: dict[str, Callable[[], ValueNetwork]] = {
    "board": lambda: LiteValueNetwork((16, 4, 32)),
    "blog": lambda: LiteValueNetwork((16, 4, 32), layout="blog"),
    "odd": lambda: LiteValueNetwork((5, 3, 7), layout="blog"),
    "untied": lambda: UntiedNetwork((4, 2, 6)),
    "two views": lambda: LiteValueNetwork((6, 5, 11), perspectives=2),
    "dense": lambda: DensePieceSquareNetwork(24, (8, 5), perspectives=2),
    "draw": lambda: LiteValueNetwork((6, 2, 9), draw=True),
    "dense, draw": lambda: DensePieceSquareNetwork(24, (8,), draw=True),
}


@pytest.fixture(params=list(NETS))
def any_net(request: pytest.FixtureRequest, make_net) -> ValueNetwork:
    net: ValueNetwork = make_net(request.param)
    return net


@pytest.fixture(scope="session")
def make_net() -> Callable[[str], ValueNetwork]:
    """make_net(name): a net in evaluation mode whose normalisations have run, as after training."""

    def make(name: str) -> ValueNetwork:
        torch.manual_seed(1)
        net = NETS[name]()
        with torch.no_grad():
            for norm in net.norms():
                norm.running_mean.normal_(0, 0.5)  # type: ignore[operator, union-attr]
                norm.running_var.uniform_(0.5, 2)  # type: ignore[operator, union-attr]
                norm.weight.uniform_(0.5, 1.5)  # type: ignore[operator, union-attr]
                norm.bias.normal_(0.5, 0.5)  # type: ignore[operator, union-attr]
        return net.eval()

    return make


@pytest.fixture(scope="session")
def positions() -> Sample:
    """10,000 positions of random games, with results of a coin."""
    sample = random_sample(10_000)
    result = np.random.default_rng(0).choice(np.array([0, 0.5, 1], np.float32), len(sample), p=[0.45, 0.1, 0.45])
    return Sample(sample.pieces, sample.hands, sample.in_check, result, sample.source)
