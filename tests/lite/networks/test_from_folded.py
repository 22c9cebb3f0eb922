"""Dense networks to train from folded ones, for every part of the family."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from export.fold import fold_checked
from export.positions import random_sample
from export.quantise import quantise, quantised_logits
from lite.networks.dense import DenseConfig, DensePieceSquareNetwork
from lite.networks.from_integers import trainable
from lite.networks.untied import UntiedConfig
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file, shipped_names

SAMPLE = random_sample(400, 3)


def made(**options: object) -> torch.nn.Module:
    torch.manual_seed(5)
    return DenseConfig(**{"width": 32, "hidden": (8,), **options}).build().eval()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": "clipped", "perspectives": 2, "buckets": 2},
        {"activation": "squared", "perspectives": 2, "draw": True, "king": "mirrored"},
        {"activation": "dual", "hidden": (8, 8), "king": "zones"},
        {"activation": "pairwise", "perspectives": 2, "hidden_squares": True, "shortcut": True, "stacks": ("k3k3",)},
        {"activation": "squared", "shortcut": True, "stacks": ("progress2",)},
    ],
    ids=lambda options: " ".join(f"{name}={value}" for name, value in options.items()) or "plain",
)
def test_a_network_from_a_folded_one_is_close_to_its_integers(options: dict[str, object]) -> None:
    net = quantise(fold_checked(made(**options), SAMPLE)[0], SAMPLE)
    model = trainable(net).eval()
    assert net.activation == "clipped_relu" or model.config["activation"] == options["activation"]
    logits = model.logits(SAMPLE.pieces, SAMPLE.hands, SAMPLE.in_check).detach().double().numpy()
    found = quantised_logits(net, SAMPLE)
    assert np.sqrt(((logits - found) ** 2).mean()) < 0.08 * found.std()


def test_folding_again_changes_little() -> None:
    net = load_network(network_file("dense-64-16"))
    again = quantise(fold_checked(trainable(net), SAMPLE)[0], SAMPLE)
    before, after = (quantised_logits(one, SAMPLE) for one in (net, again))
    assert np.sqrt(((before - after) ** 2).mean()) < 0.05 * before.std()


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_network_can_be_trained_further(name: str) -> None:
    assert isinstance(trainable(load_network(network_file(name))), DensePieceSquareNetwork)


def test_an_untied_network_becomes_a_dense_one() -> None:
    torch.manual_seed(6)
    net = quantise(fold_checked(UntiedConfig(dims=(4, 2, 8), perspectives=2).build().eval(), SAMPLE)[0], SAMPLE)
    model = trainable(net).eval()
    found = quantised_logits(net, SAMPLE)
    logits = model.logits(SAMPLE.pieces, SAMPLE.hands, SAMPLE.in_check).detach().double().numpy()
    assert np.sqrt(((logits - found) ** 2).mean()) < 0.08 * found.std()
