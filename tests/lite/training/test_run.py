"""The folder of a training run: the files that it keeps, and protection against other runs."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import cshogi
import numpy as np
import pytest
import torch

from lite.datasets.provenance import digest_of, sha256_of
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.records.formats import hcpe_dtype
from lite.run_folder import RunPlan, RunWriter, read_run
from lite.training import memory
from lite.training.checkpoint import load_model, load_state
from lite.training.log import EpochTest, Started, Steps, lines_of, read_log
from lite.training.optimiser import OptimiserConfig, highest_rate, rate_at
from lite.training.run import Outcome, Run
from lite.training.testing import measure_value_network
from lite.training.train import ValueTask, train_value
from search.system.options import OptionError
from tests.lite.training.conftest import change_state, value_run


def test_a_crash_loses_at_most_an_epoch(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run")

    def crash(self, batch, take=Run.take_step):
        if self.step == 30:
            raise RuntimeError("lightning")
        return take(self, batch)

    monkeypatch.setattr(Run, "take_step", crash)
    with pytest.raises(RuntimeError, match="lightning"):
        train_value(run)
    assert load_state(tmp_path / "run" / "state.safetensors")[1]["step"] == 22
    assert load_model(tmp_path / "run")[1].provenance["step"] == 22
    monkeypatch.undo()
    assert train_value(dataclasses.replace(run, resume=True)).step == 33


@pytest.mark.parametrize(("minutes", "steps"), [(1e-9, [1, 2, 3, 4, 5, 6]), (2.5, [3, 6])])
def test_states_are_saved_at_intervals_of_time(options, records, tmp_path, monkeypatch, minutes, steps):
    """On the simulated clock each step takes a minute."""
    saved, taken = [], []
    clock = SimpleNamespace(monotonic=lambda: 60.0 * len(taken), perf_counter=time.perf_counter)
    monkeypatch.setattr("lite.training.run.time", clock)
    take = Run.take_step
    monkeypatch.setattr(Run, "take_step", lambda self, batch: taken.append(1) or take(self, batch))
    monkeypatch.setattr(Run, "save", lambda self, record: saved.append(self.step))
    train_value(options(records, tmp_path / "run", save_minutes=minutes, max_steps=6))
    assert saved == steps


def test_the_best_epoch_is_kept_besides_the_last(options, records, held_out, tmp_path, monkeypatch, capfd):
    """The learning rate at the end is so high that it spoils the network."""
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=4, lambda_=0.5)
    monkeypatch.setattr("lite.training.learner.rate_at", lambda _, step, steps: 0.02 if step < steps / 2 else 0.5)
    train_value(dataclasses.replace(run, max_steps=20))
    train_value(dataclasses.replace(run, resume=True))
    tested = lines_of(EpochTest, read_log(run.output))
    best = min(tested, key=lambda line: line.loss)
    assert best.step < tested[-1].step
    kept = load_model(run.output / "best.safetensors")[1].provenance
    last = load_model(run.output)[1].provenance
    assert (kept["kept"], kept["step"], kept["valid"]["loss"]) == ("best", best.step, best.loss)
    assert (last["kept"], last["step"]) == ("last", 44)
    assert measure_value_network(str(run.output / "best.safetensors"), (held_out,)).report == best.report
    said = capfd.readouterr().err
    assert (
        f"best.safetensors: network of epoch {best.epoch}, the best on the held-out games, loss {best.loss:.4f}" in said
    )


def test_the_best_on_other_games_is_forgotten(options, records, held_out, tmp_path, monkeypatch, capfd):
    """Later held-out games have larger losses."""
    other = tmp_path / "other.hcpe"
    other.write_bytes(held_out.read_bytes()[hcpe_dtype.itemsize :])
    loss = {held_out: 0.1, other: 0.5}
    test = ValueTask.test

    def graded(self, *arguments):
        return dataclasses.replace(test(self, *arguments), loss=loss[self.options.valid[0]])

    monkeypatch.setattr(ValueTask, "test", graded)
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=5, max_steps=11, resume=True)
    train_value(dataclasses.replace(run, resume=False))
    train_value(dataclasses.replace(run, valid=()))  # its best epoch is compared with later ones
    renamed = tmp_path / "renamed.hcpe"
    renamed.write_bytes(held_out.read_bytes())
    loss[renamed] = 0.2
    train_value(dataclasses.replace(run, valid=(renamed,)))
    assert load_model(run.output / "best.safetensors")[1].provenance["step"] == 11
    assert "other held-out games" not in capfd.readouterr().err
    train_value(dataclasses.replace(run, valid=(other,)))
    assert load_model(run.output / "best.safetensors")[1].provenance["step"] == 44
    assert "best.safetensors: the best on other held-out games than these" in capfd.readouterr().err


def test_held_out_figures_belong_to_the_network_of_their_file(options, records, held_out, tmp_path, capfd):
    """A finished run keeps its figures; further steps or other held-out games remove them."""
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=1, batch_size=16)
    tested = train_value(run)
    kept = load_model(run.output)[1].provenance["valid"]
    assert tested.tested is not None
    assert kept["step"] == tested.step == 90
    assert kept["loss"] == tested.tested.loss
    again = dataclasses.replace(run, resume=True)
    assert train_value(again) == train_value(dataclasses.replace(again, valid=())) == tested
    other = tmp_path / "other.hcpe"
    other.write_bytes(held_out.read_bytes()[hcpe_dtype.itemsize :])
    assert train_value(dataclasses.replace(again, valid=(other,))) == Outcome(90, 90, None)
    more = dataclasses.replace(again, epochs=4, max_steps=95)
    assert train_value(more) == Outcome(185, 360, None)
    assert load_model(run.output)[1].provenance["valid"] == {}
    capfd.readouterr()
    assert train_value(dataclasses.replace(more, valid=(), max_steps=None, keep_epochs=True)) == Outcome(360, 360, None)
    for name in ("network", "epoch-3"):
        assert load_model(run.output / f"{name}.safetensors")[1].provenance["valid"] == {}
    said = capfd.readouterr().err
    assert "the last epoch: not tested on them\n" in said
    assert "held-out accuracy" not in said


@pytest.mark.parametrize("beside", ["", "games.csa", "old/b.hcpe"])
def test_the_sources_of_a_run_are_the_files_that_it_has_read(options, records, tmp_path, beside):
    """Other files in the folder do not count."""
    folder, file = tmp_path / "data", tmp_path / "data" / "a.hcpe"
    (folder / "old").mkdir(parents=True)
    file.write_bytes(records.read_bytes())
    if beside:
        (folder / beside).write_bytes(b"other")
    run = options(folder, tmp_path / "run", max_steps=1)
    train_value(run)
    record = read_run(run.output)
    (source,) = record.sources
    assert (source.role, source.name, source.files, source.bytes) == ("data", "data", 1, file.stat().st_size)
    assert record.files == {str(folder): source.sha256}
    assert record.products == {"network.safetensors": sha256_of(run.output / "network.safetensors")}
    assert source.sha256 == hashlib.sha256(sha256_of(file).encode()).hexdigest() == digest_of(folder)


def test_every_epoch_is_kept_on_request(options, records, held_out, tmp_path):
    """Also by an interrupted run. The files have the weights of their epochs."""
    run = options(records, tmp_path / "run", valid=(held_out,), keep_epochs=True)
    train_value(dataclasses.replace(run, max_steps=15))
    train_value(dataclasses.replace(run, resume=True))
    tested = [line.loss for line in lines_of(EpochTest, read_log(run.output))]
    for epoch in (1, 2, 3):
        kept = load_model(run.output / f"epoch-{epoch}.safetensors")[1].provenance
        assert (kept["kept"], kept["step"], kept["valid"]["loss"]) == ("epoch", 11 * epoch, tested[epoch - 1])
    third, last = (load_model(run.output / f"{name}.safetensors")[0].state_dict() for name in ("epoch-3", "network"))
    assert all(torch.equal(third[name], last[name]) for name in last)
    train_value(dataclasses.replace(run, keep_epochs=False, overwrite=True, max_steps=1))
    assert not list(run.output.glob("epoch-*"))


def test_a_second_run_in_the_folder_is_refused(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run", max_steps=2)
    steps = []

    def intrude(self, batch, take=Run.take_step):
        steps.append(self.step)
        for other in (run, dataclasses.replace(run, resume=True)) if len(steps) == 3 else ():
            with pytest.raises(ValueError, match=r"run: another run is at work here \(process \d+\)|holds a run"):
                train_value(other)
        return take(self, batch)

    monkeypatch.setattr(Run, "take_step", intrude)
    train_value(run)
    train_value(dataclasses.replace(run, resume=True))
    with pytest.raises(OptionError, match=r"`output` .*: holds a run"):
        train_value(run)
    assert train_value(dataclasses.replace(run, resume=True)).step == 6


def test_a_run_that_was_killed_before_it_saved_anything_begins_again(options, records, tmp_path, monkeypatch, capfd):
    class Killed(BaseException):
        pass

    def die(self, batch):
        raise Killed

    run = options(records, tmp_path / "run", max_steps=3)
    with monkeypatch.context() as killing:
        killing.setattr(Run, "take_step", die)
        killing.setattr(RunWriter, "__exit__", lambda self, *_: self._lock.release())
        with pytest.raises(Killed):
            train_value(run)
    assert read_run(run.output).state == "running"
    again = dataclasses.replace(run, resume=True)
    with pytest.raises(OptionError, match="holds a run with `seed` 0, not 7"):
        train_value(dataclasses.replace(again, seed=7))
    assert train_value(again).step == 3
    assert f"{run.output}: the run had saved nothing yet, so it begins again" in capfd.readouterr().err
    train_value(dataclasses.replace(run, output=tmp_path / "whole"))
    networks = [load_model(tmp_path / name)[0].state_dict() for name in ("run", "whole")]
    assert all(torch.equal(tensor, networks[1][name]) for name, tensor in networks[0].items())
    (run.output / "state.safetensors").unlink()
    for folder in (run.output, tmp_path / "none"):
        with pytest.raises(OptionError, match=r"state\.safetensors: no such file, .*; leave out `resume` to begin one"):
            train_value(dataclasses.replace(again, output=folder))


def test_the_record_has_the_state_at_the_end_of_a_run(options, records, tmp_path, monkeypatch):
    run = options(records, tmp_path / "run", max_steps=2)
    train_value(run)
    assert (read_run(run.output).verb, read_run(run.output).state) == ("train lite", "interrupted")
    whole = dataclasses.replace(run, resume=True, max_steps=None, epochs=4)
    train_value(whole)
    record = read_run(run.output)
    assert (record.state, record.totals) == ("done", {"step": 44, "steps": 44, "learnt": 44 * 128})
    assert (record.goal["epochs"], record.options["batch_size"], record.options["dims"]) == (4, 128, [4, 2, 8])


def test_a_run_of_an_older_version_is_refused(options, records, tmp_path):
    run = options(records, tmp_path / "run", max_steps=2, overwrite=True)
    run.output.mkdir()
    (run.output / "made.json").write_text("{}")
    with pytest.raises(OptionError, match=r"`output` .*run: holds a run of a version before 0\.1\.0 \(made\.json\)"):
        train_value(run)


def test_lines_of_lost_steps_are_not_read(options, records, tmp_path, monkeypatch):
    """Steps after the last saved state are repeated after a crash."""
    run = options(records, tmp_path / "run")

    def crash(self, batch, take=Run.take_step):
        if self.step == 32:
            raise RuntimeError("lightning")
        return take(self, batch)

    monkeypatch.setattr("lite.training.run.LOGGED_STEPS", 4)
    monkeypatch.setattr(Run, "take_step", crash)
    with pytest.raises(RuntimeError, match="lightning"):
        train_value(run)
    before = [line.step for line in lines_of(Steps, read_log(run.output))]
    assert before == [4, 8, 11, 15, 19, 22, 26, 30]
    monkeypatch.undo()
    train_value(dataclasses.replace(run, resume=True))
    assert [line.step for line in lines_of(Steps, read_log(run.output))] == [*before[:6], 33]


def test_a_run_that_cannot_start_leaves_no_files(options, records, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        train_value(options(tmp_path / "none.hcpe", tmp_path / "run"))
    assert not list(tmp_path.iterdir())
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(FileNotFoundError, match="no such file"):
        train_value(options(tmp_path / "none.hcpe", tmp_path / "run"))
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_a_run_is_overwritten_only_on_request(options, records, held_out, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    run = options(records, tmp_path / "run", valid=(held_out,), epochs=1)
    train_value(run)
    before = (tmp_path / "run" / "state.safetensors").read_bytes()
    with pytest.raises(OptionError, match=r"`output` .*: holds a run; add `resume` .*`overwrite`"):
        train_value(run)
    with pytest.raises(ValueError, match="choose one"):
        train_value(dataclasses.replace(run, resume=True, overwrite=True))
    with pytest.raises(FileNotFoundError):
        train_value(dataclasses.replace(run, data=(tmp_path / "none.hcpe",), overwrite=True))
    assert (tmp_path / "run" / "state.safetensors").read_bytes() == before
    (tmp_path / "run" / "state.safetensors").unlink()  # a network alone also counts as a run
    with pytest.raises(OptionError, match=r"`output` .*: holds a run; add `overwrite`"):
        train_value(run)
    train_value(dataclasses.replace(run, valid=(), epochs=2, overwrite=True))
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "run" / "best.safetensors").exists()  # it belonged to the removed run
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1


@pytest.mark.parametrize("overwrite", [False, True])
def test_results_of_another_verb_are_kept(options, records, tmp_path, overwrite):
    with RunWriter(tmp_path, RunPlan("match")) as writer:
        writer.append(Started(3, 600.0))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OptionError, match=r"`output` .*: holds a run of liteshogi match; choose another folder"):
        train_value(options(records, tmp_path, overwrite=overwrite))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_other_content_under_the_same_name_is_refused(options, records, tmp_path):
    """The file has the same records in reverse order with opposite results."""
    mine = tmp_path / "games.hcpe"
    content = np.fromfile(records, cshogi.HuffmanCodedPosAndEval)
    content.tofile(mine)
    run = options(mine, tmp_path / "run", max_steps=4)
    train_value(run)
    other = content[::-1].copy()
    other["gameResult"] = np.array([0, 2, 1])[other["gameResult"]]
    other.tofile(mine)
    with pytest.raises(ValueError, match=r"games\.hcpe"):
        train_value(dataclasses.replace(run, resume=True))


def test_sizes_beyond_memory_are_refused_before_building(options, records, tmp_path, monkeypatch):
    with pytest.raises(
        OptionError, match=r"`batch_size` 1000000000: a step takes at least [\d,.]+ GiB, and there are "
    ):
        train_value(options(records, tmp_path / "run", batch_size=10**9))
    with pytest.raises(ValueError, match="embedding 100000000"):
        train_value(options(records, tmp_path / "run", network=LiteConfig(dims=(10**8, 4, 32))))
    monkeypatch.setattr(memory, "_CGROUP_LIMIT", tmp_path / "limit")
    (tmp_path / "limit").write_text("100000000\n")
    with pytest.raises(ValueError, match=r"a network of these sizes takes 0\.2 GiB to train, and there are 0\.1 GiB"):
        train_value(options(records, tmp_path / "run", network=HalfKpConfig(width=64)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("average", ["ema", "swa"])
def test_more_epochs_extend_a_run(options, records, held_out, tmp_path, capfd, average):
    changes = {"valid": (held_out,), "optimiser": OptimiserConfig(average=average)}
    whole, cut = (options(records, tmp_path / name, **changes) for name in ("whole", "cut"))
    for run in (whole, cut):
        train_value(run)
    capfd.readouterr()
    assert train_value(dataclasses.replace(cut, resume=True)).step == 33
    said = capfd.readouterr().err
    assert "network.safetensors: finished, 33 of 33 steps; more than 3 epochs would extend it" in said
    assert "positions/s" not in said
    assert train_value(dataclasses.replace(whole, resume=True, epochs=5)).steps == 55
    said = capfd.readouterr().err
    rate = f"{rate_at(changes['optimiser'], 33, 55):.2g} of 0.02"
    assert f"extended from 3 epochs to 5: the learning rate jumps to {rate}" in said
    rates = {line.step: line.rate for line in lines_of(Steps, read_log(whole.output))}
    assert rates[44] == rate_at(changes["optimiser"], 43, 55)
    # An interrupted extension also ends with the same bits.
    train_value(dataclasses.replace(cut, resume=True, epochs=5, max_steps=6))
    train_value(dataclasses.replace(cut, resume=True, epochs=5))
    a, b = (load_state(run.output / "state.safetensors") for run in (whole, cut))
    assert a[1] == b[1]
    assert all(torch.equal(a[0][group][name], b[0][group][name]) for group in a[0] for name in a[0][group])
    assert load_model(cut.output)[1].provenance["extended"] == [{"step": 33, "epochs": 3}]
    with pytest.raises(ValueError, match="it was extended to epochs 5, not 4; resume it with that"):
        train_value(dataclasses.replace(cut, resume=True, epochs=4))


def without_candidates(game: bytes, learnt: int) -> bytes:
    """Return a game of hcpe3 in which only the first `learnt` moves have a candidate, as after filters of `convert`."""
    moves = np.frombuffer(game, np.uint8, offset=36)
    out, at = [game[:36]], 0
    for ply in range(int.from_bytes(game[32:34], "little")):
        candidates = int.from_bytes(moves[at + 4 : at + 6].tobytes(), "little")
        move = moves[at : at + 4].tobytes()
        out.append(move + (b"\1\0" + move[:2] + b"\1\0" if ply < learnt else b"\0\0"))
        at += 6 + 4 * candidates
    return b"".join(out)


@pytest.fixture
def sparse(sample_bytes: list[bytes], tmp_path: Path) -> Path:
    """A file of 50 games with 10 trained positions each, 500 of about 6,000 positions."""
    path = tmp_path / "sparse.hcpe3"
    path.write_bytes(b"".join(without_candidates(game, 10) for game in sample_bytes[:50]))
    return path


def test_the_length_of_an_epoch_counts_trained_positions(options, sparse, tmp_path, capfd):
    run = options(sparse, tmp_path / "run")  # 500 positions in batches of 128: three batches per epoch, and a short one
    assert train_value(run).steps == 9
    assert "500 positions, 9 steps" in capfd.readouterr().err
    small = options(sparse, tmp_path / "small", batch_size=1000)
    assert train_value(small) == Outcome(3, 3, None)


def test_a_resumed_run_keeps_the_length_of_its_epochs(options, sparse, tmp_path):
    """Another version may count the data differently; the schedule of the learning rate must not change."""
    run = options(sparse, tmp_path / "run", max_steps=4)
    train_value(run)
    change_state(run.output, steps_per_epoch=13)
    resumed = dataclasses.replace(run, resume=True)
    assert train_value(resumed) == Outcome(8, 39, None)
    more = dataclasses.replace(resumed, epochs=4, max_steps=None)
    assert train_value(more) == Outcome(52, 52, None)


@pytest.mark.parametrize(
    ("network", "rate"), [(DenseConfig(8, (8,)), 0.04), (KpConfig(32, (8,)), 0.005), (LiteConfig((4, 2, 8)), 0.02)]
)
def test_each_kind_has_its_own_default_learning_rate(options, records, tmp_path, network, rate):
    run = value_run(options(records, tmp_path / "run", network=network, max_steps=2))
    run.train()
    assert run.learner.optimiser.param_groups[0]["lr"] == rate  # the rate of the second step, which is the highest


def test_a_resumed_run_keeps_its_learning_rate(options, records, tmp_path):
    """Older runs from Python without a learning rate used that of `lite`. Their states have None and keep that rate."""
    run = options(records, tmp_path / "run", network=DenseConfig(8, (8,)), max_steps=2)
    train_value(run)
    recorded_options = load_state(run.output / "state.safetensors")[1]["options"]
    for recorded in (None, 0.02):
        change_state(
            run.output,
            options=recorded_options | {"optimiser": recorded_options["optimiser"] | {"learning_rate": recorded}},
        )
        resumed = value_run(dataclasses.replace(run, resume=True))
        assert highest_rate(resumed.options.optimiser) == 0.02
        other = dataclasses.replace(run, resume=True, optimiser=OptimiserConfig(learning_rate=0.04))
        with pytest.raises(ValueError, match=r"begun with learning_rate 0\.02, not 0\.04; resume it with that"):
            value_run(other)
        same = dataclasses.replace(other, optimiser=OptimiserConfig(learning_rate=0.02))
        value_run(same)


def test_a_broken_tensorboard_does_not_stop_training(options, records, tmp_path, monkeypatch, capfd):
    class Broken:
        def __getattr__(self, _: str) -> None:
            raise TypeError("Descriptors cannot be created directly.\nIf this call came")

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", Broken())
    assert train_value(options(records, tmp_path / "run", max_steps=2)).step == 2
    assert [line.step for line in read_log(tmp_path / "run")] == [0]
    warning = "warning: no log for TensorBoard, which does not start: TypeError: Descriptors cannot be created"
    assert warning in capfd.readouterr().err


def test_a_full_disk_ends_the_log_for_tensorboard_alone(options, records, tmp_path, monkeypatch, capfd):
    """A limit of the size of files, which TensorBoard's file alone reaches, simulates a full disk."""
    resource = pytest.importorskip("resource", reason="limits of files are POSIX's")
    monkeypatch.setattr("lite.training.run.LOGGED_STEPS", 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))
    try:
        assert train_value(options(records, tmp_path / "run", epochs=1, batch_size=8)) == Outcome(180, 180, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(lines_of(Steps, read_log(tmp_path / "run"))) == 180
    said = capfd.readouterr().err
    assert said.count("tensorboard: no further log for TensorBoard: File too large") == 1
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="file systems of others take Unicode alone")
def test_the_path_of_records_need_not_be_utf8(options, records, tmp_path):
    """The folder has a name in Shift_JIS, as after unpacking an archive. Networks cannot be written there."""
    folder = tmp_path / os.fsdecode("日本".encode("shift_jis"))
    folder.mkdir()
    data = Path(shutil.copy(records, folder))
    train_value(options(data, tmp_path / "run", max_steps=1))
    assert train_value(options(data, tmp_path / "run", resume=True)).step == 33
    assert list(read_run(tmp_path / "run").files) == [str(data)]
    with pytest.raises(ValueError, match="path must be valid UTF-8; rename"):
        train_value(options(data, folder / "run"))
    with pytest.raises(ValueError, match="path must be valid UTF-8; rename"):
        load_model(Path(shutil.copy(tmp_path / "run" / "network.safetensors", folder)))
    assert {path.suffix for path in folder.iterdir()} == {".hcpe", ".safetensors"}
