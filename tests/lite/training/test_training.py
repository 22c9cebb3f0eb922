"""Training: interrupted runs end like uninterrupted ones, and numbers that are not finite stop it with an error."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import KpConfig
from lite.progress_line import clock
from lite.records.batch import BATCH_FIELDS, Batch
from lite.records.formats import NO_GAME, NO_RESULT, hcpe_dtype
from lite.records.reader import read_all
from lite.training import targets
from lite.training import train as training
from lite.training.checkpoint import load_model, load_state
from lite.training.log import EpochTest, Steps, lines_of, positions_learnt, read_log
from lite.training.optimiser import OptimiserConfig
from lite.training.progress import Progress
from lite.training.run import Outcome, Run
from lite.training.testing import measure_value_network
from lite.training.train import ValueTask, train_value
from lite.training.training_speed import bench_training, synthetic_batch
from search.rules.shogi import MIRRORED_SQUARE
from search.system.options import OptionError
from tests.lite.training.conftest import value_run


def network_bytes(output: Path) -> dict[str, bytes]:
    model, _ = load_model(output)
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


@pytest.mark.parametrize(
    "changes",
    [
        {"valid": True},
        {"optimiser": OptimiserConfig(optimiser="sgd", average="swa", swa_start=0.4)},
        {
            "network": DenseConfig(width=8, hidden=(8, 4), perspectives=2),
            "mirror": True,
            "threads": 2,
        },
        {"network": DenseConfig(width=8, hidden=(8,), draw=True), "valid": True},
    ],
    ids=["adamw-ema", "source-swa", "dense-mirror-threads", "draws"],
)
def test_an_interrupted_and_resumed_run_ends_with_the_same_bits(options, records, held_out, tmp_path, changes):
    if changes.get("valid"):
        changes = {**changes, "valid": (held_out,)}
    whole = options(records, tmp_path / "whole", **changes)
    train_value(whole)
    cut = options(records, tmp_path / "cut", **changes)
    train_value(dataclasses.replace(cut, max_steps=4))
    train_value(dataclasses.replace(cut, max_steps=7, resume=True))  # up to the last full batch of the first epoch
    train_value(dataclasses.replace(cut, max_steps=13, resume=True))
    torch.manual_seed(99)
    train_value(dataclasses.replace(cut, resume=True))
    assert network_bytes(whole.output) == network_bytes(cut.output)
    a, b = (load_state(run.output / "state.safetensors") for run in (whole, cut))
    assert a[1] == b[1]
    for group in a[0]:
        for name, tensor in a[0][group].items():
            assert tensor.numpy().tobytes() == b[0][group][name].numpy().tobytes(), (group, name)
    steps = [line.step for line in lines_of(Steps, read_log(cut.output))]
    assert steps == sorted(set(steps))


def test_draws_are_trained_besides_the_value(options, records, held_out, tmp_path):
    """Both losses are logged separately."""
    run = options(records, tmp_path / "run", network=LiteConfig((4, 2, 8), draw=True), valid=(held_out,), epochs=12)
    figures = train_value(run).tested
    assert figures is not None
    lines = lines_of(Steps, read_log(run.output))
    for line in lines:
        assert line.loss == pytest.approx(line.parts["value_loss"] + line.parts["draw_loss"], abs=1e-5)
    assert lines[-1].parts["draw_loss"] < lines[0].parts["draw_loss"]
    assert 0 < figures.parts["draw_loss"] < figures.loss


def test_positions_without_a_game_do_not_train_draws(options, records, tmp_path):
    """Its record has the code of a draw because there is no result."""
    run = value_run(options(records, tmp_path / "run", network=DenseConfig(width=8, hidden=(8,), draw=True)))
    batch = next(iter(run.data.reader))

    def draw_loss() -> float:
        return run.task.losses(run.learner.model, batch, run.learner.targets.at(batch, 0), 0)["draw_loss"].item()

    loss = draw_loss()
    batch.result[::2], batch.kind_of_result[::2] = 0.5, NO_GAME
    fewer = draw_loss()
    assert 0 < fewer < loss
    batch.result[::2] = 1
    assert draw_loss() == pytest.approx(fewer, abs=1e-6)


@pytest.mark.parametrize("draw", [False, True])
def test_held_out_positions_without_a_game_give_only_the_loss(options, records, tmp_path, capfd, draw):
    made = np.fromfile(records, hcpe_dtype)[:200]
    made["padding"], made["result"] = NO_RESULT, 0
    made.tofile(tmp_path / "made.hcpe")
    network = DenseConfig(width=8, hidden=(8,), draw=draw)
    made_alone = {"valid": (tmp_path / "made.hcpe",), "lambda_": 1.0}
    run = options(records, tmp_path / "run", network=network, epochs=6, **made_alone)
    figures = train_value(run).tested
    first, *_, last = (line.loss for line in lines_of(EpochTest, read_log(run.output)))
    assert 0 < last < first
    assert figures is not None
    assert figures.loss == last
    assert figures.report.accuracy is figures.report.log_loss is None
    assert not figures.parts
    said = capfd.readouterr().err
    assert f"valid loss {last:.4f}\n" in said
    assert (run.output / "best.safetensors").is_file()
    with pytest.raises(ValueError, match=r"made\.hcpe: no position comes from a game"):
        measure_value_network(str(run.output), run.valid)


def test_training_learns_and_reports_it(options, records, held_out, tmp_path, monkeypatch, capfd):
    taken, take_step = [], Run.take_step
    monkeypatch.setattr(Run, "take_step", lambda run, batch: taken.append(take_step(run, batch)) or taken[-1])
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=20, lambda_=0.5, fit_scale=True)
    train_value(run)
    lines = read_log(run.output)
    losses = [line.loss for line in lines_of(Steps, lines)]
    assert losses[-1] < losses[0] - 0.05
    of_epochs = np.reshape([step["loss"] for step in taken], (20, -1))
    assert losses == pytest.approx(of_epochs.mean(1), abs=1e-5)
    assert len(lines_of(EpochTest, lines)) == 20
    for line in lines_of(Steps, lines):
        assert 0 < line.waiting < 1
        assert line.decoded_positions_per_s > 0
    trained = load_model(run.output)[1].provenance
    assert trained["valid"]["accuracy"] > 0.6
    assert trained["cp_per_logit"] != 600
    assert list((run.output / "tensorboard").iterdir())
    said = capfd.readouterr().err
    assert " positions/s, " in said
    assert " % of the time waiting for records" in said


def test_the_last_step_of_an_epoch_is_shown_in_that_epoch(options, records, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("lite.training.progress.PLAIN_SECONDS", 0.0)
    train_value(options(records, tmp_path / "run"))
    shown = re.findall(r"epoch (\d+)/3  (\d+)/11 ", capfd.readouterr().err)
    assert shown == [(str(epoch), str(step)) for epoch in range(1, 4) for step in range(1, 12)]


@pytest.mark.parametrize("captures", [True, False])
def test_the_speed_counts_trained_positions(options, records, tmp_path, monkeypatch, capfd, captures):
    """Also for a set smaller than a batch, and for an interrupted and resumed run."""
    monkeypatch.setattr(Progress, "seconds", lambda self: 2.0)
    monkeypatch.setattr("lite.training.progress.PLAIN_SECONDS", 0.0)
    positions = read_all([records])
    learnt = len(positions) if captures else int(training.without_captures(positions).sum())
    assert captures or learnt < len(positions)
    run = options(records, tmp_path / "run", batch_size=4096, epochs=6, captures=captures, max_steps=4)
    train_value(run)
    train_value(dataclasses.replace(run, resume=True))
    log = read_log(run.output)
    assert [line.learnt for line in lines_of(Steps, log)] == [learnt * steps for steps in range(1, 7)]
    assert positions_learnt(log) == learnt * 6
    speeds = [line.positions_per_s for line in lines_of(Steps, log)]
    assert speeds == [learnt * steps / 2 for steps in (1, 2, 3, 4, 1, 2)]
    said = capfd.readouterr().err
    assert f"network.safetensors: trained, {learnt:,} positions/s" in said
    assert re.findall(r"% +([\d,]+) positions/s", said)[:2] == [f"{learnt / 2:,.0f}", f"{learnt:,}"]


def test_the_first_step_does_not_count_in_the_remaining_time(monkeypatch, capsys):
    monkeypatch.setattr("lite.training.progress.PLAIN_SECONDS", 0.0)
    times = iter((100.0, 100.0, 102.0, 102.0, 104.0, 104.0))
    monkeypatch.setattr(Progress, "seconds", lambda self: next(times))
    progress = Progress(steps=100)
    for step in (41, 42, 43):
        progress.show(step, 8, "text")
    assert [line.partition("positions/s")[2] for line in capsys.readouterr().err.splitlines()] == [
        "",
        "  1:56 left",
        "  1:54 left",
    ]


def test_fitting_a_scale_does_not_change_the_order_of_the_data(options, records, tmp_path):
    fitted = options(records, tmp_path / "fitted", fit_scale=True)
    train_value(fitted)
    scale = load_model(tmp_path / "fitted")[1].provenance["cp_per_logit"]
    going_on = value_run(dataclasses.replace(fitted, resume=True))
    assert going_on.cp_per_logit == scale != fitted.cp_per_logit
    train_value(options(records, tmp_path / "given", cp_per_logit=scale))
    assert network_bytes(tmp_path / "fitted") == network_bytes(tmp_path / "given")


def test_a_scale_is_fitted_or_given(options, records, tmp_path):
    with pytest.raises(OptionError, match=r"`cp_per_logit` 300\.0: `fit_scale`"):
        train_value(options(records, tmp_path / "run", fit_scale=True, cp_per_logit=300.0))
    options(records, tmp_path / "run", fit_scale=True, net_cp_per_logit=300.0).check()


def test_a_scale_is_fitted_to_results_of_games(options, records, tmp_path):
    played = np.fromfile(records, hcpe_dtype)
    others = played.copy()
    others["result"], others["padding"], others["score"] = 0, NO_RESULT, 900
    np.concatenate([played, others]).tofile(tmp_path / "both.hcpe")
    scales = []
    for path in (records, tmp_path / "both.hcpe"):
        run = value_run(options(path, tmp_path / path.stem, fit_scale=True))
        scales.append(run.cp_per_logit)
    assert scales[1] == pytest.approx(scales[0])


def test_no_scale_is_fitted_without_games(options, records, tmp_path):
    found = np.fromfile(records, hcpe_dtype)
    found["result"], found["padding"] = 0, NO_RESULT
    found.tofile(tmp_path / "alone.hcpe")
    with pytest.raises(OptionError, match=r"`fit_scale` .*alone\.hcpe: no position comes from a game"):
        value_run(options(tmp_path / "alone.hcpe", tmp_path / "run", fit_scale=True))


def test_a_run_is_not_overwritten_or_resumed_with_other_options(options, records, tmp_path):
    run = options(records, tmp_path / "run", max_steps=2)
    train_value(run)
    with pytest.raises(OptionError, match="`resume`"):
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
    with pytest.raises(OptionError, match="no such file"):
        train_value(dataclasses.replace(run, output=tmp_path / "none", resume=True))
    with pytest.raises(ValueError, match="`data`: no file"):
        train_value(dataclasses.replace(run, data=()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lambda_": 1.5}, "`lambda_` 1.5"),
        ({"epochs": 0}, "`epochs` 0"),
        ({"threads": -1}, "`threads` -1"),
        ({"seed": -1}, "`seed` -1"),
        ({"seed": 1 << 64}, "`seed` 18446744073709551616"),
    ],
)
def test_invalid_options_are_refused(options, records, tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        train_value(options(records, tmp_path / "run", **change))
    with pytest.raises(OptionError, match="`valid` "):
        train_value(options(records, tmp_path / "run", valid=(records,)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("data", "valid"),
    [
        ("folder", "folder/a.hcpe"),
        ("folder/a.hcpe", "folder"),
        ("folder", "folder"),
        ("folder", "link.hcpe"),
        ("folder", "copy_of_a.hcpe"),
        ("copy_of_a.hcpe", "folder"),
    ],
)
def test_held_out_files_are_also_found_in_folders_of_data(options, records, held_out, tmp_path, data, valid):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.hcpe").write_bytes(records.read_bytes())
    (tmp_path / "copy_of_a.hcpe").write_bytes(records.read_bytes())
    (tmp_path / "link.hcpe").symlink_to(tmp_path / "folder" / "a.hcpe")
    run = options(tmp_path / data, tmp_path / "run", valid=(tmp_path / valid,))
    with pytest.raises(ValueError, match=r"`valid` .*a\.hcpe: is also in the data"):
        run.check()
    other = bytearray(records.read_bytes())
    other[32] ^= 1  # the same number of bytes
    (tmp_path / "other.hcpe").write_bytes(other)
    dataclasses.replace(run, valid=(held_out, tmp_path / "other.hcpe")).check()
    dataclasses.replace(run, data=(tmp_path / "not there yet",)).check()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_reported(options, records, tmp_path):
    with pytest.raises(OptionError, match=r"`device` gpu"):
        train_value(options(records, tmp_path / "run", device="gpu"))
    with pytest.raises(OptionError, match="`device` cuda"):
        train_value(options(records, tmp_path / "run", device="cuda"))
    assert not (tmp_path / "run").exists()


def test_a_nan_stops_before_the_weights_change_and_the_batch_is_named(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run", save_minutes=1e-9)
    calls = []

    def poisoned(result, score, *rest):
        calls.append(1)
        return blend(result, score, *rest) * (np.float32("nan") if len(calls) == 8 else np.float32(1))

    blend = targets.blend
    monkeypatch.setattr(targets, "blend", poisoned)
    with pytest.raises(OptionError, match=r"loss nan.*epoch 1, batch 8 \(step 8; scores .*`learning_rate`"):
        train_value(run)
    _, data = load_state(run.output / "state.safetensors")
    assert data["step"] == 7
    assert all(torch.isfinite(value).all() for value in load_model(run.output)[0].state_dict().values())


def test_a_nan_before_the_first_save_mentions_no_saved_state(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run")
    monkeypatch.setattr(targets, "blend", lambda result, *_: np.full(len(result), np.nan, np.float32))
    with pytest.raises(ValueError, match=r"then train again$"):
        train_value(run)
    assert not (tmp_path / "run" / "state.safetensors").exists()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_diverging_run_ends_with_one_error(options, records, tmp_path, threads):
    """A warning of NumPy would be raised as an error here."""
    far = OptimiserConfig(learning_rate=1e30, clip=0)
    net = DenseConfig(width=8, hidden=(8,), perspectives=2)
    with pytest.raises(ValueError, match=r"^loss .*stopped before the weights were touched"):
        train_value(options(records, tmp_path / "run", network=net, optimiser=far, threads=threads))


@pytest.mark.parametrize("wrm", [None, (270.0, 340.0)])
def test_a_diverging_run_ends_with_one_error_at_the_end_of_an_epoch(options, records, held_out, tmp_path, wrm):
    """An epoch of one step is tested with the weights that diverge."""
    far = OptimiserConfig(learning_rate=1e30, clip=0)
    net = DenseConfig(width=8, hidden=(8,), perspectives=2)
    run = options(records, tmp_path / "run", network=net, optimiser=far, batch_size=1 << 20, wrm=wrm)
    words = r"^held-out loss (nan|inf) after epoch 1 \(step 1\): the weights diverge\. Lower `learning_rate`.* again$"
    with pytest.raises(OptionError, match=words):
        train_value(dataclasses.replace(run, valid=(held_out,)))
    assert not (run.output / "state.safetensors").exists()
    with pytest.raises(OptionError, match=r"^loss .*stopped before the weights were touched"):
        train_value(dataclasses.replace(run, output=tmp_path / "untested"))


def test_weights_are_untouched_by_a_bad_gradient(options, records, tmp_path, monkeypatch):
    run = value_run(options(records, tmp_path / "run"))
    batch = next(iter(run.batches()))
    before = [p.detach().clone() for p in run.learner.model.parameters()]
    monkeypatch.setattr(targets, "blend", lambda result, *_: np.full(len(result), np.nan, np.float32))
    with pytest.raises(OptionError, match="stopped before the weights"):
        run.take_step(batch)
    assert all(torch.equal(a, b) for a, b in zip(before, run.learner.model.parameters(), strict=True))
    assert run.step == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals to oneself")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_saves_the_state(options, records, tmp_path, monkeypatch, capfd, name):
    run = options(records, tmp_path / "run", epochs=10000)

    def press() -> None:
        while not (run.output / "run.json").exists() or not lines_of(Steps, read_log(run.output)):
            time.sleep(0.01)
        os.kill(os.getpid(), getattr(signal, name))

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        train_value(run)
    presser.join()
    assert re.search(r"stopped at step \d+ of 110000, saved\n", capfd.readouterr().err)
    step = load_state(run.output / "state.safetensors")[1]["step"]
    train_value(dataclasses.replace(run, resume=True, max_steps=1))
    assert load_state(run.output / "state.safetensors")[1]["step"] == step + 1


def test_a_signal_in_the_last_step_leaves_a_finished_run(options, records, tmp_path, monkeypatch, capfd):
    """A caller that trains several networks is also interrupted."""
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
    assert train_value(dataclasses.replace(run, resume=True)) == Outcome(11, 11, None)


def test_the_short_last_batch_of_an_epoch_is_skipped(options, records, tmp_path):
    run = value_run(options(records, tmp_path / "run"))
    reader = run.data.reader
    enough = [run.task.is_enough(batch, reader.positions) for batch in reader]
    assert enough == [True] * run.steps_per_epoch + [False]


def test_too_little_data_for_a_batch_is_one_batch(options, records, tmp_path):
    train_value(options(records, tmp_path / "run", batch_size=100_000, epochs=2))
    assert load_state(tmp_path / "run" / "state.safetensors")[1]["step"] == 2


def test_the_bench_reports_its_figures():
    kinds = {"small": LiteConfig((4, 2, 8)), "nnue": KpConfig(32, ())}
    figures = bench_training(kinds, batch_size=64, rounds=1)
    assert set(figures) == {
        "small_positions_per_s", "small_two_threads_positions_per_s", "small_module_positions_per_s", "small_ratio",
        "nnue_positions_per_s", "nnue_two_threads_positions_per_s",
    }  # fmt: skip
    assert all(value > 0 for value in figures.values())


def test_times_are_formatted_as_clocks():
    assert [clock(s) for s in (0, 61, 3725)] == ["0:00", "1:01", "1:02:05"]


@pytest.mark.parametrize(
    ("network", "batch_size"),
    [
        (LiteConfig((4, 2, 8)), 2),
        (LiteConfig((4, 2, 8)), 4),
        (KpConfig(width=32, hidden=(8,)), 1),
        (KpConfig(width=32, hidden=(8,)), 2),
    ],
)
def test_batches_with_too_few_positions_without_captures_are_skipped(options, records, tmp_path, network, batch_size):
    games, is_kept = np.fromfile(records, hcpe_dtype), training.without_captures(read_all([records]))
    np.concatenate((games[is_kept][:32], games[~is_kept][:32])).tofile(tmp_path / "some.hcpe")
    made = {"network": network, "batch_size": batch_size, "captures": False, "epochs": 2}
    run = options(tmp_path / "some.hcpe", tmp_path / "run", **made)
    counts = [training.without_captures(batch).sum() for batch in value_run(run).data.reader]
    assert min(counts) < min(2, batch_size) <= max(counts)
    figures = train_value(dataclasses.replace(run, overwrite=True))
    assert figures.step == figures.steps == 2 * 64 // batch_size


def test_only_positions_without_captures_count_in_the_loss(options, records, tmp_path):
    run = value_run(options(records, tmp_path / "run", captures=False))
    batch = next(iter(run.data.reader))
    keep = training.without_captures(batch)
    assert 0 < keep.sum() < len(batch)
    without = Batch(**{name: getattr(batch, name)[keep] for name in BATCH_FIELDS})
    all_of = ValueTask(dataclasses.replace(run.options, captures=True), run.workers)
    losses = [
        task.losses(run.learner.model, part, run.learner.targets.at(part, 0), 0)["loss"].item()
        for task, part in ((run.task, batch), (all_of, without))
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


def test_half_of_the_positions_are_mirrored_at_random_in_each_step(options, records, tmp_path, monkeypatch):
    run = value_run(options(records, tmp_path / "run", mirror=True, network=DenseConfig(width=8, hidden=(8,))))
    batch, shown = next(iter(run.data.reader)), []
    task, learner = run.task, run.learner
    outputs = task.outputs
    monkeypatch.setattr(task, "outputs", lambda model, *arrays: shown.append(arrays[0]) or outputs(model, *arrays))
    reversed_at = []
    for step in (0, 1):
        task.losses(learner.model, batch, learner.targets.at(batch, step), step)
        as_they_are, turned = ((shown[-1] == batch.pieces[:, order]).all(1) for order in (slice(None), MIRRORED_SQUARE))
        assert (as_they_are | turned).all()
        assert 0.3 < turned.mean() < 0.7
        reversed_at.append(turned)
    assert 0.3 < (reversed_at[0] != reversed_at[1]).mean() < 0.7


def test_records_of_captures_alone_are_refused(options, records, tmp_path):
    batch = read_all([records])
    games = np.fromfile(records, hcpe_dtype)[~training.without_captures(batch)]
    games.tofile(tmp_path / "captures.hcpe")
    run = options(tmp_path / "captures.hcpe", tmp_path / "run", captures=False)
    with pytest.raises(ValueError, match=r"captures\.hcpe: fewer usable positions than a batch"):
        train_value(run)


def test_positions_without_captures_by_hand():
    """Targets of moves are squares of the real board, but the boards of a batch are turned for white."""
    batch = synthetic_batch(4)
    batch.pieces[:] = 28
    batch.pieces[:, 10] = 14  # an enemy pawn
    batch.turn[:] = [0, 0, 1, 1]
    batch.move[:] = [20 << 7 | 10, 20 << 7 | 11, 20 << 7 | 70, 20 << 7 | 10]  # 80 - 10 = 70
    assert training.without_captures(batch).tolist() == [False, True, False, True]
    batch.pieces[:, [0, 80]] = 14  # the target of a move of 0
    batch.move[:] = 0
    assert training.without_captures(batch).all()
