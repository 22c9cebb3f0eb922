"""Training of NNUE: features equal those of the search, factors are merged into rows, weights stay within int8."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from lite.networks.build import CONFIGS
from lite.networks.feature_rows import list_feature_rows
from lite.networks.nnue import HIDDEN_LIMIT, OUTPUT_LIMIT, KpConfig, NnueNetwork
from lite.networks.value_network import listed_inputs
from lite.records.batch import Batch
from lite.training.checkpoint import load_model, save_model
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.train import train_value
from lite.training.training_speed import synthetic_batch
from search.evaluation.feature_sets import feature_set
from search.rules.shogi import EMPTY, KINDS, KING


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Random boards; some lack pieces, as in handicap games."""
    found = synthetic_batch(200, seed=3)
    for pieces, hands in zip(found.pieces[:40], found.hands[:40], strict=True):
        taken = np.flatnonzero((pieces != EMPTY) & (pieces % KINDS != KING))[::7]
        pieces[taken] = EMPTY
        hands[3] = 0
    found.hands[40] = 0
    found.hands[40, 0], found.hands[40, 7] = 17, 1
    return found


def made(features: str, width: int = 32, hidden: tuple[int, ...] = (8, 4)) -> NnueNetwork:
    """Return a network without zero parts."""
    torch.manual_seed(2)
    net = NnueNetwork(features, width, hidden)  # type: ignore[arg-type]
    with torch.no_grad():
        for part in (net.table, net.king, net.piece, net.relative, net.bias):
            part.add_(torch.randn_like(part) * 0.1)
    return net


@pytest.mark.parametrize("features", ["half_kp", "k_p"])
def test_rows_equal_those_of_the_search(features: str, batch: Batch) -> None:
    chosen = feature_set(features)
    rows, start = list_feature_rows(chosen, batch.pieces, batch.hands)
    assert len(start) == 2 * len(batch) + 1
    for view in range(2):
        expected = chosen.active_rows(batch.pieces, batch.hands, view)
        for position, listed in enumerate(expected):
            sample = 2 * position + view
            assert sorted(rows[start[sample] : start[sample + 1]]) == sorted(listed[listed < chosen.rows])


def reference_logits(net: NnueNetwork, batch: Batch) -> torch.Tensor:
    """Return the logits by plain PyTorch operations with explicit factors."""
    features = net.feature_set
    table = net.table
    if len(net.king):
        row = np.arange(features.rows)
        king, piece = row // 1548, row % 1548
        plane, square = (piece - 90) // 81, (piece - 90) % 81
        near = plane * 289 + (square // 9 - king // 9 + 8) * 17 + square % 9 - king % 9 + 8
        on_board = torch.from_numpy(piece >= 90)
        relative = net.relative[torch.from_numpy(np.where(piece >= 90, near, 0))] * on_board[:, None]
        table = table + net.king[torch.from_numpy(king)] + net.piece[torch.from_numpy(piece)] + relative
    table = torch.cat((table, torch.zeros(1, table.shape[1], dtype=table.dtype)))
    views = []
    for view in range(2):
        rows = torch.from_numpy(features.active_rows(batch.pieces, batch.hands, view)).long()
        views.append(torch.nn.functional.embedding_bag(rows, table, mode="sum") + net.bias)
    outputs = torch.cat(views, 1).clamp(0, 1)
    *hidden, last = net.hidden_layers()
    for layer in hidden:
        outputs = layer(outputs).clamp(0, 1)
    return last(outputs).squeeze(1)


@pytest.mark.parametrize("features", ["half_kp", "k_p"])
def test_values_and_gradients_equal_those_of_plain_operations(features: str, batch: Batch) -> None:
    net = made(features).double()
    other = copy.deepcopy(net)
    found, expected = net.logits(batch.pieces, batch.hands, batch.in_check), reference_logits(other, batch)
    assert float(expected.detach().std()) > 0.01
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    weight = torch.linspace(-1, 1, len(batch), dtype=torch.float64)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    gradients = 0
    for (name, one), two in zip(net.named_parameters(), other.parameters(), strict=True):
        if one.numel():
            assert float(two.grad.abs().max()) > 0, name
            torch.testing.assert_close(one.grad, two.grad, rtol=0, atol=1e-11, msg=name)
            gradients += 1
    assert gradients == (11 if features == "half_kp" else 8)


def test_one_thread_is_reproducible_to_the_bit_and_more_are_close(batch: Batch) -> None:
    net = made("half_kp")
    values = []
    for threads in (1, 1, 2):
        torch.set_num_threads(threads)
        net.zero_grad()
        net.logits(batch.pieces, batch.hands, batch.in_check).sum().backward()
        assert net.relative.grad is not None
        values.append(net.relative.grad.clone())
    assert torch.equal(values[0], values[1])
    torch.testing.assert_close(values[0], values[2], rtol=1e-3, atol=1e-5)


def test_weights_are_within_int8_at_every_gradient(batch: Batch) -> None:
    net = made("k_p")
    arrays = (batch.pieces, batch.hands, batch.in_check)
    with torch.no_grad():
        for layer in net.hidden_layers():
            layer.weight.mul_(100)
    outside = net.eval().logits(*arrays)
    for (weight, _), limit in zip(net.layers(), (HIDDEN_LIMIT, HIDDEN_LIMIT, OUTPUT_LIMIT), strict=True):
        assert abs(weight).max() == pytest.approx(limit)
    assert torch.equal(net.train().logits(*arrays), outside)
    for layer, limit in zip(net.hidden_layers(), (HIDDEN_LIMIT, HIDDEN_LIMIT, OUTPUT_LIMIT), strict=True):
        assert float(layer.weight.detach().abs().max()) == pytest.approx(limit)
    assert HIDDEN_LIMIT * 64 == 127
    assert pytest.approx(127) == OUTPUT_LIMIT * 9600 / 127


def test_a_new_network_passes_gradients(batch: Batch) -> None:
    """Initial sums are within 0..1 in every layer."""
    torch.manual_seed(0)
    net = NnueNetwork("half_kp", 256, (32, 32))
    assert net.piece.shape == (1548, 256)
    assert net.relative.shape == (5202, 256)
    loss = net.logits(batch.pieces, batch.hands, batch.in_check).square().sum()
    loss.backward()
    for name, part in net.named_parameters():
        assert float((part.grad != 0).float().mean()) > (0.0001 if name == "table" else 0.05), name


@pytest.mark.parametrize("features", ["half_kp", "k_p"])
def test_files_keep_weights_and_configuration(features: str, batch: Batch, tmp_path: Path) -> None:
    net = made(features).eval()
    save_model(tmp_path / "network.safetensors", net, {"step": 3})
    again, training = load_model(tmp_path)
    assert training.provenance == {"step": 3}
    assert isinstance(again, NnueNetwork)
    assert again.config == net.config
    arrays = (batch.pieces, batch.hands, batch.in_check)
    assert torch.equal(again.logits(*arrays), net.logits(*arrays))
    built = CONFIGS[features](width=64, hidden=(16,)).build()
    assert (built.feature_set.name, built.perspectives, built.config["network"]) == (features, 2, features)


def test_invalid_networks_are_refused(batch: Batch) -> None:
    with pytest.raises(ValueError, match="a multiple of 32"):
        NnueNetwork("k_p", 40)
    with pytest.raises(ValueError, match="none in ONNX"):
        made("k_p")(*listed_inputs(batch.pieces, batch.hands, batch.in_check))
    with pytest.raises(ValueError, match=r"pieces must be 0\.\.28, found 29"):
        list_feature_rows(feature_set("k_p"), np.full((1, 81), 29, np.uint8), np.zeros((1, 14), np.uint8))


def test_an_interrupted_and_resumed_run_ends_with_the_same_bits(sample_games: Path, tmp_path: Path) -> None:
    options = ValueTraining(
        data=(sample_games,),
        output=tmp_path / "whole",
        network=KpConfig(width=32, hidden=(8,)),
        optimiser=OptimiserConfig(learning_rate=0.01),
        epochs=1,
        batch_size=1024,
    )
    train_value(options)
    cut = dataclasses.replace(options, output=tmp_path / "cut", max_steps=7)
    train_value(cut)
    train_value(dataclasses.replace(cut, max_steps=None, resume=True))
    whole, resumed = (load_model(tmp_path / name)[0].state_dict() for name in ("whole", "cut"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert float((whole["table"] - made("k_p").table.detach()).abs().max()) > 0
