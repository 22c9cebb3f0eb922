"""Losses, targets that change over a run, the network's own scale, and weights to start from."""

from __future__ import annotations

import dataclasses
import hashlib
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from export.fold import Folding, fold_file
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.untied import UntiedConfig
from lite.records.formats import NO_GAME
from lite.training.checkpoint import load_model, load_state
from lite.training.log import Steps, lines_of, read_log
from lite.training.loss import value_loss
from lite.training.metrics import log_losses
from lite.training.targets import blend, lambda_at
from lite.training.train import train_value
from search.evaluation.network_file import load_network
from search.system.options import OptionError
from tests.lite.training.conftest import value_run


@pytest.mark.parametrize("exponent", [None, 2.0, 2.5, 3.0])
def test_gradients_of_the_losses_are_their_finite_differences(exponent):
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(0, 2, 40)).requires_grad_()
    target = torch.from_numpy(np.concatenate((rng.random(36), [0, 1, 0.5, 1])))
    assert torch.autograd.gradcheck(lambda given: value_loss(given, target, exponent).mean(), (logits,))
    # The formulas are a reference for steps without autograd.
    value_loss(logits, target, exponent).mean().backward()
    with torch.no_grad():
        rate = torch.sigmoid(logits)
        error = rate - target
        by_hand = (
            error if exponent is None else exponent * error.abs() ** (exponent - 1) * error.sign() * rate * (1 - rate)
        )
    torch.testing.assert_close(logits.grad, by_hand / len(logits), rtol=1e-12, atol=1e-15)


@given(st.floats(-30, 30), st.floats(0, 1), st.floats(1, 4))
def test_losses_by_their_formulas(logit, target, exponent):
    given = torch.tensor([logit], dtype=torch.float64), torch.tensor([target], dtype=torch.float64)
    rate = 1 / (1 + np.exp(-logit))
    assert value_loss(*given, exponent).item() == pytest.approx(abs(rate - target) ** exponent, rel=1e-9, abs=1e-12)
    entropy = log_losses(np.array([logit]), np.array([target]))[0]
    assert value_loss(*given).item() == pytest.approx(entropy, rel=1e-9, abs=1e-12)


def test_the_gradient_is_zero_without_an_error():
    logits = torch.zeros(3, requires_grad=True)
    value_loss(logits, torch.full((3,), 0.5), 2.5).sum().backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [0, 0, 0]


def test_the_weight_of_scores_changes_linearly():
    assert [lambda_at(1.0, 0.6, step, 5) for step in range(5)] == pytest.approx([1, 0.9, 0.8, 0.7, 0.6])
    assert [lambda_at(0.3, None, step, 5) for step in range(5)] == [0.3] * 5
    assert lambda_at(0.3, 0.9, 0, 1) == 0.3


def test_a_run_trains_by_the_current_weight_and_tests_by_the_last(options, records, held_out, tmp_path):
    run = value_run(options(records, tmp_path / "run", valid=(held_out,), lambda_=1.0, lambda_end=0.5))
    batch = next(iter(run.batches()))
    parts, targets = (batch.result, batch.score, batch.scored), run.learner.targets
    first, last = (blend(*parts, lambda_, 600) for lambda_ in (1.0, 0.5))
    np.testing.assert_array_equal(targets.at(batch, 0), first)
    np.testing.assert_allclose(targets.at(batch, 16), (first + last) / 2, rtol=1e-6)
    np.testing.assert_array_equal(targets.at(batch, 32), last)
    batch.kind_of_result[::2] |= NO_GAME  # without a game the target is the score alone
    np.testing.assert_array_equal(targets.at(batch, 32)[::2], first[::2])
    np.testing.assert_array_equal(targets.at(batch, 32)[1::2], last[1::2])
    judged = [run.held_out.test(run.learner.average.model, targets, 1, step).loss for step in (0, 16)]
    assert judged[0] == judged[1]


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_a_power_of_the_error_is_trained_and_selects_the_best_epoch(options, records, held_out, tmp_path, exponent):
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=15, lambda_=0.5, error_exponent=exponent)
    train_value(run)
    lines = read_log(run.output)
    losses = [line.loss for line in lines_of(Steps, lines)]
    assert losses[-1] < losses[0] * 0.9
    trained = load_model(run.output)[1].provenance
    assert trained["valid"]["accuracy"] > 0.6
    assert 0 < trained["valid"]["loss"] < 0.25  # a power of the difference of win rates, not the cross-entropy
    if exponent == 2:
        whole = dataclasses.replace(run, output=tmp_path / "other", error_exponent=None)
        train_value(whole)
        assert load_model(whole.output)[1].provenance["valid"]["loss"] > trained["valid"]["loss"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"error_exponent": 0.5}, "`error_exponent` 0.5: "),
        ({"error_exponent": float("nan")}, "`error_exponent` nan: "),
        ({"lambda_end": -0.1}, "`lambda_end` -0.1: "),
        ({"net_cp_per_logit": 0.0}, "`net_cp_per_logit` 0.0: "),
        ({"cp_per_logit": float("inf")}, "`cp_per_logit` inf: "),
        ({"cp_per_logit": 1e-300}, "`cp_per_logit` 1e-300: must be from 1 to 100,000"),
        ({"net_cp_per_logit": 1e300}, r"`net_cp_per_logit` 1e\+300: must be from 1 to 100,000"),
    ],
)
def test_invalid_losses_are_refused(options, records, tmp_path, change, words):
    with pytest.raises(OptionError, match=words):
        train_value(options(records, tmp_path / "run", **change))


def test_the_scale_of_the_network_may_differ_from_that_of_the_data(options, records, tmp_path):
    """Data of 1200 cp per logit and a network of 600 cp per logit give the same win rates and half the centipawns."""
    scores = options(records, tmp_path / "scores", cp_per_logit=1200.0)
    own = options(records, tmp_path / "own", cp_per_logit=1200.0, net_cp_per_logit=600.0)
    for run in (scores, own):
        train_value(dataclasses.replace(run, max_steps=13))
        train_value(dataclasses.replace(run, resume=True))
        fold_file(Folding(run.output, run.output / "folded.safetensors", data=(records,)))
    first, second = (load_network(str(run.output / "folded.safetensors")) for run in (scores, own))
    np.testing.assert_array_equal(first.rows, second.rows)
    assert first.logit_per_output == second.logit_per_output
    assert (first.cp_per_logit, second.cp_per_logit) == (1200, 600)
    # A resumed run still uses the scale of the data.
    assert load_state(own.output / "state.safetensors")[1]["cp_per_logit"] == 1200
    for run in (scores, own):
        assert load_model(run.output)[1].provenance["score_cp_per_logit"] == 1200


def test_a_run_starts_from_another_network(options, records, tmp_path):
    first = options(records, tmp_path / "first")
    train_value(first)
    path = first.output / "network.safetensors"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for start in (path, first.output):
        run = value_run(options(records, tmp_path / "second", init_from=start, seed=7))
        for model in (run.learner.model, run.learner.average.model):
            for name, value in load_model(path)[0].state_dict().items():
                assert torch.equal(model.state_dict()[name], value), name
        assert run.learner.model.training
    second = options(records, tmp_path / "second", init_from=path, max_steps=4)
    train_value(second)
    path.unlink()  # a resumed run does not need the start network
    train_value(dataclasses.replace(second, resume=True, max_steps=None))
    trained = load_model(second.output)[1].provenance
    learnt = [hashlib.sha256(records.read_bytes()).hexdigest()]
    assert trained["init_from"] == {"file": "network.safetensors", "sha256": digest, "data_digests": learnt}


def test_a_run_resumes_if_its_start_network_has_moved(options, records, tmp_path):
    first, other = (options(records, tmp_path / name, seed=seed, max_steps=4) for seed, name in enumerate("ab"))
    train_value(first)
    train_value(other)
    second = options(records, tmp_path / "second", init_from=first.output, max_steps=4)
    train_value(second)
    with pytest.raises(ValueError, match=r"it was begun with init_from .*/a, not .*/b; resume it with that"):
        train_value(dataclasses.replace(second, resume=True, init_from=other.output))
    moved = first.output.rename(tmp_path / "moved")
    going_on = dataclasses.replace(second, resume=True, init_from=moved / "network.safetensors")
    assert train_value(going_on).step == 8


def test_a_start_network_of_other_sizes_or_another_kind_is_refused(options, records, tmp_path):
    first = options(records, tmp_path / "first", max_steps=1)
    train_value(first)
    for network in (LiteConfig(dims=(4, 2, 16)), UntiedConfig(dims=(4, 2, 8)), DenseConfig(8)):
        with pytest.raises(OptionError, match=r"`init_from` .*holds a network of .*, and this run") as error:
            train_value(options(records, tmp_path / "second", network=network, init_from=first.output))
        for config in (first.network, network):
            assert json.dumps(config.as_json()) in str(error.value)
        assert not (tmp_path / "second").exists()
    with pytest.raises(FileNotFoundError, match="no such file"):
        train_value(options(records, tmp_path / "second", init_from=tmp_path / "none.safetensors"))
