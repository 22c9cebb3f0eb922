"""A trained NNUE becomes the integers of an nn.bin at its scales, with nearly the same outputs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.network_kinds.exporting import export
from export.fold import Folding, fold_checked, fold_file
from export.nnue import import_nnue
from export.positions import Sample
from export.quantise import cost_of, quantised_logits
from export.quantise_nnue import quantise_nnue
from lite.networks.nnue import NnueNetwork
from lite.networks.sfnn import SfnnNetwork
from lite.networks.value_network import ValueNetwork
from lite.training.checkpoint import save_model
from liteshogi.commands.export import Command as Export
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_sfens

SFENS = ("startpos", "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1")


def made(features: str) -> NnueNetwork:
    torch.manual_seed(5)
    net = NnueNetwork(features, 32, (8, 32))  # type: ignore[arg-type]
    with torch.no_grad():
        for part in (net.table, net.king, net.piece, net.relative, net.bias):
            part.add_(torch.randn_like(part) * 0.05)
        for layer in net.hidden_layers():
            layer.weight.mul_(1.5)
    return net.eval()


@pytest.mark.parametrize("features", ["half_kp", "k_p"])
def test_the_fold_is_exact_and_the_integers_are_near(features: str, positions: Sample) -> None:
    net, sample = made(features), positions.part(0, 500)
    folded, error = fold_checked(net, sample)
    assert error < 1e-12
    integer = quantise_nnue(folded)
    assert (np.abs(integer.rows - 127 * folded.rows) <= 0.5).all()
    assert (np.abs(integer.layers[0].weight - 64 * folded.layers[0][0]) <= 0.5).all()
    assert (np.abs(integer.layers[2].weight - 9600 / 127 * folded.layers[2][0]) <= 0.5).all()
    assert [layer.shift for layer in integer.layers] == [6, 6, 0]
    assert (integer.input_shift, integer.output_divisor, integer.logit_per_output) == (0, 16, 1 / 600)
    exact = folded.logits(sample)
    cost = cost_of(exact, quantised_logits(integer, sample), sample)
    assert cost.mean_error < 0.1 * exact.std() + 0.02


def test_weights_that_lie_on_the_grid_are_kept_exactly(positions: Sample) -> None:
    """Integers converted to floats and quantised again are the same, so nothing but rounding changes weights."""
    folded, _ = fold_checked(made("k_p"), positions.part(0, 10))
    first = quantise_nnue(folded)
    layers = []
    for number, layer in enumerate(first.layers):
        last = number == 2
        unit = 9600 if last else 127 * 64
        layers.append((layer.weight / (unit / 127), (layer.bias - (0 if last else 32)) / unit))
    grid = dataclasses.replace(folded, rows=first.rows / 127, bias=first.bias / 127, layers=tuple(layers))
    again = quantise_nnue(grid)
    assert (again.rows == first.rows).all()
    assert (again.bias == first.bias).all()
    for one, two in zip(first.layers, again.layers, strict=True):
        assert (one.weight == two.weight).all()
        assert (one.bias == two.bias).all()


@pytest.mark.parametrize("part", ["rows", "weights", "bias"])
def test_overflow_is_refused(part: str, positions: Sample) -> None:
    folded, _ = fold_checked(made("k_p"), positions.part(0, 10))
    layers = list(folded.layers)
    if part == "rows":
        folded = dataclasses.replace(folded, rows=folded.rows * 100)
    elif part == "weights":
        layers[1] = (layers[1][0] * 100, layers[1][1])
    else:
        layers[1] = (layers[1][0], layers[1][1] + 1e9)
    with pytest.raises(ValueError, match="overflow"):
        quantise_nnue(dataclasses.replace(folded, layers=tuple(layers)))


def test_from_a_trained_network_to_an_nn_bin(tmp_path: Path) -> None:
    save_model(tmp_path / "network.safetensors", made("k_p"), {"cp_per_logit": 480.0})
    figures = fold_file(Folding(tmp_path / "network.safetensors", tmp_path / "net.safetensors", positions=2000))
    assert figures.float64_max_error < 1e-12
    assert figures.shape == (1710, 64, 8, 32, 1)
    export(str(tmp_path / "net.safetensors"), tmp_path / "nn.bin")
    folded, exported = load_network(tmp_path / "net.safetensors"), load_network(tmp_path / "nn.bin")
    assert folded.cp_per_logit == 480.0
    assert exported.provenance["nn_bin"]["architecture"].startswith("Features=K+P[1710->32x2]")
    for one, two in zip(evaluate_sfens(folded, SFENS), evaluate_sfens(exported, SFENS), strict=True):
        assert one.output == two.output  # YaneuraOu's value of it is 600 times the logit
        assert two.score_cp == int(one.output / 16)


@pytest.mark.parametrize(("cp_per_logit", "fv_scale"), [(300.0, 32), (420.0, 23), (600.0, 16), (1200.0, 8)])
def test_the_reported_fv_scale_keeps_centipawns(
    cp_per_logit: float, fv_scale: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(tmp_path / "network.safetensors", made("k_p"), {"cp_per_logit": cp_per_logit})
    net, again, unscaled = (tmp_path / f"{name}.safetensors" for name in ("net", "again", "unscaled"))
    fold_file(Folding(tmp_path / "network.safetensors", net, positions=500))
    Export(str(net), tmp_path / "nn.bin").run()
    printed = capsys.readouterr().out
    assert f"FV_SCALE to {fv_scale}" in printed
    readers = "readers without that option use 16"
    assert (readers in printed) == (fv_scale != 16)
    import_nnue(tmp_path / "nn.bin", again, fv_scale)
    import_nnue(tmp_path / "nn.bin", unscaled)
    scores = [[one.score_cp for one in evaluate_sfens(load_network(path), SFENS)] for path in (net, again, unscaled)]
    assert max(map(abs, scores[0])) > 50
    # Within the error of the division and of an integer FV_SCALE.
    assert scores[1] == pytest.approx(scores[0], rel=0.01, abs=2)
    assert scores[2] == pytest.approx([score * 600 / cp_per_logit for score in scores[0]], rel=0.01, abs=4)
    Export(str(again), tmp_path / "copy.bin", json=True).run()
    assert json.loads(capsys.readouterr().out)["fv_scale"] == fv_scale
    assert (tmp_path / "copy.bin").read_bytes() == (tmp_path / "nn.bin").read_bytes()


@pytest.mark.parametrize(("cp_per_logit", "fv_scale", "kept"), [(50.0, 128, 75), (20000.0, 1, 9600)])
def test_the_fv_scale_is_within_the_range_of_yaneuraou(
    cp_per_logit: float, fv_scale: int, kept: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(tmp_path / "network.safetensors", made("k_p"), {"cp_per_logit": cp_per_logit})
    fold_file(Folding(tmp_path / "network.safetensors", tmp_path / "net.safetensors", positions=100))
    Export(str(tmp_path / "net.safetensors"), tmp_path / "nn.bin").run()
    printed = capsys.readouterr().out
    assert f"FV_SCALE to {fv_scale}" in printed
    assert f"{kept} cp per logit, the nearest to the network's {cp_per_logit:.0f}" in printed


@pytest.mark.parametrize("network", [made("k_p"), SfnnNetwork("kp", 64, (7, 16))], ids=["nnue", "sfnn"])
def test_an_nnue_has_no_onnx_form(network: ValueNetwork, tmp_path: Path) -> None:
    """Of an SFNN the features are the reason, not its stacks: other networks with them are written."""
    save_model(tmp_path / "network.safetensors", network, {})
    with pytest.raises(ValueError, match="no network with the feature set k_p"):
        export(str(tmp_path / "network.safetensors"), tmp_path / "net.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["network.safetensors"]
