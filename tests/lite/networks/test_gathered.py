"""Logits from gathered rows, for any device: on the CPU they equal those of the fused step."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from lite.networks import layer_stacks
from lite.networks.build import CONFIGS
from lite.networks.dense import DenseConfig
from lite.networks.first_layer import list_active_rows
from lite.networks.gathered import gather_active_rows
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.sfnn import SfnnConfig
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import listed_inputs
from lite.records.batch import Batch
from lite.training.training_speed import synthetic_batch
from search.evaluation.feature_sets import YANEURAOU_NAMES, feature_set
from search.rules.shogi import EMPTY, KINDS, KING


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Random boards, some with missing pieces or kings, and some with many pawns."""
    found = synthetic_batch(60, seed=3)
    for pieces, hands in zip(found.pieces[:20], found.hands[:20], strict=True):
        taken = np.flatnonzero((pieces != EMPTY) & (pieces % KINDS != KING))[::7]
        pieces[taken] = EMPTY
        hands[3] = 0
    found.pieces[20][found.pieces[20] == KING] = EMPTY
    found.pieces[21][found.pieces[21] % KINDS != KING] = EMPTY
    found.hands[21] = 0
    found.hands[21, 0], found.hands[21, 7] = 17, 1
    return found


DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def tensors(batch: Batch, device: str = "cpu") -> Iterator[torch.Tensor]:
    return (torch.from_numpy(array).to(device) for array in (batch.pieces, batch.hands, batch.in_check))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["piece_square", *YANEURAOU_NAMES])
def test_rows_equal_those_of_the_search(name: str, device: str, batch: Batch) -> None:
    features = feature_set(name)
    for view in range(2):
        found = gather_active_rows(features, *tensors(batch, device), view).cpu().numpy()
        expected = features.active_rows(batch.pieces, batch.hands, view)
        for position, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
            checks = [features.check_row] * (name == "piece_square" and view == 0 and bool(batch.in_check[position]))
            assert sorted(ours[ours < features.rows]) == sorted([*theirs[theirs < features.rows], *checks])


def test_rows_equal_those_of_the_fused_step(batch: Batch) -> None:
    rows, start = list_active_rows(batch.pieces, batch.hands, batch.in_check, 2)
    for view in range(2):
        found = gather_active_rows(feature_set("piece_square"), *tensors(batch), view).numpy()
        for position, ours in enumerate(found):
            sample = 2 * position + view
            assert sorted(ours[ours < 2325]) == sorted(rows[start[sample] : start[sample + 1]])


NETWORKS = [
    LiteConfig((4, 2, 8)),
    LiteConfig((4, 2, 8), layout="blog", perspectives=2),
    UntiedConfig((4, 2, 8), perspectives=2),
    DenseConfig(16, (8, 4), 2, draw=True),
    HalfKpConfig(32, (8,)),
    KpConfig(32, (8, 4)),
    SfnnConfig("halfkahm2", 64, (7, 8), ("k3k3",)),
    SfnnConfig("ka2", 64, (8, 8), ("hand4", "progress2")),
    DenseConfig(16, (8,), 2, activation="dual", king="mirrored"),
    LiteConfig((4, 2, 8), lines=("diagonals",), king="zones", buckets=2),
    UntiedConfig((4, 4, 8), perspectives=2, activation="pairwise", shortcut=True, stacks=("k3k3",)),
]
NAMED = [pytest.param(config, id="-".join(map(str, config.as_json().values()))) for config in NETWORKS]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("config", NAMED)
def test_steps_equal_those_of_the_fused_step(config, device: str, batch: Batch) -> None:
    """Compare losses, gradients, running statistics, and the network in evaluation mode afterwards."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    fused = config.build().double()
    with torch.no_grad():
        for part in fused.parameters():  # no part is zero
            part.add_(0.05 * torch.randn_like(part))
    gathered = copy.deepcopy(fused).to(device)
    arrays = (batch.pieces, batch.hands, batch.in_check)
    target = torch.from_numpy(batch.result).double()[:, None]
    there = list(tensors(batch, device))
    values = {fused: lambda: fused.outputs(*arrays), gathered: lambda: gathered.gathered_outputs(*there)}
    losses: list[list[float]] = []
    for net, value in values.items():
        optimiser = torch.optim.AdamW(net.parameters(), lr=0.003)
        losses.append([])
        for step in range({"half_kp": 20, "sfnn": 5}.get(config.name, 100)):
            optimiser.zero_grad()
            outputs = value()
            wanted = target.to(outputs).expand_as(outputs)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(outputs, wanted)
            loss.backward()
            if step == 0:
                net.first = [part.grad.cpu().clone() for part in net.parameters() if part.numel()]
            optimiser.step()
            losses[-1].append(loss.item())
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(losses[1], losses[0], rtol=0, atol=1e-9)
    for ours, theirs in zip(gathered.first, fused.first, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    for name, number in fused.state_dict().items():
        torch.testing.assert_close(gathered.state_dict()[name].cpu(), number, rtol=1e-6, atol=1e-6, msg=name)
    with torch.no_grad():
        fused.eval(), gathered.eval()
        gathered.load_state_dict(fused.state_dict())
        torch.testing.assert_close(values[gathered]().cpu(), values[fused](), rtol=0, atol=1e-9)


@pytest.mark.parametrize("config", NAMED)
def test_all_tensors_are_on_the_device(config, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device `meta` has no numbers but, like a GPU, refuses to mix its tensors with others."""
    monkeypatch.setattr(layer_stacks, "MOST_AT_ONCE", 1000)  # sorting positions by their stacks needs numbers
    net = config.build().to("meta")
    logits = net.gathered_outputs(*(tensor.to("meta") for tensor in tensors(batch)))
    logits.sum().backward()
    assert logits.device.type == "meta"
    assert {part.device.type for part in net.state_dict().values()} == {"meta"}
    assert all(part.grad.device.type == "meta" for part in net.parameters() if part.numel())
    if net.listed:
        inputs = listed_inputs(batch.pieces, batch.hands, batch.in_check)
        assert net(*(tensor.to("meta") for tensor in inputs)).device.type == "meta"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("config", NAMED)
def test_the_plain_module_and_the_fold_use_the_device(config, batch: Batch) -> None:
    net = config.build().double().eval()
    there = copy.deepcopy(net).to("cuda")
    if net.listed:
        inputs = listed_inputs(batch.pieces, batch.hands, batch.in_check)
        expected = net(*inputs)
        found = there(*(tensor.to("cuda") for tensor in inputs))
        torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=1e-9)
    folded = [[*one.first_layer(), *(part for layer in one.layers() for part in layer)] for one in (there, net)]
    for ours, theirs in zip(*folded, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_every_kind_is_among_the_tested_networks() -> None:
    assert {config.name for config in NETWORKS} == set(CONFIGS)
