"""A trained SFNN becomes the integers of an nn.bin, with nearly the same outputs, and is read back unchanged."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.network_kinds.exporting import export
from export.fold import Folding, fold_checked, fold_file
from export.nnue import import_nnue, nearest_fv_scale, nnue_architecture
from export.output_fit import fit_output
from export.positions import Sample
from export.quantise import quantised_logits
from export.quantise_nnue import quantise_nnue
from export.stack_costs import rare_stacks, stack_costs, stack_name
from lite.networks.sfnn import SfnnNetwork
from lite.training.checkpoint import save_model
from search.evaluation.network import evaluate_reference
from search.evaluation.network_file import load_network
from search.evaluation.stacks import make_stacks
from search.evaluation.static_evaluation import evaluate_batch

KINDS = [
    ("kp", (7, 16), ("k3k3",)),
    ("halfkahm2", (8, 32), ("hand4", "progress2")),
    ("ka2", (15, 16), ()),
]


def made(features: str, hidden: tuple[int, int], stacks: tuple[str, ...]) -> SfnnNetwork:
    """Return a network without zero parts, with weights as large as after training."""
    torch.manual_seed(5)
    net = SfnnNetwork(features, 64, hidden, stacks)  # type: ignore[arg-type]
    assert net.layer_stacks is not None
    with torch.no_grad():
        for part in (net.table, net.king, net.piece, net.relative, net.bias):
            part.add_(torch.randn_like(part) * 0.05)
        for part in net.layer_stacks.parameters():
            part.add_(torch.randn_like(part) * 0.05)
    if net.layer_stacks.has_progress:
        table = np.random.default_rng(1).integers(-50_000, 50_000, (81, 1548)).astype(np.int32)
        net.layer_stacks.set_progress(table, 20_000)
    return net.eval()


@pytest.mark.parametrize(("features", "hidden", "stacks"), KINDS)
def test_the_fold_is_exact_and_the_integers_are_near(features, hidden, stacks, positions: Sample) -> None:
    net, sample = made(features, hidden, stacks), positions.part(0, 400)
    folded, error = fold_checked(net, sample)
    assert error < 1e-9
    integer = quantise_nnue(folded, sample=sample)
    arrays = (sample.pieces, sample.hands, sample.in_check)
    np.testing.assert_array_equal(evaluate_batch(integer, *arrays), evaluate_reference(integer, *arrays))
    exact = folded.logits(sample)
    assert exact.std() > 0.05
    error = quantised_logits(integer, sample) - exact
    assert np.sqrt((error**2).mean()) < 0.12 * exact.std()
    # The scales of the format: 127, 64, 8128 and 9600.
    gain = 127 / 128
    first, second, last = (layer[0] for layer in folded.layers)
    assert (np.abs(integer.rows - 127 * folded.rows) <= 0.5).all()
    hidden_rows = integer.layers[0].weight[..., : hidden[0], :]
    assert (np.abs(hidden_rows - 64 / gain * first[..., : hidden[0], :]) <= 0.5).all()
    if net.shortcut:
        row = integer.layers[0].weight[..., hidden[0], :]
        assert (np.abs(row - 9600 / 127 / gain * first[..., hidden[0], :]) <= 0.5).all()
    assert (np.abs(integer.layers[1].weight - 64 * second) <= 0.5).all()
    assert (np.abs(integer.layers[2].weight - 9600 / 127 * last) <= 0.5).all()


@pytest.mark.parametrize(("features", "hidden", "stacks"), KINDS)
def test_an_exported_file_is_read_back_unchanged(
    features, hidden, stacks, positions: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("export.fold.CHECKED", 300)
    save_model(tmp_path / "network.safetensors", made(features, hidden, stacks), {"cp_per_logit": 600.0})
    fold_file(Folding(tmp_path / "network.safetensors", tmp_path / "folded.safetensors", positions=200))
    folded = load_network(tmp_path / "folded.safetensors")
    found = export(str(tmp_path / "folded.safetensors"), tmp_path / "nn.bin")
    name = "_".join(["SFNN", features, "64", *map(str, hidden), *stacks])
    assert (found.architecture, found.fv_scale) == (name, 16)
    read = load_network(tmp_path / "nn.bin")
    assert str(nnue_architecture(read)) == name
    sample = positions.part(0, 200)
    arrays = (sample.pieces, sample.hands, sample.in_check)
    values = evaluate_batch(read, *arrays)
    np.testing.assert_array_equal(values, evaluate_batch(folded, *arrays))
    assert len(np.unique(values)) > 100
    import_nnue(tmp_path / "nn.bin", tmp_path / "again.safetensors")
    export(str(tmp_path / "again.safetensors"), tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "nn.bin").read_bytes()


def test_sums_that_wrap_at_15_bits_are_refused(positions: Sample) -> None:
    net = made(*KINDS[0])
    with torch.no_grad():
        net.table.mul_(40)
    folded, _ = fold_checked(net, positions.part(0, 10))
    with pytest.raises(ValueError, match="15 bits"):
        quantise_nnue(folded)


def test_costs_are_measured_for_each_stack() -> None:
    stacks = make_stacks(("progress2", "hand4", "k3k3"), np.zeros((81, 1548), np.int32))
    assert stack_name(stacks, 0) == "hand4 0-0, k3k3 0-0, progress2 0"
    assert stack_name(stacks, (3 * 9 + 5) * 2 + 1) == "hand4 1-1, k3k3 1-2, progress2 1"
    stack = np.array([0] * 100 + [7] * 3)
    exact = np.linspace(-1, 1, 103)
    found = exact + np.where(stack == 7, 0.2, 0.0)
    small, large = stack_costs(stacks, stack, exact, found, None)
    assert (small.stack, small.positions, small.mean_error) == (0, 100, 0)
    assert (large.stack, large.positions, large.log_loss_change) == (7, 3, None)
    assert large.mean_error == pytest.approx(0.2)
    assert len(rare_stacks(stacks, stack)) == 71
    assert stack_name(stacks, 0) not in rare_stacks(stacks, stack)
    assert stack_costs(make_stacks(()), np.zeros(103, np.int64), exact, found, None) == ()


def test_a_fitted_output_follows_the_results(positions: Sample) -> None:
    net = quantise_nnue(fold_checked(made(*KINDS[0]), positions.part(0, 10))[0])
    sample = positions.part(0, 4000)
    logits = quantised_logits(net, sample)
    rate = 1 / (1 + np.exp(-(2.5 * logits + 0.4)))
    won = (np.random.default_rng(2).random(len(rate)) < rate).astype(np.float32)
    fitted, fit = fit_output(net, dataclasses.replace(sample, result=won))
    assert (fit.slope, fit.offset) == (pytest.approx(2.5, abs=0.5), pytest.approx(0.4, abs=0.1))
    assert fit.log_loss_change < -0.01
    assert nearest_fv_scale(fitted) == round(16 / fit.slope)
    error = quantised_logits(fitted, sample) - (fit.slope * logits + fit.offset)
    assert np.abs(error).max() < 0.01
    with pytest.raises(ValueError, match="no position has a result"):
        fit_output(net, dataclasses.replace(sample, result=None))
    with pytest.raises(ValueError, match="do not follow"):
        fit_output(net, dataclasses.replace(sample, result=1 - won))
