"""The folded network computes the same function as the trained module, and its bound on sums holds."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from export.fold import Folding, fold_checked, fold_file
from export.folded import FoldedNetwork, fold
from export.positions import Sample, random_sample
from export.quantise import quantised_logits
from lite.datasets.provenance import sha256_of
from lite.networks.dense import DenseConfig
from lite.networks.value_network import ValueNetwork
from lite.training.checkpoint import UnfoldedCorrection, save_model
from liteshogi.commands.fold import Command as Fold
from search.evaluation.feature_sets import NAMES, feature_set
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file
from search.evaluation.stacks import NO_STACKS
from search.rules.shogi import EMPTY
from search.system.options import OptionError


def test_the_fold_equals_the_module_in_float64(any_net: ValueNetwork, positions: Sample) -> None:
    folded, error = fold_checked(any_net, positions)
    assert len(positions) >= 10_000
    assert error < 1e-9
    assert folded.perspectives == any_net.perspectives


def test_a_fold_that_differs_is_refused(make_net, positions: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    net = make_net("odd")
    rows, bias = net.first_layer()
    monkeypatch.setattr(net, "first_layer", lambda: (rows + 1e-6, bias))
    monkeypatch.setattr("export.folded.copy.deepcopy", lambda module: module)
    with pytest.raises(ValueError, match="differs from the trained one"):
        fold_checked(net, positions.part(0, 500))


def test_a_network_that_learnt_nothing_is_refused_by_name(make_net, tmp_path: Path) -> None:
    net = make_net("dense")
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    save_model(tmp_path / "dead.safetensors", net, {})
    with pytest.raises(ValueError, match=r"dead\.safetensors: the network gives every position the same value"):
        fold_file(Folding(tmp_path / "dead.safetensors", tmp_path / "out.safetensors", positions=50))
    assert not (tmp_path / "out.safetensors").exists()


def test_a_network_whose_sums_overflow_is_refused_by_name(make_net, tmp_path: Path) -> None:
    net = make_net("dense")
    with torch.no_grad():
        net.table.mul_(1e4)
    save_model(tmp_path / "huge.safetensors", net, {})
    with pytest.raises(ValueError, match=r"huge\.safetensors: overflow: .*; train with"):
        fold_file(Folding(tmp_path / "huge.safetensors", tmp_path / "out.safetensors", positions=50))


@pytest.mark.parametrize("scale", [1e-30, 1e300])
def test_a_scale_that_cannot_be_computed_is_refused_with_the_option_for_it(make_net, tmp_path: Path, scale) -> None:
    save_model(tmp_path / "net.safetensors", make_net("dense"), {"cp_per_logit": scale})
    with pytest.raises(OptionError, match=r"net\.safetensors: cp_per_logit .*; give another `cp_per_logit`") as refused:
        fold_file(Folding(tmp_path / "net.safetensors", tmp_path / "out.safetensors", positions=50))
    assert refused.value.fields == ("cp_per_logit",)


def test_networks_that_cannot_be_folded_are_refused(make_net) -> None:
    net = make_net("odd")
    rows, bias = net.first_layer()

    def pretend(**changes):
        parts = {
            "activation": "relu",
            "feature_set": feature_set("piece_square"),
            "perspectives": 1,
            "buckets": 1,
            "hidden_squares": False,
            "shortcut": False,
            "stacks": NO_STACKS,
            "layers": net.layers,
        }
        return SimpleNamespace(**(parts | {"first_layer": lambda: (rows, bias)} | changes))

    assert fold(pretend()).rows.shape == rows.shape
    with pytest.raises(ValueError, match="'screlu' cannot be folded"):
        fold(pretend(activation="screlu"))
    with pytest.raises(ValueError, match="feature set k_p has 1710"):
        fold(pretend(feature_set=feature_set("k_p")))
    with pytest.raises(ValueError, match="not finite"):
        fold(pretend(first_layer=lambda: (rows * np.nan, bias)))


@pytest.mark.parametrize("name", NAMES)
def test_no_sum_exceeds_the_bound(name: str, positions: Sample) -> None:
    """Test real positions and boards filled greedily with the largest rows."""
    features = feature_set(name)
    generator = np.random.default_rng(3)
    rows = generator.normal(0, 1, (features.rows, 4))
    folded = FoldedNetwork(features, rows, generator.normal(0, 1, 4), (), 1)
    bound = folded.largest_sums()
    sums = folded._sums(positions.part(0, 3000))
    assert (np.abs(sums) <= bound).all()
    assert np.isfinite(bound).all()
    # The bound is tight: equal rows add up to at most one for each man and one for the check, and in K+A2 one
    # more for each king.
    alike = dataclasses.replace(folded, rows=np.ones_like(rows), bias=np.zeros(4))
    assert (alike.largest_sums() <= 41 + (features.second_rows is not None)).all()
    assert (alike.largest_sums() >= 38).all()


def test_the_bound_is_reached_by_a_full_hand() -> None:
    features = feature_set("piece_square")
    rows = np.zeros((features.rows, 1))
    rows[28 * 81 : 28 * 81 + 8] = 2.0  # own pawns in hand
    folded = FoldedNetwork(features, rows, np.array([0.5]), (), 1)
    hands = np.zeros((1, 14), np.uint8)
    hands[0, 0] = 18
    sample = Sample(np.full((1, 81), EMPTY, np.uint8), hands, np.zeros(1, np.bool_), None, "made up")
    assert folded._sums(sample)[0, 0] == 16.5 == folded.largest_sums()[0]


def test_random_positions_are_repeatable_and_complete() -> None:
    first, second = random_sample(500), random_sample(500)
    assert (first.pieces == second.pieces).all()
    men = (first.pieces != EMPTY).sum(1) + first.hands.sum(1)
    assert (men == 40).all()
    assert ((first.pieces == 7).sum(1) == 1).all()
    assert first.in_check.any()
    assert not first.in_check.all()


def test_the_verb_writes_and_describes_a_folded_network(
    make_net, tmp_path: Path, positions: Sample, capsys: pytest.CaptureFixture[str]
) -> None:
    net = make_net("board")
    save_model(tmp_path / "network.safetensors", net, {"cp_per_logit": 321.0, "data": ["made up"]})
    output = tmp_path / "out" / "net.safetensors"
    figures = fold_file(Folding(tmp_path / "network.safetensors", output, positions=2000, keep_float=True))
    assert figures.float64_max_error < 1e-9
    assert 0 <= figures.sign_flips < 0.05
    assert figures.accuracy_change is None
    assert figures.log_loss_change is None
    found = load_network(output)
    assert found.cp_per_logit == 321.0
    assert found.provenance["network"]["dims"] == [16, 4, 32]
    assert found.provenance["training"]["data"] == ["made up"]
    assert found.provenance["fold"] == json.loads(json.dumps(asdict(figures)))
    truth = load_file(tmp_path / "out" / "net.float.safetensors")
    assert truth["rows"].dtype == np.float32
    assert truth["rows"].shape == (2325, 72)
    part = positions.part(0, 2000)
    assert np.abs(quantised_logits(found, part) - fold(net).logits(part)).max() < 0.5
    with pytest.raises(ValueError, match="already exists; set `overwrite`"):
        fold_file(Folding(tmp_path / "network.safetensors", output, positions=100))
    Fold(str(tmp_path / "network.safetensors"), output, positions=100, cp_per_logit=500.0, overwrite=True).run()
    assert "equals the trained network" in capsys.readouterr().out
    assert load_network(output).cp_per_logit == 500.0
    for run in (tmp_path, tmp_path / "network.safetensors"):
        with pytest.raises(ValueError, match="is also an input"):
            fold_file(Folding(run, tmp_path / "network.safetensors", positions=100, overwrite=True))


def test_a_failed_fold_writes_nothing(make_net, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`positions` 0"):
        fold_file(Folding(tmp_path / "none", tmp_path / "out.safetensors", positions=0))
    for scale in (0.0, -600.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"`cp_per_logit` {scale}: "):
            fold_file(Folding(tmp_path / "none", tmp_path / "out.safetensors", cp_per_logit=scale))
    with pytest.raises(FileNotFoundError):
        fold_file(Folding(tmp_path / "missing.safetensors", tmp_path / "out.safetensors"))
    save_model(tmp_path / "network.safetensors", make_net("odd"), {})
    fold_file(Folding(tmp_path / "network.safetensors", tmp_path / "net.safetensors", positions=100))
    with pytest.raises(ValueError, match="this is a liteshogi evaluation network"):
        fold_file(Folding(tmp_path / "net.safetensors", tmp_path / "out.safetensors"))
    with pytest.raises(ValueError, match=r"mine\.png: the name must end in \.safetensors; name it mine\.safetensors"):
        fold_file(Folding(tmp_path / "network.safetensors", tmp_path / "mine.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.safetensors", "network.safetensors"]


CORRECTION = {"options": {"correct": sha256_of(network_file("squared-64-16"))}}


def test_a_correction_is_folded_onto_its_network(tmp_path: Path, positions: Sample) -> None:
    torch.manual_seed(5)
    config = DenseConfig(width=6, hidden=(4,), perspectives=2, activation="squared")
    checkpoint, output = tmp_path / "correction.safetensors", tmp_path / "sum.safetensors"
    save_model(checkpoint, config.build(), {**CORRECTION, "cp_per_logit": 900.0})
    with pytest.raises(UnfoldedCorrection):
        fold_file(Folding(checkpoint, output, positions=50))
    with pytest.raises(OptionError, match="corrects another, of SHA-256"):
        fold_file(Folding(checkpoint, output, positions=50, onto="dense-64-16"))
    report = fold_file(Folding(checkpoint, output, positions=2000, onto="squared-64-16"))
    assert report.shape[1:] == (2 * 96, 16 + 4, 1)  # lanes are filled up to a multiple of 32
    assert report.mean_error < 0.1
    assert load_network(output).width == 96
    assert load_network(output).cp_per_logit == load_network("squared-64-16").cp_per_logit != 900


def test_only_a_correction_that_fits_is_folded_onto_another(make_net, tmp_path: Path) -> None:
    for name, kind, origin, reason in (
        ("lite", "board", CORRECTION, "must be a dense network .*, not lite"),
        ("dense", "dense", CORRECTION, "must be a dense network"),
        ("alone", "dense", {}, "corrects none"),
    ):
        save_model(tmp_path / f"{name}.safetensors", make_net(kind), origin)
        with pytest.raises(OptionError, match=reason):
            fold_file(Folding(tmp_path / f"{name}.safetensors", tmp_path / "out.safetensors", onto="squared-64-16"))
    assert not (tmp_path / "out.safetensors").exists()
