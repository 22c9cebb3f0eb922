"""Starting a dense network from the weights of a smaller one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from lite.networks.dense import DenseConfig
from lite.networks.transfer import start_from
from lite.networks.value_network import ValueNetwork
from lite.training.training_speed import synthetic_batch

SMALL = DenseConfig(width=8, hidden=(4, 3), perspectives=2)
ALL_PARTS: dict[str, Any] = {
    "width": 10,
    "hidden": (6, 3),
    "hidden_squares": True,
    "shortcut": True,
    "stacks": ("k9k9",),
}


def made(config: DenseConfig) -> ValueNetwork:
    """Return a network whose weights and statistics are all random."""
    torch.manual_seed(3)
    network = config.build()
    with torch.no_grad():
        for part in network.parameters():
            part.add_(torch.randn_like(part) * 0.1)
        network.norm.running_mean.normal_()  # type: ignore[operator]
        network.norm.running_var.uniform_(0.5, 2)  # type: ignore[operator]
    return network.eval()


def outputs(network: ValueNetwork) -> torch.Tensor:
    batch = synthetic_batch(80, seed=4)
    return network.outputs(batch.pieces, batch.hands, batch.in_check).detach()


@pytest.mark.parametrize("changes", [{"width": 12}, {"hidden": (7, 3)}, {"stacks": ("progress2",)}, ALL_PARTS])
@pytest.mark.parametrize(
    "parts",
    [
        {"perspectives": 1},
        {"activation": "squared", "king": "mirrored"},
        {"activation": "dual", "king": "zones"},
        {"activation": "pairwise", "shortcut": True},
        {"activation": "clipped", "hidden_squares": True},
        {"stacks": ("k3k3",)},
    ],
)
def test_a_larger_dense_network_starts_with_the_same_outputs(parts: dict[str, Any], changes: dict[str, Any]) -> None:
    if "k3k3" in parts.get("stacks", ()) and changes.get("stacks") == ("progress2",):
        changes = {"stacks": ("k3k3", "progress2")}
    small = dataclasses.replace(SMALL, **parts)
    source, model = made(small), made(dataclasses.replace(small, **changes))
    before = outputs(model)
    start_from(model, source)
    torch.testing.assert_close(outputs(model), outputs(source), rtol=0, atol=1e-5)
    assert not torch.equal(outputs(model), before)


def test_what_a_larger_network_adds_can_learn() -> None:
    model = made(dataclasses.replace(SMALL, width=12, hidden=(7, 3)))
    start_from(model, made(SMALL))
    model.train()
    batch = synthetic_batch(80, seed=4)
    model.outputs(batch.pieces, batch.hands, batch.in_check).square().sum().backward()
    first, second = model.hidden_layers()[:2]
    assert first.weight.grad is not None
    assert second.weight.grad is not None
    assert first.weight.grad[:4].unflatten(1, (2, 12))[..., 8:].abs().max() > 0
    assert second.weight.grad[:, 4:].abs().max() > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 4},
        {"hidden": (3, 3)},
        {"hidden": (4,)},
        {"king": "zones"},
        {"activation": "squared"},
        {"perspectives": 1},
    ],
)
def test_a_dense_network_refuses_what_it_cannot_hold(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="holds a network of"):
        start_from(made(dataclasses.replace(SMALL, **changes)), made(SMALL))
    with pytest.raises(ValueError, match="holds a network of"):
        start_from(made(SMALL), made(dataclasses.replace(SMALL, hidden=())))
    with pytest.raises(ValueError, match="stacks by k3k3"):
        start_from(made(SMALL), made(dataclasses.replace(SMALL, stacks=("k3k3",))))
