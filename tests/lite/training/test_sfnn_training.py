"""Training of SFNN: learning, start from other networks and files, and fitting of the progress table."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from export.fold import fold_checked
from export.nnue import write_nnue
from export.positions import random_sample
from export.quantise_nnue import quantise_nnue
from lite.networks.from_integers import trainable
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import KpConfig, NnueNetwork
from lite.networks.sfnn import SfnnConfig, SfnnNetwork
from lite.networks.transfer import source_stacks, start_from
from lite.networks.value_network import NetworkConfig
from lite.training.checkpoint import load_model, save_model
from lite.training.game_progress import learn_progress_table, read_progress_table
from lite.training.log import Steps, lines_of, read_log
from lite.training.loss import value_loss
from lite.training.options import ValueTraining
from lite.training.train import train_value
from lite.training.training_speed import synthetic_batch
from lite.training.win_rate_model import WinRateModel
from search.evaluation.evaluation_speed import random_network
from search.evaluation.network import PAIRWISE
from search.evaluation.network_file import load_network
from search.system.options import OptionError

SMALL = SfnnConfig("kp", 64, (7, 16), ("k3k3",))


def made(config: SfnnConfig) -> SfnnNetwork:
    torch.manual_seed(3)
    net = config.build()
    with torch.no_grad():
        for part in net.parameters():
            part.add_(torch.randn_like(part) * 0.03)
    return net.eval()


def outputs(net: SfnnNetwork | NnueNetwork) -> torch.Tensor:
    batch = synthetic_batch(80, seed=4)
    return net.outputs(batch.pieces, batch.hands, batch.in_check).detach()


def test_training_learns_and_resumes_with_the_same_bits(sample_bytes: list[bytes], tmp_path: Path) -> None:
    games = tmp_path / "games.hcpe3"
    games.write_bytes(b"".join(sample_bytes[:25]))
    config = SfnnConfig("kp", 64, (7, 16), ("progress2", "k3k3"))
    options = ValueTraining((games,), tmp_path / "whole", network=config, epochs=2, batch_size=128)
    train_value(options)
    cut = dataclasses.replace(options, output=tmp_path / "cut", max_steps=5)
    train_value(cut)
    train_value(dataclasses.replace(cut, max_steps=None, resume=True))
    whole, resumed = (load_model(tmp_path / name)[0].state_dict() for name in ("whole", "cut"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert int(whole["layer_stacks.progress_weight"].abs().max()) > 0
    losses = [line.loss for line in lines_of(Steps, read_log(tmp_path / "whole"))]
    assert losses[-1] < losses[0]


def test_a_progress_table_fits_the_move_numbers(tmp_path: Path) -> None:
    batch = synthetic_batch(3000, seed=1)
    early = batch.hands.sum(1) < 8
    batch.ply[:] = np.where(early, 10, 90)
    weight, bias = learn_progress_table([batch])
    net = SfnnConfig("kp", 64, (8, 16), ("progress2",)).build()
    assert net.layer_stacks is not None
    net.layer_stacks.set_progress(weight, bias)
    part = net.layer_stacks.index(torch.from_numpy(batch.pieces), torch.from_numpy(batch.hands)).numpy()
    assert ((part == 1) != early).mean() > 0.9
    batch.ply[:] = -1
    with pytest.raises(ValueError, match="move number"):
        learn_progress_table([batch])
    plain = np.random.default_rng(1).normal(0, 0.3, (81, 1548))
    plain.tofile(tmp_path / "progress.bin")
    found, bias = read_progress_table(tmp_path / "progress.bin")
    assert (np.abs(found - 65536 * plain) <= 0.5).all()
    assert bias == 0


def test_a_run_resumes_with_its_own_progress_table_alone(sample_games: Path, tmp_path: Path) -> None:
    tables = [tmp_path / name for name in ("one.bin", "other.bin", "moved.bin")]
    for table, seed in zip(tables, (1, 2, 1), strict=True):
        np.random.default_rng(seed).normal(0, 0.3, (81, 1548)).tofile(table)
    network = SfnnConfig("kp", 64, (7, 16), ("progress2",))
    run = ValueTraining((sample_games,), tmp_path / "run", network=network, batch_size=512, max_steps=1)
    train_value(dataclasses.replace(run, progress_table=tables[0]))
    resumed = dataclasses.replace(run, resume=True)
    for table in (tables[1], None):
        with pytest.raises(ValueError, match="begun with progress_table"):
            train_value(dataclasses.replace(resumed, progress_table=table))
    train_value(dataclasses.replace(resumed, progress_table=tables[2]))


@pytest.mark.parametrize("network", [LiteConfig(), SfnnConfig("kp", 64, (8, 16), ("k3k3",))])
def test_a_table_without_a_progress_axis_is_refused(network: NetworkConfig, tmp_path: Path) -> None:
    table = tmp_path / "progress.bin"
    options = ValueTraining((tmp_path / "a.psv",), tmp_path / "run", network=network, progress_table=table)
    with pytest.raises(OptionError) as refusal:
        options.check()
    assert refusal.value.fields == ("progress_table",)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e308, 1e6, np.uint64(0x7FF0_0000_0000_0001).view("f8")])
def test_numbers_of_no_progress_table_are_refused_without_a_warning(number: float, tmp_path: Path) -> None:
    np.full((81, 1548), number, "<f8").tofile(tmp_path / "progress.bin")
    with pytest.raises(ValueError, match="its numbers are no progress table"):
        read_progress_table(tmp_path / "progress.bin")


@pytest.mark.parametrize(
    "changes",
    [{"stacks": ("hand4", "k3k3")}, {"stacks": ("k9k9",)}, {"width": 128}, {"width": 192, "stacks": ("k9k9z",)}],
)
def test_a_larger_network_starts_with_the_same_outputs(changes) -> None:
    source, model = made(SMALL), made(dataclasses.replace(SMALL, **changes))
    start_from(model, source)
    torch.testing.assert_close(outputs(model), outputs(source), rtol=0, atol=1e-5)
    if len(model.bias) > 64:
        assert float(model.table[:, 32:64].detach().abs().max()) > 0  # new lanes have gradients


def test_a_smaller_network_keeps_the_used_lanes() -> None:
    source, wide, again = made(SMALL), made(dataclasses.replace(SMALL, width=128)), made(SMALL)
    start_from(wide, source)
    start_from(again, wide)
    torch.testing.assert_close(outputs(again), outputs(source), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="hidden"):
        start_from(made(dataclasses.replace(SMALL, hidden=(8, 16))), source)
    with pytest.raises(ValueError, match="stacks by k3k3"):
        start_from(made(dataclasses.replace(SMALL, stacks=())), source)


def test_every_stack_starts_from_the_stack_of_its_positions() -> None:
    np.testing.assert_array_equal(source_stacks(("k3k3",), ()), np.zeros(9))
    fine = source_stacks(("k9k9",), ("k3k3",)).reshape(9, 9)
    assert fine[4, 8] == 3 * 1 + 2
    assert source_stacks(("hand4", "k3k3"), ("k3k3",)).tolist() == list(range(9)) * 4
    assert source_stacks(("progress8",), ("progress2",)).tolist() == [0] * 4 + [1] * 4
    # Where no part lies within one part of the source: the one that holds most of its steps.
    assert source_stacks(("progress2",), ("progress3",)).tolist() == [0, 2]
    assert source_stacks(("progress4",), ("progress3",)).tolist() == [0, 1, 1, 2]
    assert source_stacks(("progress3",), ("progress4",)).tolist() == [0, 2, 3]
    assert source_stacks(("progress2",), ("progress8",)).tolist() == [0, 4]


@pytest.mark.parametrize("stacks", [("k3k3",), ("progress2",), ()])
def test_a_network_from_an_nn_bin_can_be_trained(stacks: tuple[str, ...], tmp_path: Path) -> None:
    config = dataclasses.replace(SMALL, stacks=stacks)
    integer = quantise_nnue(fold_checked(made(config), random_sample(20))[0])
    write_nnue(integer, tmp_path / "nn.bin")
    net = trainable(load_network(tmp_path / "nn.bin"))
    assert net.config == config.as_json()
    again = quantise_nnue(fold_checked(net, random_sample(20))[0])
    np.testing.assert_array_equal(again.rows, integer.rows)
    for ours, theirs in zip(again.layers, integer.layers, strict=True):
        np.testing.assert_array_equal(ours.weight, theirs.weight)
    torch.testing.assert_close(outputs(net), outputs(made(config)), rtol=0, atol=0.06)


def test_a_network_from_an_nn_bin_has_the_logits_of_its_fv_scale(tmp_path: Path) -> None:
    for config in (SMALL, KpConfig(32, (8, 16))):
        write_nnue(quantise_nnue(fold_checked(made(config), random_sample(20))[0]), tmp_path / "nn.bin")
        plain, scaled = (outputs(trainable(load_network(tmp_path / "nn.bin", scale))) for scale in (16, 24))
        assert float(plain.std()) > 0
        torch.testing.assert_close(1.5 * scaled, plain, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("hidden", "parts"),
    [
        ((8,), {"activation": PAIRWISE, "hidden_squares": True}),
        ((8, 8, 8), {"activation": PAIRWISE, "hidden_squares": True}),
        ((9, 8), {"activation": PAIRWISE, "hidden_squares": True, "shortcut": True}),
        ((8, 8), {"stacks": ("k3k3",)}),
        ((8, 8), {"shortcut": True}),
    ],
)
def test_layers_that_no_trained_network_has_are_refused(hidden: tuple[int, ...], parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no kind of network is trained with k_p"):
        trainable(random_network("k_p", 64, hidden, 2, **parts))


def test_a_run_starts_from_an_nn_bin_or_reports_why_not(sample_games: Path, tmp_path: Path) -> None:
    write_nnue(quantise_nnue(fold_checked(made(SMALL), random_sample(20))[0]), tmp_path / "nn.bin")
    options = ValueTraining(
        (sample_games,), tmp_path / "run", network=SMALL, init_from=tmp_path / "nn.bin", batch_size=512, max_steps=1
    )
    train_value(options)
    other = dataclasses.replace(options, output=tmp_path / "other", network=dataclasses.replace(SMALL, features="ka2"))
    with pytest.raises(OptionError, match="holds a network of"):
        train_value(other)


def test_losses_of_other_trainers_are_supported(sample_games: Path, tmp_path: Path) -> None:
    """The penalty on saturation and the win rates of nnue-pytorch change the log and the weights."""
    start = made(SMALL)
    with torch.no_grad():
        for layer in start.hidden_layers():
            layer.weight.mul_(4)  # beyond the range of activations
    save_model(tmp_path / "start.safetensors", start, {})
    options = ValueTraining(
        (sample_games,),
        tmp_path / "plain",
        network=SMALL,
        init_from=tmp_path / "start.safetensors",
        batch_size=512,
        max_steps=2,
    )
    variants = {"plain": {}, "saturation": {"saturation": 10.0}, "wrm": {"wrm": (270.0, 340.0), "error_exponent": 2.5}}
    states = {}
    for name, changes in variants.items():
        train_value(dataclasses.replace(options, output=tmp_path / name, **changes))
        states[name] = load_model(tmp_path / name)[0].state_dict()
    for name in ("saturation", "wrm"):
        assert not torch.equal(states[name]["bias"], states["plain"]["bias"])
    other = dataclasses.replace(options, output=tmp_path / "other", network=KpConfig(32, (8,)), init_from=None)
    with pytest.raises(OptionError, match="saturation"):
        train_value(dataclasses.replace(other, saturation=1.0))


def test_win_rates_of_the_model_by_hand() -> None:
    model = WinRateModel(270, 340, 600)
    scores = np.array([-32000, -500, 0, 500, 32000])
    rates = model.of_scores(scores)
    win, loss = (1 / (1 + np.exp(-(sign * 500 - 270) / 340)) for sign in (1, -1))
    np.testing.assert_allclose(rates, [0, 1 - 0.5 * (1 + win - loss), 0.5, 0.5 * (1 + win - loss), 1])
    logits = torch.tensor([-500, 0, 500]) / 600
    np.testing.assert_allclose(model.of_logits(logits).numpy(), rates[1:4], atol=1e-6)
    best = value_loss(logits, torch.from_numpy(rates[1:4]).float(), 2.5, model)
    assert float(best.max()) < 1e-9
