"""Training: a cut run ends like an uncut one, bad numbers stop it in words, files are whole or refused."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig, LiteValueNetwork
from lite.networks.nnue import KpConfig
from lite.networks.value_network import listed_inputs
from lite.records.formats import NO_GAME, NO_RESULT, hcpe_dtype
from lite.training import run as running
from lite.training import train as training
from lite.training.bench import bench_training, synthetic_batch
from lite.training.checkpoint import load_model, load_state
from lite.training.log import clock, read_log
from lite.training.optimiser import OptimiserConfig, WeightAverage, make_optimiser, rate_at
from lite.training.testing import judge_net, load_predictor
from lite.training.train import ValueRun as Run
from lite.training.train import train_value
from liteshogi.commands.test import Command as JudgeNet
from search.evaluation.feature_sets import feature_set
from search.evaluation.network import EvalNetwork, Layer, evaluate_reference
from search.evaluation.network_file import save_network


def network_bytes(output: Path) -> dict[str, bytes]:
    model, _ = load_model(output)
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


@pytest.mark.parametrize(
    "changes",
    [
        {"valid": True},
        {"optimiser": OptimiserConfig(optimiser="source", average="swa", swa_start=0.4)},
        {
            "network": DenseConfig(width=8, hidden=(8, 4), perspectives=2),
            "mirror": True,
            "threads": 2,
        },
        {"network": DenseConfig(width=8, hidden=(8,), draw=True), "valid": True},
    ],
    ids=["adamw-ema", "source-swa", "dense-mirror-threads", "draws"],
)
def test_a_cut_and_resumed_run_ends_with_the_same_bits(options, records, held_out, tmp_path, changes):
    if changes.get("valid"):
        changes = {**changes, "valid": (held_out,)}
    whole = options(records, tmp_path / "whole", **changes)
    train_value(whole)
    cut = options(records, tmp_path / "cut", **changes)
    train_value(dataclasses.replace(cut, max_steps=4))
    train_value(dataclasses.replace(cut, max_steps=7, resume=True))  # to the last whole batch of the first epoch
    train_value(dataclasses.replace(cut, max_steps=13, resume=True))
    torch.manual_seed(99)
    train_value(dataclasses.replace(cut, resume=True))
    assert network_bytes(whole.output) == network_bytes(cut.output)
    a, b = (load_state(run.output / "state.safetensors") for run in (whole, cut))
    assert a[1] == b[1]
    for group in a[0]:
        for name, tensor in a[0][group].items():
            assert tensor.numpy().tobytes() == b[0][group][name].numpy().tobytes(), (group, name)
    steps = [line["step"] for line in read_log(cut.output / "log.jsonl") if line["kind"] == "train"]
    assert steps == sorted(set(steps))


def test_draws_are_learnt_beside_the_value(options, records, held_out, tmp_path):
    """The two losses are told apart."""
    run = options(records, tmp_path / "run", network=LiteConfig((4, 2, 8), draw=True), valid=(held_out,), epochs=12)
    figures = train_value(run)
    lines = [line for line in read_log(run.output / "log.jsonl") if line["kind"] == "train"]
    for line in lines:
        assert line["loss"] == pytest.approx(line["value_loss"] + line["draw_loss"], abs=1e-5)
    assert lines[-1]["draw_loss"] < lines[0]["draw_loss"]
    assert 0 < figures["draw_loss"] < figures["loss"]


def test_a_position_without_a_game_says_nothing_of_draws(options, records, tmp_path):
    """Its record holds a draw for want of a result."""
    run = Run(options(records, tmp_path / "run", network=DenseConfig(width=8, hidden=(8,), draw=True)))
    batch = next(iter(run.reader))
    loss = run.losses(batch)["draw_loss"].item()
    batch.result[::2], batch.kind_of_result[::2] = 0.5, NO_GAME
    fewer = run.losses(batch)["draw_loss"].item()
    assert 0 < fewer < loss
    batch.result[::2] = 1
    assert run.losses(batch)["draw_loss"].item() == pytest.approx(fewer, abs=1e-6)
    run.folder.abandon()


def test_training_learns_and_tells_it(options, records, held_out, tmp_path, capfd):
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=20, lambda_=0.5, fit_scale=True)
    train_value(run)
    lines = read_log(run.output / "log.jsonl")
    losses = [line["loss"] for line in lines if line["kind"] == "train"]
    assert losses[-1] < losses[0] - 0.05
    assert sum(line["kind"] == "valid" for line in lines) == 20
    for line in lines:
        if line["kind"] == "train":
            assert 0 < line["waiting"] < 1
            assert line["decoded_positions_per_s"] > 0
    _, trained = load_model(run.output)
    assert trained["valid"]["accuracy"] > 0.6
    assert trained["cp_per_logit"] != 600
    assert list((run.output / "tensorboard").iterdir())
    said = capfd.readouterr().err
    assert " positions/s, " in said
    assert " % of the time waiting for records" in said


def test_a_fitted_scale_leaves_the_order_of_the_data(options, records, tmp_path):
    train_value(options(records, tmp_path / "fitted", fit_scale=True))
    scale = load_model(tmp_path / "fitted")[1]["cp_per_logit"]
    train_value(options(records, tmp_path / "given", cp_per_logit=scale))
    assert network_bytes(tmp_path / "fitted") == network_bytes(tmp_path / "given")


def test_a_scale_is_fitted_or_told(options, records, tmp_path):
    with pytest.raises(ValueError, match=r"--cp-per-logit 300\.0: --fit-scale finds that scale itself; choose one"):
        train_value(options(records, tmp_path / "run", fit_scale=True, cp_per_logit=300.0))
    options(records, tmp_path / "run", fit_scale=True, net_cp_per_logit=300.0).check()


def test_a_scale_is_fitted_to_what_games_say(options, records, tmp_path):
    played = np.fromfile(records, hcpe_dtype)
    others = played.copy()
    others["result"], others["padding"], others["score"] = 0, NO_RESULT, 900
    np.concatenate([played, others]).tofile(tmp_path / "both.hcpe")
    scales = []
    for path in (records, tmp_path / "both.hcpe"):
        run = Run(options(path, tmp_path / path.stem, fit_scale=True))
        scales.append(run.cp_per_logit)
        run.folder.abandon()
    assert scales[1] == pytest.approx(scales[0])


def test_another_run_is_not_overwritten_nor_resumed_with_other_options(options, records, tmp_path):
    run = options(records, tmp_path / "run", max_steps=2)
    train_value(run)
    with pytest.raises(ValueError, match="--resume"):
        train_value(run)
    with pytest.raises(ValueError, match=r"begun with lambda_ 0\.7, not 0\.2"):
        train_value(dataclasses.replace(run, resume=True, lambda_=0.2))
    for changes, words in (
        ({"network": LiteConfig(dims=(8, 2, 8))}, r"dims \[4, 2, 8\], not \[8, 2, 8\]"),
        ({"network": LiteConfig(dims=(4, 2, 8), king="mirrored")}, "king the default, not mirrored"),
        ({"network": DenseConfig(8)}, "network lite, not dense"),
        ({"optimiser": OptimiserConfig(clip=2.0)}, r"clip 1\.0, not 2\.0"),
    ):
        with pytest.raises(ValueError, match=rf"it was begun with {words}; resume it with that$"):
            train_value(dataclasses.replace(run, resume=True, **changes))
    with pytest.raises(FileNotFoundError, match="no such file"):
        train_value(dataclasses.replace(run, output=tmp_path / "none", resume=True))
    with pytest.raises(ValueError, match="no data"):
        train_value(dataclasses.replace(run, data=()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lambda_": 1.5}, "--lambda 1.5"),
        ({"epochs": 0}, "--epochs 0"),
        ({"threads": -1}, "--threads -1"),
        ({"seed": -1}, "--seed -1"),
        ({"seed": 1 << 64}, "--seed 18446744073709551616"),
    ],
)
def test_senseless_options_are_refused(options, records, tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        train_value(options(records, tmp_path / "run", **change))
    with pytest.raises(ValueError, match="held out"):
        train_value(options(records, tmp_path / "run", valid=(records,)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("learning_rate", (0.0, -0.01, math.nan, math.inf)),
        ("weight_decay", (-0.1, math.nan, math.inf)),
        ("clip", (-1.0, math.nan, math.inf)),
        ("warm_up", (-0.1, 1.1, math.nan)),
        ("ema_decay", (-0.1, 1.5, math.nan)),
        ("swa_start", (-1.0, 1.5, math.nan)),
    ],
)
def test_senseless_optimisers_are_refused(name, bad):
    for value in bad:
        with pytest.raises(ValueError, match=f"--{name.replace('_', '-')} {value}: "):
            OptimiserConfig(**{name: value}).check()
    OptimiserConfig(**{name: 0.5}, average="swa" if name == "swa_start" else "ema").check()


@pytest.mark.parametrize(
    ("without_effect", "words", "remedy"),
    [
        ({"schedule": "steps", "warm_up": 0.03}, "--warm-up 0.03: the schedule is steps", {"schedule": "one_cycle"}),
        ({"optimiser": "source", "warm_up": 0.1}, "--warm-up 0.1: the schedule is steps", {"schedule": "cosine"}),
        ({"average": "swa", "ema_decay": 0.9}, "--ema-decay 0.9: the average is swa", {"average": "ema"}),
        ({"swa_start": 0.5}, "--swa-start 0.5: the average is ema", {"average": "swa"}),
        ({"average": "none", "swa_start": 0.5}, "--swa-start 0.5: the average is none", {"average": "swa"}),
    ],
)
def test_options_of_another_schedule_or_average_are_refused(without_effect, words, remedy):
    config = OptimiserConfig(**without_effect)
    with pytest.raises(ValueError, match=words):
        config.check()
    dataclasses.replace(config, **remedy).check()


@pytest.mark.parametrize(
    ("data", "valid"),
    [("folder", "folder/a.hcpe"), ("folder/a.hcpe", "folder"), ("folder", "folder"), ("folder", "link.hcpe")],
)
def test_what_is_held_out_is_found_in_folders_too(options, records, tmp_path, data, valid):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.hcpe").write_bytes(records.read_bytes())
    (tmp_path / "link.hcpe").symlink_to(tmp_path / "folder" / "a.hcpe")
    run = options(tmp_path / data, tmp_path / "run", valid=(tmp_path / valid,))
    with pytest.raises(ValueError, match=r"a\.hcpe: both to learn from and held out"):
        run.check()
    dataclasses.replace(run, valid=(records,)).check()
    dataclasses.replace(run, data=(tmp_path / "not there yet",)).check()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_told(options, records, tmp_path):
    with pytest.raises(ValueError, match="--device cuda: PyTorch finds no GPU here"):
        train_value(options(records, tmp_path / "run", device="cuda"))
    assert not (tmp_path / "run").exists()


def test_a_nan_stops_before_the_weights_and_names_the_batch(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run", save_minutes=1e-9)
    calls = []

    def poisoned(result, score, *rest):
        calls.append(1)
        return blend(result, score, *rest) * (np.float32("nan") if len(calls) == 8 else np.float32(1))

    blend = running.blend
    monkeypatch.setattr(running, "blend", poisoned)
    with pytest.raises(ValueError, match=r"loss nan.*epoch 1, batch 8 \(step 8; scores .*learning-rate.*, or --resume"):
        train_value(run)
    _, data = load_state(run.output / "state.safetensors")
    assert data["step"] == 7
    assert all(torch.isfinite(value).all() for value in load_model(run.output)[0].state_dict().values())


def test_a_nan_before_the_first_save_points_at_no_saved_state(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run")
    monkeypatch.setattr(running, "blend", lambda result, *_: np.full(len(result), np.nan, np.float32))
    with pytest.raises(ValueError, match=r"then train again$"):
        train_value(run)
    assert not (tmp_path / "run" / "state.safetensors").exists()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_diverging_run_ends_in_its_error_alone(options, records, tmp_path, threads):
    """A warning of NumPy's on the way would be raised here."""
    far = OptimiserConfig(learning_rate=1e30, clip=0)
    net = DenseConfig(width=8, hidden=(8,), perspectives=2)
    with pytest.raises(ValueError, match=r"^loss .*stopped before the weights were touched"):
        train_value(options(records, tmp_path / "run", network=net, optimiser=far, threads=threads))


def test_weights_are_untouched_by_a_bad_gradient(options, records, tmp_path, monkeypatch):
    run = Run(options(records, tmp_path / "run"))
    batch = next(iter(run._batches()))
    before = [p.detach().clone() for p in run.model.parameters()]
    monkeypatch.setattr(running, "blend", lambda result, *_: np.full(len(result), np.nan, np.float32))
    with pytest.raises(FloatingPointError):
        run.take_step(batch)
    assert all(torch.equal(a, b) for a, b in zip(before, run.model.parameters(), strict=True))
    assert run.step == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_request_to_end_saves_and_says_how_to_resume(options, records, tmp_path, monkeypatch, capfd, name):
    run = options(records, tmp_path / "run", epochs=10000)
    monkeypatch.setattr(sys, "argv", ["liteshogi", "train", "games.hcpe", "--overwrite"])

    def press() -> None:
        log = run.output / "log.jsonl"
        while not (log.exists() and any(line["kind"] == "train" for line in read_log(log))):
            time.sleep(0.01)
        os.kill(os.getpid(), getattr(signal, name))

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        train_value(run)
    presser.join()
    assert "liteshogi train games.hcpe --resume" in capfd.readouterr().err
    step = load_state(run.output / "state.safetensors")[1]["step"]
    train_value(dataclasses.replace(run, resume=True, max_steps=1))
    assert load_state(run.output / "state.safetensors")[1]["step"] == step + 1


def test_a_request_to_end_in_the_last_step_leaves_a_finished_run(options, records, tmp_path, monkeypatch, capfd):
    """And what trains network after network hears of it."""
    run = options(records, tmp_path / "run", epochs=1)

    def step_and_press(self, batch, take=Run.take_step):
        losses = take(self, batch)
        if self.step == self.steps:
            signal.raise_signal(signal.SIGTERM)
        return losses

    monkeypatch.setattr(Run, "take_step", step_and_press)
    with pytest.raises(KeyboardInterrupt):
        train_value(run)
    said = capfd.readouterr().err
    assert "network.safetensors: trained" in said
    assert "stopped at step" not in said
    assert train_value(dataclasses.replace(run, resume=True)) == {"step": 11, "steps": 11}


def test_too_little_data_for_a_batch_is_one_batch(options, records, tmp_path):
    train_value(options(records, tmp_path / "run", batch_size=100_000, epochs=2))
    assert load_state(tmp_path / "run" / "state.safetensors")[1]["step"] == 2


def test_schedules():
    adamw, source = OptimiserConfig(), OptimiserConfig(optimiser="source")
    rates = [rate_at(adamw, step, 1000) for step in range(1000)]
    assert max(rates) == rates[29] == rates[30]
    assert rates[0] < rates[29] / 25
    assert rates[-1] < 1e-4 * max(rates)
    assert sorted({round(rate_at(source, step, 300), 9) for step in range(300)}) == [0.0004, 0.004, 0.04]
    assert [rate_at(source, step, 300) for step in (99, 100)] == pytest.approx([0.04, 0.004])
    # Each optimiser takes the other's, too.
    assert [rate_at(OptimiserConfig("source", 0.02, "cosine"), step, 1000) for step in range(1000)] == rates
    assert rate_at(OptimiserConfig("adamw", 0.04, "steps"), 299, 300) == pytest.approx(0.0004)
    late = OptimiserConfig(warm_up=0.25)
    assert (
        rate_at(late, 249, 1000) == rate_at(late, 250, 1000) == max(rate_at(late, step, 1000) for step in range(1000))
    )


@pytest.mark.parametrize("warm_up", [None, 0.0, 0.1, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 500])
def test_one_cycle_is_pytorchs(warm_up, steps):
    config = OptimiserConfig("source", 0.1, "one_cycle", warm_up)
    rates = [rate_at(config, step, steps) for step in range(steps)]
    assert all(0 < rate <= 0.1 for rate in rates)
    share = 0.3 if warm_up is None else warm_up
    if share * steps > 1 and share < 1:
        sgd = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        theirs = torch.optim.lr_scheduler.OneCycleLR(sgd, 0.1, total_steps=steps, pct_start=share, cycle_momentum=False)
        expected = [theirs.get_last_lr()[0]]
        for _ in range(steps - 1):
            sgd.step()
            theirs.step()
            expected.append(theirs.get_last_lr()[0])
        assert rates == pytest.approx(expected, rel=1e-12)


def test_vectors_do_not_decay():
    optimiser = make_optimiser(OptimiserConfig(), LiteValueNetwork((4, 2, 8)))
    decayed, free = optimiser.param_groups
    assert all(p.ndim > 1 for p in decayed["params"])
    assert free["weight_decay"] == 0
    assert len(free["params"]) == 6


@pytest.mark.parametrize("average", ["ema", "swa", "none"])
def test_averages_of_weights_and_statistics(average):
    model = LiteValueNetwork((4, 2, 8))
    torch.nn.init.zeros_(model.l3.weight)
    kept = WeightAverage(OptimiserConfig(average=average, ema_decay=0.5, swa_start=0.5), model)
    for step in range(1, 11):
        with torch.no_grad():
            for value in [*model.parameters(), model.bn2_1.running_mean]:
                value.fill_(step)
        model.bn2_1.num_batches_tracked.fill_(step)
        kept.update(model, step / 10)
    expected = {"none": 10.0, "swa": 8.0}.get(average)
    if expected is None:
        expected = 0.0
        for step in range(1, 11):
            expected += (step - expected) * max(0.5, 9 / (9 + step))
    assert float(kept.model.l3.weight[0, 0]) == pytest.approx(expected)
    assert float(kept.model.bn2_1.running_mean[0]) == pytest.approx(expected)
    assert int(kept.model.bn2_1.num_batches_tracked) == 10


def test_the_mean_of_weights_begins_at_its_share_of_the_run(options, records, tmp_path):
    run = Run(options(records, tmp_path / "run", optimiser=OptimiserConfig(average="swa", swa_start=0.5)))
    taken = []
    for batch in run._batches():
        run.take_step(batch)
        taken.append([value.detach().double() for value in run.model.parameters()])  # copies
    assert run.average.count == 17  # of 33 steps
    for place, value in enumerate(run.average.model.parameters()):
        mean = torch.stack([step[place] for step in taken[-17:]]).mean(0)
        torch.testing.assert_close(value.double(), mean, rtol=1e-5, atol=1e-6)
    run.folder.abandon()


@pytest.mark.parametrize("clip", [0.001, 0.0])
def test_a_longer_gradient_is_shortened(options, records, tmp_path, clip):
    """Momentum's first step is the gradient itself."""
    chosen = OptimiserConfig("source", weight_decay=0.0, clip=clip)
    run = Run(options(records, tmp_path / "run", optimiser=chosen))
    before = [value.detach().clone() for value in run.model.parameters()]
    run.take_step(next(run._batches()))
    moved = sum(((a - b) ** 2).sum() for a, b in zip(run.model.parameters(), before, strict=True)).item() ** 0.5
    assert moved / 0.04 == pytest.approx(0.001, rel=0.01) if clip else moved / 0.04 > 0.01
    run.folder.abandon()


def test_verb_test_prints_the_figures_of_a_checkpoint(options, records, held_out, tmp_path, capsys):
    train_value(options(records, tmp_path / "run", valid=(held_out,)))
    _, trained = load_model(tmp_path / "run")
    capsys.readouterr()
    JudgeNet(str(tmp_path / "run"), (held_out,), json=True).run()
    report = json.loads(capsys.readouterr().out)
    for name in ("positions", "accuracy", "accuracy_draw_as_win", "log_loss", "brier", "calibration", "by_ply"):
        assert report[name] == trained["valid"][name], name
    JudgeNet(str(tmp_path / "run" / "network.safetensors"), (held_out,)).run()
    assert "accuracy" in capsys.readouterr().out
    assert judge_net(str(tmp_path / "run"), (held_out,), 32, positions=64)["positions"] == 64


def test_an_onnx_file_is_tested_like_its_module(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    # A net that knows one thing: the mover is ahead by the sum of the hand features' numbers.
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["hands"], ["as_float"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["as_float"], ["value"], keepdims=1, axes=[1]),
        ],
        "net",
        [
            helper.make_tensor_value_info("hands", TensorProto.INT64, ["n", 57]),
            helper.make_tensor_value_info("pieces", TensorProto.INT64, ["n", 81]),
        ],
        [helper.make_tensor_value_info("value", TensorProto.FLOAT, ["n", 1])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8), tmp_path / "n.onnx")
    batch = synthetic_batch(5)
    logits = load_predictor(str(tmp_path / "n.onnx"))(batch)[:, 0]
    held = listed_inputs(batch.pieces, batch.hands, batch.in_check)[1]
    assert logits.tolist() == held.sum(1).tolist()
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not an ONNX file"):
        load_predictor(str(tmp_path / "bad.onnx"))


def test_an_onnx_file_that_gives_no_numbers_is_refused(held_out, tmp_path):
    """It has some for the first position of a game alone, where nothing is in hand."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["hands"], ["as_float"], to=TensorProto.FLOAT),
            helper.make_node("ReduceSum", ["as_float"], ["sum"], keepdims=1, axes=[1]),
            helper.make_node("Sub", ["sum", "empty"], ["less"]),
            helper.make_node("Sqrt", ["less"], ["value"]),
        ],
        "net",
        [
            helper.make_tensor_value_info("hands", TensorProto.INT64, ["n", 57]),
            helper.make_tensor_value_info("pieces", TensorProto.INT64, ["n", 81]),
        ],
        [helper.make_tensor_value_info("value", TensorProto.FLOAT, ["n", 1])],
        [helper.make_tensor("empty", TensorProto.FLOAT, [1], [57.0 * 57])],
    )
    path = tmp_path / "n.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8), path)
    with pytest.raises(ValueError, match=r"n\.onnx: gives \d+ of \d+ positions no number, the first is position \d+"):
        judge_net(str(path), (held_out,))


def test_the_bench_gives_its_figures():
    kinds = {"small": LiteConfig((4, 2, 8)), "nnue": KpConfig(32, ())}
    figures = bench_training(kinds, batch_size=64, rounds=1)
    assert set(figures) == {
        "small_positions_per_s", "small_two_threads_positions_per_s", "small_module_positions_per_s", "small_ratio",
        "nnue_positions_per_s", "nnue_two_threads_positions_per_s",
    }  # fmt: skip
    assert all(value > 0 for value in figures.values())


def test_clock():
    assert [clock(s) for s in (0, 61, 3725)] == ["0:00", "1:01", "1:02:05"]


def test_a_folded_net_is_tested_by_its_integers(tmp_path):
    rng = np.random.default_rng(0)
    net = EvalNetwork(
        feature_set("piece_square"),
        rng.integers(-9, 9, (2325, 32)).astype(np.int16),
        rng.integers(0, 99, 32).astype(np.int16),
        (Layer(rng.integers(-9, 9, (1, 32)).astype(np.int8), np.array([5], np.int32)),),
        output_divisor=16,
        logit_per_output=0.01,
    )
    save_network(net, tmp_path / "n.safetensors")
    batch = synthetic_batch(50)
    outputs = evaluate_reference(net, batch.pieces, batch.hands, batch.in_check)[:, 0]
    logits = load_predictor(str(tmp_path / "n.safetensors"))(batch)[:, 0]
    np.testing.assert_allclose(logits, [net.logit(int(output)) for output in outputs], rtol=1e-12)
    assert (outputs < 0).any()


def test_quiet_positions():
    """A move's target is a square of the real board; the batch's board is turned for white."""
    batch = synthetic_batch(4)
    batch.pieces[:] = 28
    batch.pieces[:, 10] = 14  # an enemy pawn
    batch.turn[:] = [0, 0, 1, 1]
    batch.move[:] = [20 << 7 | 10, 20 << 7 | 11, 20 << 7 | 70, 20 << 7 | 10]  # 80 - 10 = 70
    assert training.quiet_positions(batch).tolist() == [False, True, False, True]
    batch.pieces[:, [0, 80]] = 14  # where a move of 0 would go
    batch.move[:] = 0
    assert training.quiet_positions(batch).all()
