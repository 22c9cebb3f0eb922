"""Steps: training, folding and testing with typed results, and the processes of steps."""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.jobs.protocol import Stopped
from experiments.sweep import isolated
from experiments.sweep.data import choose_positions
from experiments.sweep.isolated import Isolated
from experiments.sweep.steps import FoldStep, MeasureStep, TrainStep, measure_residual, size_of, size_of_network
from experiments.sweep.training import training_of
from lite.records.formats import NO_SCORE, hcpe_dtype
from lite.training.testing import measure_value_network
from search.evaluation.evaluation_speed import random_network
from search.system.folder_lock import FolderLock
from tests.experiments.sweep.echo_step import Echo

SAMPLE = Path(__file__).parents[3] / "experiments" / "sample"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Games to train on and other games to test on."""
    folder = tmp_path_factory.mktemp("games")
    learnt, valid = folder / "learnt.hcpe3", folder / "valid.hcpe3"
    choose_positions([SAMPLE / "teacher_sample.hcpe3"], 1500, learnt)
    choose_positions([SAMPLE / "valid_sample.hcpe3"], 600, valid)
    return learnt, valid


def test_a_value_network_is_trained_folded_and_tested(
    games: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lite.training.progress.WATCH_SECONDS", 0.0)
    learnt, valid = games
    options = {"kind": "dense", "width": 32, "hidden": [8], "batch-size": 256, "epochs": 2, "data": [str(learnt)]}
    training = replace(training_of(options, "here"), output=tmp_path / "run", valid=(valid,))
    trained = TrainStep(training, tmp_path / "progress").run()
    assert (tmp_path / "progress").read_text() == f"{trained.steps} of {trained.steps} steps, 0:00 left"
    assert (trained.epochs, trained.resumed, len(trained.log)) == (2, False, 2)
    assert len(trained.warnings) == 1
    assert "steps teach a network little" in trained.warnings[0]
    assert trained.samples == trained.steps * 256
    net = str(tmp_path / "net.safetensors")
    assert 0 < FoldStep(tmp_path / "run", Path(net), (valid,)).run().rounding < 1
    choose_positions([valid], 300, tmp_path / "some.hcpe3")
    some = tmp_path / "some.hcpe3"
    tested = MeasureStep(net, (valid,), None, (some,), some, {"played": some}).run()
    assert tested.report == measure_value_network(net, (valid,)).report
    assert tested.residual_by_kind == {"played": tested.residual}
    assert tested.d1_rmse is not None
    assert tested.report.accuracy_error is not None
    assert size_of(net).shape == (32, 1, 8, 1)


def test_a_yardstick_of_the_games_that_are_learnt_from_gives_a_warning(
    games: tuple[Path, Path], tmp_path: Path
) -> None:
    learnt, valid = games
    options = {"kind": "dense", "width": 32, "hidden": [8], "batch-size": 256, "epochs": 1, "data": [str(learnt)]}
    training = replace(training_of(options, "here"), output=tmp_path / "run", valid=(valid,))
    warnings = TrainStep(training, yardstick=(learnt,)).run().warnings
    assert warnings[-1].startswith(
        "about 100 % of the yardstick's positions beyond the opening are in the training data, too"
    )


def test_positions_without_a_score_have_no_residual(without_games: bytes, tmp_path: Path) -> None:
    def residual(records: np.ndarray) -> float:
        records.tofile(tmp_path / "some.hcpe")
        return measure_residual("lite-16-4-32", tmp_path / "some.hcpe")

    records = np.frombuffer(without_games, hcpe_dtype).copy()
    scored = residual(records[:50])
    records["score"][50:], records["padding"][50:] = 0, NO_SCORE
    assert residual(records) == pytest.approx(scored)
    with pytest.raises(ValueError, match=r"some\.hcpe: no position has a score"):
        residual(records[50:])


def test_a_residual_network_is_trained_and_tested_like_others(games: tuple[Path, Path], tmp_path: Path) -> None:
    learnt, valid = games
    options = {"kind": "resnet", "blocks": 1, "channels": 8, "value-hidden": 8, "draw": True, "batch-size": 256}
    options |= {"epochs": 1, "auxiliary": ["sennichite", "entered"], "data": [str(learnt)], "device": "cpu"}
    training = replace(training_of(options, "here"), output=tmp_path / "run", valid=(valid,))
    assert TrainStep(training).run().log[0].policy_loss is not None
    tested = MeasureStep(str(tmp_path / "run"), (valid,)).run()
    assert tested.draw is not None
    assert tested.draw.base_accuracy >= 0.5
    assert tested.policy_accuracy is not None
    assert set(tested.targets) <= {"sennichite", "entered"}
    assert FoldStep(tmp_path / "run", tmp_path / "net.onnx").run().rounding < 1e-3
    assert size_of(str(tmp_path / "net.onnx"), tmp_path / "run").shape == (1, 8)


def test_sizes_by_hand() -> None:
    network = random_network("piece_square", 64, (16,), 2)
    found = size_of_network(network)
    assert found.bytes - 2 * 64 - (16 * 128 + 16) - 4 * (16 + 1) == network.rows.nbytes
    assert found.multiply_adds == 16 * 128 + 16
    stacked = size_of_network(random_network("piece_square", 64, (16,), 2, stacks=("k3k3",)))
    assert stacked.bytes - found.bytes == 8 * ((16 * 128 + 16) + 4 * (16 + 1))
    assert stacked.multiply_adds == found.multiply_adds


def test_a_step_in_its_own_process_returns_its_result() -> None:
    cores = {max(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else set()
    assert Isolated(cores).run(Echo("a")) == ("a", 1)
    with pytest.raises(ValueError, match=r"^no such thing$"):
        Isolated().run(Echo("a", ValueError("no such\nthing")))
    with pytest.raises(ValueError, match=r"^net: file too large$"):
        Isolated().run(Echo("a", OSError(errno.EFBIG, "File too large", "net")))


def test_a_process_that_dies_is_an_error_with_its_last_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated.sys, "executable", "/bin/false")
    with pytest.raises(ValueError, match="Echo: its process ended with 1"):
        Isolated().run(Echo("a"))


def test_stopped_processes_end_and_no_others_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Isolated()
    stopped.stop()
    with pytest.raises(Stopped):
        stopped.run(Echo("a"))
    with FolderLock(tmp_path), pytest.raises(Stopped), stopped.alone_in(tmp_path):
        pass
    late = Isolated()

    class Ending(subprocess.Popen[bytes]):
        def wait(self, timeout: float | None = None) -> int:
            status = super().wait(timeout)
            late.stop()  # its process number is free when a signal would be sent to it
            return status

    monkeypatch.setattr(isolated.subprocess, "Popen", Ending)
    with pytest.raises(Stopped):
        late.run(Echo("a"))
