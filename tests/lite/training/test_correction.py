"""Corrections: what they learn, and that their runs resume like others."""

from __future__ import annotations

import dataclasses
from typing import Any

import cshogi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lite.datasets.provenance import sha256_of
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.records.formats import hcpe_dtype
from lite.records.reader import read_all
from lite.training.checkpoint import load_model, load_state
from lite.training.correction import CERTAIN, DECIDED, is_learnt, targets_beyond_scale
from lite.training.log import EpochTest, lines_of, read_log
from lite.training.targets import sigmoid
from lite.training.train import train_value
from search.evaluation.network_file import load_network, save_network
from search.evaluation.shipped import network_file
from search.evaluation.static_evaluation import evaluate_sfens, static_logits
from search.system.options import OptionError
from tests.lite.training.conftest import value_run
from tests.yaneuraou_networks import network_bytes

SMALL: dict[str, Any] = {
    "network": DenseConfig(width=8, hidden=(4,), perspectives=2, activation="squared"),
    "lambda_": 1.0,
    "error_exponent": 2.0,
}


def test_the_logits_are_those_of_the_engine(records):
    batch = read_all([records])
    network = load_network("squared-64-16")
    codes = np.fromfile(records, hcpe_dtype)["hcp"][:40]
    sfens = []
    for code in codes:
        board = cshogi.Board()
        board.set_hcp(code.copy())
        sfens.append(board.sfen())
    logits = static_logits(network, batch.pieces[:40], batch.hands[:40], batch.in_check[:40])
    assert logits.tolist() == [network.logit(one.output) for one in evaluate_sfens(network, sfens)]


@given(st.floats(-0.3, 0.3), st.floats(0.7, 1.4), st.integers(0, 1000))
def test_a_difference_of_scale_or_balance_is_not_learnt(constant: float, slope: float, seed: int) -> None:
    logits = np.random.default_rng(seed).normal(0, 0.8, 4000)
    rate = sigmoid(logits)
    target = rate + rate * (1 - rate) * (constant + (slope - 1) * logits)
    left = targets_beyond_scale(logits, target, np.ones(4000, np.bool_)) - rate
    assert np.abs(left).max() < 1e-3


def test_a_difference_that_is_not_of_scale_is_learnt() -> None:
    random = np.random.default_rng(1)
    logits, extra = random.normal(0, 0.8, 4000), random.normal(0, 0.05, 4000)
    aims = targets_beyond_scale(logits, sigmoid(1.2 * logits) + extra, np.ones(4000, np.bool_))
    assert np.corrcoef(aims - sigmoid(logits), extra)[0, 1] > 0.99


def test_decided_positions_are_not_learnt() -> None:
    logits = np.array([0.0, DECIDED + 0.1, -DECIDED - 0.1, 0.0, 0.0])
    target = np.array([0.5, 0.5, 0.5, 1.0, float(sigmoid(np.array(-CERTAIN - 0.1)))])
    assert is_learnt(logits, target).tolist() == [True, False, False, False, False]


def test_an_interrupted_and_resumed_correction_ends_with_the_same_bits(options, records, held_out, tmp_path):
    whole = options(records, tmp_path / "whole", valid=(held_out,), correct="squared-64-16", **SMALL)
    train_value(whole)
    cut = dataclasses.replace(whole, output=tmp_path / "cut")
    train_value(dataclasses.replace(cut, max_steps=7))
    train_value(dataclasses.replace(cut, resume=True))
    one, other = (load_model(run.output)[0].state_dict() for run in (whole, cut))
    assert all(one[name].numpy().tobytes() == other[name].numpy().tobytes() for name in one)


def test_a_run_resumes_with_the_network_that_it_corrects_wherever_that_lies(options, records, tmp_path):
    named, moved = tmp_path / "named.safetensors", tmp_path / "moved.safetensors"
    named.write_bytes(network_file("squared-64-16").read_bytes())
    run = options(records, tmp_path / "run", correct=named, max_steps=3, **SMALL)
    train_value(run)
    named.rename(moved)
    other = load_network(moved)
    other.provenance["note"] = "another file"
    save_network(other, named)
    with pytest.raises(ValueError, match="begun with correct"):
        train_value(dataclasses.replace(run, resume=True))
    assert train_value(dataclasses.replace(run, resume=True, correct=moved)).step == 6


def test_the_corrected_network_may_be_moved_during_the_training(options, records, tmp_path, monkeypatch):
    monkeypatch.setattr("lite.training.progress.WATCH_SECONDS", 0.0)
    named, moved = tmp_path / "named.safetensors", tmp_path / "moved.safetensors"
    named.write_bytes(network_file("squared-64-16").read_bytes())
    run = value_run(options(records, tmp_path / "run", correct=named, epochs=1, **SMALL))
    assert run.train(lambda _: named.exists() and named.rename(moved)).step == run.steps
    assert not named.exists()
    assert load_model(run.folder.network)[1].corrected == sha256_of(moved)


def test_the_test_is_of_the_sum_of_both(options, records, held_out, tmp_path):
    run = options(records, tmp_path / "run", valid=(held_out,), correct="squared-64-16", **SMALL)
    rate = dataclasses.replace(run.optimiser, learning_rate=1e-9, average="none")
    train_value(dataclasses.replace(run, optimiser=rate, epochs=1))
    figures = lines_of(EpochTest, read_log(run.output))[-1]
    batch = read_all([held_out])
    model = load_model(run.output)[0]
    added = model.outputs(batch.pieces, batch.hands, batch.in_check).detach().numpy()[:, 0]
    network = load_network("squared-64-16")
    logits = static_logits(network, batch.pieces, batch.hands, batch.in_check) + np.where(batch.in_check, 0, added)
    assert figures.loss == pytest.approx(
        float(np.mean((sigmoid(logits) - sigmoid(batch.score / 600.0)) ** 2)), rel=1e-3
    )


def test_positions_in_check_are_left_out(options, records, tmp_path):
    batch = read_all([records])
    run = options(records, tmp_path / "run", correct="squared-64-16", batch_size=len(batch), epochs=1, **SMALL)
    train_value(run)
    assert batch.in_check.sum() > 0
    assert load_state(run.output / "state.safetensors")[1]["learnt"] == int((~batch.in_check).sum())


def test_only_a_folded_network_is_corrected(options, records, tmp_path):
    path = tmp_path / "nn.bin"
    path.write_bytes(network_bytes("SFNN_kp_64_7_32_hand64"))
    with pytest.raises(OptionError, match=r"`correct` .*nn\.bin: it is not a folded network"):
        train_value(options(records, tmp_path / "run", **{**SMALL, "correct": path}))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"correct": "no_such.safetensors"}, "no_such"),
        ({"wrm": (270.0, 340.0), "error_exponent": None}, "wrm"),
        ({"net_cp_per_logit": 300.0}, "net_cp_per_logit"),
        ({"network": DenseConfig(width=8, hidden=(4,), draw=True)}, "`correct` squared-64-16: .*, not .*draw"),
        ({"network": LiteConfig(dims=(4, 2, 8))}, "`correct` squared-64-16: .*, not lite"),
        ({"network": DenseConfig(hidden=(4,), king="mirrored")}, "not perspectives 1, activation relu, king mirrored"),
    ],
)
def test_what_could_not_be_folded_is_refused_before_the_first_step(options, records, tmp_path, changes, named):
    run = options(records, tmp_path / "run", **{**SMALL, "correct": "squared-64-16", **changes})
    with pytest.raises((OptionError, OSError), match=named):
        train_value(run)
    assert not (tmp_path / "run").exists()
