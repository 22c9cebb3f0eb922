"""Rounding in training: outputs and losses near those of the exported integers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from export.fold import fold_checked
from export.positions import Sample, random_sample, read_sample
from export.quantise import quantise, quantised_logits
from export.quantise_nnue import quantise_nnue
from lite.networks.activation import ACTIVATIONS
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.rounding import Rounding
from lite.networks.sfnn import SfnnConfig
from lite.networks.units import OUTPUT_SCALE
from lite.networks.value_network import NetworkConfig, ValueNetwork
from lite.training.checkpoint import load_model
from lite.training.folder import network_file
from lite.training.log import EpochTest, lines_of, read_log
from lite.training.metrics import log_losses
from lite.training.options import ValueTraining
from lite.training.train import train_value
from search.evaluation.network import EvalNetwork
from search.evaluation.static_evaluation import evaluate_batch
from search.system.options import OptionError

NN_BIN = [
    KpConfig(32, (8,)),
    HalfKpConfig(32, (16, 32)),
    SfnnConfig("kp", 64, (7, 16), ()),
    SfnnConfig("halfkahm2", 64, (8, 16), ("k3k3",)),
]
LIGHT = [
    DenseConfig(32, (16,)),
    DenseConfig(32, (16, 8), 2, draw=True, activation="dual"),
    DenseConfig(32, (15,), activation="squared", buckets=3),
    DenseConfig(64, (15, 8), 2, activation="pairwise", hidden_squares=True, shortcut=True, stacks=("hand4",)),
    LiteConfig((4, 2, 16), perspectives=2),
    LiteConfig((4, 2, 15), activation="pairwise", shortcut=True),
]


@pytest.fixture(scope="module")
def sample_games() -> Path:
    """Return 300 engine games, hcpe3."""
    return Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


def made(config: NetworkConfig) -> ValueNetwork:
    """Return a network with random statistics and weights that differ between stacks."""
    torch.manual_seed(5)
    net = config.build()
    sample = random_sample(600)
    net.train()
    for _ in range(30):  # batch normalisations learn their statistics
        net.outputs(sample.pieces, sample.hands, sample.in_check)
    with torch.no_grad():
        for stack in net.layer_stacks.own_weight if net.layer_stacks is not None else ():
            stack.add_(torch.randn_like(stack) * 0.03)
    return net.eval()


def integers(net: ValueNetwork, sample: Sample) -> EvalNetwork:
    folded = fold_checked(net, sample)[0]
    return quantise_nnue(folded, sample=sample) if net.fixed_units else quantise(folded, sample)


def logits(net: ValueNetwork, sample: Sample, rounded: bool) -> np.ndarray:
    net.round_outputs(rounded)
    with torch.no_grad():
        found = net.logits(sample.pieces, sample.hands, sample.in_check).double().numpy()
    net.round_outputs(False)
    return np.asarray(found)


def rms(error: np.ndarray) -> float:
    return float(np.sqrt((error**2).mean()))


@pytest.mark.parametrize("config", NN_BIN, ids=str)
def test_outputs_are_those_of_an_nn_bin(config: NetworkConfig) -> None:
    """The remaining difference is the rounding of biases to int32, and the mean error that the export subtracts."""
    net, sample = made(config), random_sample(600)
    whole = evaluate_batch(integers(net, sample), sample.pieces, sample.hands, sample.in_check)[:, 0]
    found = whole / OUTPUT_SCALE  # before the division by FV_SCALE
    exact, rounded = (logits(net, sample, one) for one in (False, True))
    assert rms((rounded - found) - (rounded - found).mean()) < 0.25 * rms(exact - found)


@pytest.mark.parametrize("config", LIGHT, ids=str)
def test_rounding_of_light_networks_costs_as_much_as_their_integers(config: NetworkConfig) -> None:
    """The export chooses its shifts by trial, so its error differs but has about the same size."""
    net, sample = made(config), random_sample(600)
    found = quantised_logits(integers(net, sample), sample)
    exact, rounded = (logits(net, sample, one) for one in (False, True))
    assert 0.2 < rms(rounded - exact) / rms(found - exact) < 5


def test_squares_are_those_of_the_kernels() -> None:
    lanes = np.arange(128)
    exact = torch.from_numpy((lanes / 127) ** 2)[None]
    rounded, units = Rounding(ACTIVATIONS["squared"], 1).round_inputs(exact)
    np.testing.assert_array_equal(torch.round(rounded / units)[0], lanes * lanes + 64 >> 7)


@pytest.mark.parametrize("config", NN_BIN + LIGHT, ids=str)
def test_every_path_rounds_equally(config: NetworkConfig) -> None:
    net, sample = made(config).double(), random_sample(60)
    net.round_outputs(True)
    arrays = (sample.pieces, sample.hands, sample.in_check)
    gradients = []
    for found in (net.outputs(*arrays), net.gathered_outputs(*map(torch.from_numpy, arrays))):
        net.zero_grad()
        found.sum().backward()  # type: ignore[no-untyped-call]
        grads = {name: part.grad for name, part in net.named_parameters() if part.grad is not None}
        gradients.append((found.detach(), {name: grad.clone() for name, grad in grads.items()}))
    (one, of_one), (other, of_other) = gradients
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
    for name in of_one:
        torch.testing.assert_close(of_one[name], of_other[name], rtol=1e-7, atol=1e-9)


def test_a_resumed_run_has_the_same_bits(sample_games: Path, tmp_path: Path) -> None:
    options = ValueTraining(
        (sample_games,),
        tmp_path / "whole",
        network=DenseConfig(16, (8,)),
        epochs=2,
        batch_size=1024,
        quantised_epochs=1,
    )
    train_value(options)
    cut = dataclasses.replace(options, output=tmp_path / "cut", max_steps=5)
    train_value(cut)
    train_value(dataclasses.replace(cut, max_steps=None, resume=True))
    whole, resumed = (load_model(tmp_path / name)[0].state_dict() for name in ("whole", "cut"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    with pytest.raises(OptionError, match="quantised_epochs"):
        train_value(dataclasses.replace(options, output=tmp_path / "other", quantised_epochs=3))


def test_the_rounded_loss_is_that_of_the_integers(
    sample_games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is logged and printed after epochs that round, and is much nearer to the folded network's loss."""
    raw, stop = sample_games.read_bytes(), 0
    while stop < 60_000:  # whole games without candidates
        stop += 36 + 6 * int.from_bytes(raw[stop + 32 : stop + 34], "little")
    data, valid = tmp_path / "data.hcpe3", tmp_path / "valid.hcpe3"
    data.write_bytes(raw[stop:])
    valid.write_bytes(raw[:stop])
    network = KpConfig(32, (8,))
    options = ValueTraining(
        (data,), tmp_path / "run", valid=(valid,), network=network, epochs=2, batch_size=1024, lambda_=0
    )
    train_value(dataclasses.replace(options, quantised_epochs=1))
    first, second = lines_of(EpochTest, read_log(tmp_path / "run"))
    assert "rounded_loss" not in first.parts
    rounded = second.parts["rounded_loss"]
    assert f"{rounded:.4f}" in capsys.readouterr().err
    sample = read_sample((valid,), 1_000_000)
    assert sample.result is not None
    net = load_model(network_file(options.output))[0]
    whole = quantise_nnue(fold_checked(net, sample)[0])  # without a sample, no mean error is subtracted
    outputs = evaluate_batch(whole, sample.pieces, sample.hands, sample.in_check)[:, 0] / OUTPUT_SCALE
    assert abs(log_losses(outputs, sample.result).mean() - rounded) < 1e-4
