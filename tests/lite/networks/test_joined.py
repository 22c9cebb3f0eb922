"""Joining a network with a correction of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.joined import join
from lite.training.training_speed import synthetic_batch

BASE = DenseConfig(width=8, hidden=(4, 3), perspectives=2, activation="squared", king="mirrored")


def made(config: DenseConfig, seed: int) -> DensePieceSquareNetwork:
    """Return a network whose weights and statistics are all random."""
    torch.manual_seed(seed)
    network = config.build()
    with torch.no_grad():
        for part in network.parameters():
            part.add_(torch.randn_like(part) * 0.1)
        network.norm.running_mean.normal_()  # type: ignore[operator, union-attr]
        network.norm.running_var.uniform_(0.5, 2)  # type: ignore[operator, union-attr]
    return network.eval()


def outputs(network: DensePieceSquareNetwork, in_check: bool | None = None) -> np.ndarray:
    batch = synthetic_batch(80, seed=4)
    checks = batch.in_check if in_check is None else np.full(80, in_check)
    found: np.ndarray = network.outputs(batch.pieces, batch.hands, checks).detach().numpy()
    return found


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 9),
    st.integers(1, 6),
    st.sampled_from([1, 2]),
    st.sampled_from(["relu", "clipped", "squared"]),
    st.sampled_from(["none", "mirrored", "zones"]),
)
def test_the_output_is_the_sum(width: int, hidden: int, perspectives: Any, activation: Any, king: Any) -> None:
    base = dataclasses.replace(BASE, perspectives=perspectives, activation=activation, king=king)
    network, correction = made(base, 1), made(dataclasses.replace(base, width=width, hidden=(hidden, 2)), 2)
    joined = join(network, correction)
    np.testing.assert_allclose(
        outputs(joined, False), outputs(network, False) + outputs(correction, False), rtol=1e-4, atol=1e-5
    )


def test_in_check_the_correction_is_that_without_the_check() -> None:
    network, correction = made(BASE, 1), made(dataclasses.replace(BASE, width=3, hidden=(5, 2)), 2)
    joined = join(network, correction)
    np.testing.assert_allclose(
        outputs(joined, True), outputs(network, True) + outputs(correction, False), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"perspectives": 1}, "perspectives 1"),
        ({"king": "none"}, "king none"),
        ({"activation": "clipped"}, "activation clipped"),
        ({"hidden": (4,)}, "number of hidden layers 1"),
        ({"draw": True}, "draw True"),
        ({"buckets": 2}, "buckets 2"),
        ({"shortcut": True}, "shortcut True"),
        ({"stacks": ("k3k3",)}, "stacks .*k3k3"),
    ],
)
def test_networks_that_do_not_fit_are_refused_by_the_options_that_differ(changes: dict[str, Any], named: str) -> None:
    network, correction = made(BASE, 1), made(dataclasses.replace(BASE, **changes), 2)
    with pytest.raises(ValueError, match=f"must be a dense network with the same .*, not {named}"):
        join(network, correction)


@pytest.mark.parametrize("parts", [{"activation": "dual"}, {"activation": "pairwise"}, {"buckets": 2}])
def test_parts_that_only_one_can_have_are_refused(parts: dict[str, Any]) -> None:
    config = dataclasses.replace(BASE, **parts)
    (named,) = parts
    with pytest.raises(ValueError, match=f"a network with {named} .* cannot be corrected"):
        join(made(config, 1), made(config, 2))
