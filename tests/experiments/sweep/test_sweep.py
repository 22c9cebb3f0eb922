"""Sweeps: stored results, resuming after a kill, and failures of single points."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.labels.yardstick import MissingYardstick
from experiments.network_kinds.kind import UnsuitableNetwork
from experiments.sweep import work
from experiments.sweep.entries import Measures
from experiments.sweep.plan import Point
from experiments.sweep.results import Failed, NetResult, Results
from experiments.sweep.sampler import Sampler
from experiments.sweep.sweep import Sweep, run_sweep
from experiments.sweep.work import Place, PointTask
from lite.networks.dense import DenseConfig
from lite.records.formats import NO_SCORE, hcpe_dtype
from lite.run_folder import RunPlan, RunWriter, read_run
from lite.training.checkpoint import save_model
from liteshogi.commands.sweep import Command, folder_of
from liteshogi.remedies import remedy
from search.evaluation.nnue_identification import MissingSetting
from search.system.options import OptionError
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, net_of, nets_in, plan_with, written
from tests.yaneuraou_networks import network_bytes, without_text

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPACES = (
    '[[space]]\nkind = ["dense"]\nwidth = { low = 32, high = 256, step = 32 }\n'
    '[[space]]\nkind = ["lite"]\ndims = [[4, 2, 8], [8, 4, 8]]\nlearning-rate = { low = 0.1, high = 1, log = true }\n'
)


def test_an_imported_network_must_not_change(tmp_path: Path, invented: list[str]) -> None:
    def sweep_of(net: str) -> Sweep:
        path = written(tmp_path, TRAIN + MEASURE + f'[[peer]]\nname = "p"\nnet = "{net}"\n')
        return Sweep(path, output=tmp_path / "out", workers=1)

    run_sweep(sweep_of("default"))
    with pytest.raises(ValueError, match="p was measured with another network than dense-64-16; rename it"):
        run_sweep(sweep_of("dense-64-16"))


def test_a_missing_network_is_refused_before_any_work(tmp_path: Path, invented: list[str]) -> None:
    text = TRAIN + MEASURE + '[[space]]\nwidth = [32]\n[[peer]]\nname = "p"\nnet = "gone.safetensors"\n'
    with pytest.raises(FileNotFoundError, match=r"plan\.toml: peer 'p': gone\.safetensors: no such network"):
        run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1))
    assert not invented


@pytest.mark.parametrize("entry", ['[[peer]]\nname = "p"\nnet', "[play]\nopponent"])
def test_an_unreadable_network_is_refused_before_any_work(tmp_path: Path, invented: list[str], entry: str) -> None:
    content, path = network_bytes("SFNN_kp_64_7_32_hand64"), tmp_path / "nn.bin"
    named = without_text(content)
    text = TRAIN + MEASURE + f"[[space]]\nwidth = [32]\n{entry} = {json.dumps(str(path))}\n"
    for damaged, problem, kind in ((content[:-5], "truncated", ValueError), (named, "unknown", MissingSetting)):
        path.write_bytes(damaged)
        with pytest.raises(kind, match=rf"^.*nn\.bin: {problem}"):
            run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1))
    assert not invented


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_is_refused_before_any_work(tmp_path: Path, invented: list[str]) -> None:
    os.mkfifo(tmp_path / "nn.bin")
    text = TRAIN + MEASURE + f'[[space]]\nwidth = [32]\n[[peer]]\nname = "p"\nnet = "{tmp_path / "nn.bin"}"\n'
    with pytest.raises(FileNotFoundError, match=r"nn\.bin: a pipe or a device; name a regular file"):
        run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1))
    assert not invented


def test_networks_that_do_not_play_are_refused_before_any_work(
    tmp_path: Path, invented: list[str], tiny_onnx: Path
) -> None:
    trained = tmp_path / "run" / "network.safetensors"
    trained.parent.mkdir()
    save_model(trained, DenseConfig(32).build(), {})
    for net, words in (
        (trained, "is a trained value network, which no engine here plays; fold it first"),
        (trained.parent, "is a trained value network, which no engine here plays; fold it first"),
        (tiny_onnx, "is a policy-value network in ONNX, which a sweep measures only where it has trained it"),
    ):
        text = TRAIN + MEASURE + f'[[space]]\nwidth = [32]\n[[peer]]\nname = "p"\nnet = "{net}"\n'
        with pytest.raises(UnsuitableNetwork, match=f"{net.name}: {words}"):
            run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1))
    assert not invented


@pytest.mark.parametrize(
    ("head", "end", "words"),
    [
        ("points = 5\n", "", "points 5: search 'grid' takes every combination; choose 'random' for fewer"),
        ("", '[play]\nwho = "named"\n', "play: who = 'named', but no point has `games = true`"),
    ],
)
def test_entries_without_effect_are_refused(
    tmp_path: Path, invented: list[str], head: str, end: str, words: str
) -> None:
    path = written(tmp_path, head + TRAIN + MEASURE + "[[space]]\nwidth = [32]\n" + end)
    with pytest.raises(ValueError, match=rf"plan\.toml: {words}"):
        run_sweep(Sweep(path, output=tmp_path / "out", workers=1))
    assert not (tmp_path / "out").exists()


def test_measures_can_change_until_a_point_is_measured(tmp_path: Path, invented: list[str]) -> None:
    text, out = TRAIN + MEASURE + "[[space]]\nwidth = [64]\n", tmp_path / "out"
    assert run_sweep(Sweep(written(tmp_path, text), output=out, workers=1)).points == 0
    other = text.replace("y.hcpe", "z.hcpe").replace("64", "32")
    assert run_sweep(Sweep(written(tmp_path, other), output=out, workers=1)).points == 1
    words = r"out: its points were measured with yardstick .*'z.hcpe'.*, not .*'y.hcpe',\);"
    with pytest.raises(ValueError, match=words):
        run_sweep(Sweep(written(tmp_path, text), output=out, workers=1))


def test_a_point_in_training_shows_its_steps_and_the_remaining_time(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def train(worker: work.PointWorker, point: Point) -> NetResult:
        folder = tmp_path / "out" / work.POINTS / f"{point.name}-0"
        folder.mkdir(parents=True)
        (folder / work.STAGE).write_text("training")
        time.sleep(0.5)
        (folder / work.PROGRESS).write_text("340 of 5,000 steps, 3:21 left")
        time.sleep(0.5)
        return net_of(point)

    monkeypatch.setattr(work.PointWorker, "done", train)
    monkeypatch.setattr("experiments.jobs.progress.PLAIN_SECONDS", 0.0)
    plan = written(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [32]\n")
    run_sweep(Sweep(plan, output=tmp_path / "out", workers=1))
    said = capfd.readouterr().err
    assert re.search(r"0 of 1 point, 0 failed; dense: training for 0:0\d\n", said)
    assert re.search(r"dense: training for 0:0\d \(340 of 5,000 steps, 3:21 left\)\n", said)


@pytest.mark.parametrize("changed", ["v.hcpe3", "y.hcpe", "d.hcpe"])
def test_a_sweep_refuses_files_that_have_changed(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Also of equal size; a missing file is accepted."""
    monkeypatch.chdir(tmp_path)
    for name in ("v.hcpe3", "y.hcpe", "d.hcpe"):
        Path(name).write_bytes(b"before")
    sweep = Sweep(written(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [32]\n"), output=Path("out"), workers=1)
    run_sweep(sweep)
    Path(changed).write_bytes(b"behind")
    written(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [32, 128]\n")
    with pytest.raises(ValueError, match=f"^{changed}: has changed since results of out were made with it"):
        run_sweep(sweep)
    assert len(invented) == 1
    Path(changed).unlink()
    assert run_sweep(sweep).points == 2
    assert read_run(Path("out")).files[str(Path(changed).absolute())]


def test_files_can_be_corrected_while_all_points_have_failed(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sweep = Sweep(written(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [64]\n"), output=Path("out"), workers=1)
    for content in (b"damaged", b"good"):
        for name in ("v.hcpe3", "y.hcpe", "d.hcpe"):
            Path(name).write_bytes(content)
        assert run_sweep(sweep).points == 0
    assert len(invented) == 2


def test_a_failed_cut_of_positions_fails_only_its_point(
    tmp_path: Path, invented: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    text = TRAIN + MEASURE + "[[point]]\nwidth = 96\npositions = 9\n[[point]]\nwidth = 32\n"
    report = run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1))
    ((label, why),) = report.failed.items()
    assert label == "dense width 96 positions 9"
    assert "d.hcpe" in why
    assert why in (tmp_path / "out" / "table.md").read_text()
    assert f"{label}, seed 0: {why}\n" in capfd.readouterr().err
    assert report.points == 1


def test_a_set_that_cannot_be_made_fails_only_its_points(tmp_path: Path, invented: list[str]) -> None:
    """A set that cannot be made fails the points that learn from it."""
    (tmp_path / "d.hcpe").write_bytes(bytes(38 * 10))
    sets = (
        f'[data."a.hcpe"]\ncut = ["{tmp_path}/d.hcpe"]\npositions = 5\n'
        + '[data."b.hcpe"]\ncut = ["a.hcpe"]\npositions = 9\n'
    )
    points = "".join(f'[[point]]\nname = "{one}"\nwidth = 32\ndata = ["{one}.hcpe"]\n' for one in ("a", "b"))
    sweep = Sweep(written(tmp_path, TRAIN + MEASURE + sets + points), output=tmp_path / "out", workers=1)
    report = run_sweep(sweep)
    assert report.points == 1
    assert report.failed["b"].startswith("b.hcpe, which it learns from, could not be made: b.hcpe: 9 positions")
    assert nets_in(sweep.output)[0].data.keys() == {"a.hcpe"}
    (tmp_path / "out" / "data" / "a.hcpe").unlink()
    assert (
        run_sweep(
            Sweep(written(tmp_path, TRAIN + MEASURE + sets + points[: len(points) // 2]), output=sweep.output)
        ).points
        == 1
    )
    assert not (tmp_path / "out" / "data" / "a.hcpe").exists()


def test_missing_measures_are_refused_before_training(tmp_path: Path, without_games: bytes) -> None:
    def sweep() -> Any:
        text = TRAIN + MEASURE.replace('"', f'"{tmp_path}/', 1).replace('["y', f'["{tmp_path}/y')
        path = written(tmp_path, text.replace("v.hcpe3", "v.hcpe") + "[[point]]\nwidth = 32\n")
        return run_sweep(Sweep(path, output=tmp_path / "out", workers=1))

    with pytest.raises(MissingYardstick, match=r"`yardstick` .*y\.hcpe: there is no such file") as raised:
        sweep()
    assert raised.value.fields == ("yardstick",)
    unscored = np.frombuffer(without_games, hcpe_dtype).copy()
    unscored["score"], unscored["padding"] = 0, NO_SCORE
    unscored.tofile(tmp_path / "y.hcpe")
    with pytest.raises(OptionError, match=r"`yardstick` .*y\.hcpe: no position has a score, and d1-RMSE needs"):
        sweep()
    (tmp_path / "y.hcpe").write_bytes(without_games)
    with pytest.raises(FileNotFoundError, match=r"v\.hcpe: there is no such file"):
        sweep()
    (tmp_path / "v.hcpe").write_bytes(without_games)
    with pytest.raises(ValueError, match=r"v\.hcpe: no "):
        sweep()
    assert not (tmp_path / "out" / "points").exists()


def test_the_error_names_the_command_that_makes_a_yardstick(tmp_path: Path) -> None:
    path = written(tmp_path, TRAIN + MEASURE + "[[point]]\nwidth = 32\n")
    with pytest.raises(MissingYardstick, match="make it") as raised:
        Command(path, output=tmp_path / "out").run()
    assert remedy(raised.value) == ": liteshogi yardstick HELD-OUT-GAMES -o y.hcpe"


@pytest.mark.parametrize(
    ("plan", "name"), [("nets", "sweep-nets"), ("plans/my plan.toml", "sweep-my_plan"), ("幅.toml", "sweep-幅")]
)
def test_the_default_folder_is_named_after_the_plan(plan: str, name: str) -> None:
    assert folder_of(Path(plan)) == Path("runs", name)


def test_two_plans_have_two_folders(tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, width in (("one", 32), ("two", 96)):
        path = written(tmp_path, TRAIN + MEASURE + f"[[point]]\nwidth = {width}\n").rename(f"{name}.toml")
        Command(path, workers=1).run()
    assert [len(nets_in(Path("runs", f"sweep-{name}"))) for name in ("one", "two")] == [1, 1]


def test_a_sweep_fails_if_every_point_fails(
    tmp_path: Path, invented: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for widths in ("[64]", "[32, 64]"):
        path = written(tmp_path, TRAIN + MEASURE + f"[[space]]\nwidth = {widths}\n")
        command = Command(path, output=tmp_path / "out", workers=1, json=True)
        if widths == "[64]":
            with pytest.raises(ValueError, match=r"out: every point has failed; .*table\.md gives the reasons"):
                command.run()
        else:
            command.run()
        report = json.loads(capsys.readouterr().out)
        assert len(report["failed"]) == 1


def test_a_failed_point_does_not_stop_others_and_is_repeated(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("experiments.jobs.progress.PLAIN_SECONDS", 0.0)
    sweep = Sweep(written(tmp_path, TRAIN + MEASURE + GRID), output=tmp_path / "out", workers=2)
    report = run_sweep(sweep)
    assert "\n4 of 8 points, 4 failed, 0:00 left\n" in capsys.readouterr().err
    assert report.points == 4
    assert set(report.failed.values()) == {"no net of this width"}
    assert sorted(report.failed)[:2] == ["dense width 64 hidden 16,16", "dense width 64 hidden 16,16, seed 1"]
    assert len(report.failed) == 4
    table = (tmp_path / "out" / "table.md").read_text()
    assert "| dense width 32 hidden 8, seed 1" in table
    assert "- dense width 64 hidden 8, seed 0: no net of this width" in table
    assert len(invented) == 8
    run_sweep(sweep)
    assert Counter(invented) == {label: 2 + 2 * ("width 64" in label) for label in invented}
    assert read_run(sweep.output).state == "done"


def test_points_begin_from_earlier_ones_and_not_from_failed_ones(tmp_path: Path, invented: list[str]) -> None:
    points = "".join(
        f'[[point]]\nname = "{name}"\nwidth = {width}\n' + (f'after = "{after}"\n' if after else "")
        for name, width, after in (("a", 32, ""), ("b", 64, ""), ("c", 32, "a"), ("d", 32, "b"), ("e", 32, "c"))
    )
    report = run_sweep(Sweep(written(tmp_path, TRAIN + MEASURE + points), output=tmp_path / "out", workers=2))
    assert sorted(invented[:2]) == ["a", "b"]
    assert invented[2:] == ["c", "e"]
    assert report.failed["d"] == "b, seed 0, from which it begins, is not trained"


@pytest.mark.parametrize("search", ["random", "tpe", "nsga2"])
def test_samplers_choose_the_requested_number_of_points(tmp_path: Path, invented: list[str], search: str) -> None:
    pytest.importorskip("optuna")
    text = f'search = "{search}"\npoints = %d\n[train]\ndata = ["d.hcpe"]\n' + MEASURE + SPACES
    sweep = Sweep(written(tmp_path, text % 6), output=tmp_path / "out", workers=1)
    done = run_sweep(sweep)
    assert done.points + len(done.failed) == 6
    before = list(invented)
    again = run_sweep(sweep)
    assert again.points >= done.points
    assert all("width 64" in label for label in invented[len(before) :]) or again.points == 6
    written(tmp_path, text % 12)
    more = run_sweep(sweep)
    assert more.points + len(more.failed) == 12
    assert max(Counter(label for label in invented if not label.endswith("width 64")).values()) == 1


def test_a_random_search_without_timings_trains_no_more_than_its_points(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    monkeypatch.setattr(work.PointWorker, "done", lambda _, point: replace(net_of(point), timed=None))
    text = 'search = "random"\npoints = %d\n[train]\nkind = "dense"\ndata = ["d.hcpe"]\n' + MEASURE
    text += "[[space]]\nwidth = { low = 96, high = 4096, step = 32 }\n"
    for points in (3, 3, 5, 5):
        sweep = Sweep(written(tmp_path, text % points), output=tmp_path / "out", workers=1)
        assert run_sweep(sweep).points == points


def test_the_progress_of_a_continued_study_counts_earlier_points(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna")
    monkeypatch.setattr("experiments.jobs.progress.PLAIN_SECONDS", 0.0)
    text = 'search = "random"\npoints = %d\n[train]\nkind = "dense"\ndata = ["d.hcpe"]\n' + MEASURE
    text += "[[space]]\nwidth = { low = 96, high = 1024, step = 32 }\n"
    sweep = Sweep(written(tmp_path, text % 3), output=tmp_path / "out", workers=1)
    run_sweep(sweep)
    capsys.readouterr()
    written(tmp_path, text % 5)
    assert run_sweep(sweep).points == 5
    assert re.findall(r"(\d) of 5 points", capsys.readouterr().err)[-1] == "5"


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("width = [32, 64]\n", "width = [32, 64, 96]\n", "width"),
        ("width = [32, 64]\n", "width = { low = 32, high = 64 }\n", "width"),
        (
            "width = [32, 64]\n",
            "width = [32, 64]\n[[space]]\nwidth = [96]\n[[space]]\nwidth = [128]\n",
            r"\[\[space\]\]",
        ),
    ],
)
def test_the_choices_of_a_study_are_fixed(
    tmp_path: Path, invented: list[str], before: str, after: str, name: str
) -> None:
    """Other choices are refused before a point is started; with the first choices the study resumes."""
    pytest.importorskip("optuna")
    text = 'search = "tpe"\npoints = %d\n[train]\nkind = "dense"\ndata = ["d.hcpe"]\n' + MEASURE
    text += "[[space]]\nwidth = [160]\n[[space]]\n" if name != "width" else "[[space]]\n"
    sweep = Sweep(written(tmp_path, text % 2 + before), output=tmp_path / "out", workers=1)
    first = run_sweep(sweep)
    done = list(invented)
    written(tmp_path, text % 4 + after)
    with pytest.raises(ValueError, match=rf"study.log: .* other choices of {name}, .*`output`"):
        run_sweep(sweep)
    assert invented == done
    written(tmp_path, text % 2 + before)
    assert run_sweep(sweep).points >= first.points


def test_the_other_options_of_a_study_are_fixed(tmp_path: Path, invented: list[str]) -> None:
    pytest.importorskip("optuna")
    text = 'search = "random"\npoints = 2\n[train]\ndata = ["d.hcpe"]\n' + MEASURE + SPACES
    sweep = Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1)
    run_sweep(sweep)
    with pytest.raises(OptionError, match=r"study\.log: its points were trained with epochs None, not 4; restore that"):
        run_sweep(replace(sweep, change=("train.epochs=4",)))
    run_sweep(sweep)


def test_an_unfinished_point_comes_first(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    text = 'search = "tpe"\npoints = 5\n[train]\ndata = ["d.hcpe"]\n' + MEASURE + SPACES
    plan, results = plan_with(tmp_path, text), Results()
    source = Sampler(plan, tmp_path, results).points()
    first, second = next(source), next(source)
    results.add(net := net_of(first))  # killed before optuna received the result
    sampler = Sampler(plan, tmp_path, results)
    again = next(sampler.points())
    assert (again.name, again.label) == (second.name, second.label)
    assert net.timed is not None
    expected = [net.tested.d1_rmse, net.timed.evaluation_ns]
    assert [trial.values for trial in sampler._study.trials if trial.values] == [expected]


KILLED = """
import sys, time
from pathlib import Path
from experiments.sweep import sweep, work
from experiments.sweep.steps import Folded
from experiments.sweep.sweep import Sweep, run_sweep
from experiments.sweep.work import PointWorker
from tests.experiments.sweep.conftest import net_of
place = Path(sys.argv[1])
def step(name, point):
    with open(place / "said", "a") as file:
        print(name, point.label, point.seed, file=file, flush=True)
    time.sleep(0.3)
    return Folded(0.0)
def done(self, point):
    folder = self._place.point(point)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("trained", "timed"):
        self._once(folder, name, Folded, lambda: step(name, point))
    return net_of(point)
PointWorker.done = done
sweep.require_measures = lambda *_: None
run_sweep(Sweep(place / "plan.toml", output=place / "out", workers=2))
"""


def test_a_killed_sweep_resumes_without_repeats(tmp_path: Path) -> None:
    written(tmp_path, TRAIN + MEASURE + GRID)
    said = tmp_path / "said"

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE)

    def lines() -> list[str]:
        return said.read_text().splitlines() if said.exists() else []

    with start() as process:
        end = time.monotonic() + 200
        while len(lines()) < 7:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        process.kill()
    kept = {f"{net.label} {net.seed}" for net in nets_in(tmp_path / "out")}
    assert 0 < len(kept) < 8
    before = lines()
    assert read_run(tmp_path / "out").state == "running"
    table = (tmp_path / "out" / "table.md").read_text()
    assert len(kept) - 1 <= table.partition("## Best")[0].count("| dense width") <= len(kept)
    with start() as process:
        assert process.wait(200) == 0
    after = lines()[len(before) :]
    assert not [line for line in after if line.partition(" ")[2] in kept]
    assert len(nets_in(tmp_path / "out")) == 8
    # Completed steps of the two unfinished points were not repeated.
    assert max(Counter(lines()).values()) <= 2
    assert sum(count - 1 for count in Counter(lines()).values()) <= 2


def test_options_of_an_unfinished_point_are_fixed(tmp_path: Path, invented: list[str]) -> None:
    def sweep(epochs: int) -> Sweep:
        text = TRAIN + MEASURE + f'[[point]]\nname = "a"\nwidth = 32\nepochs = {epochs}\n'
        return Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1)

    run_sweep(sweep(2))
    folder = tmp_path / "out" / "points" / "a-0"
    folder.mkdir(parents=True)
    work.refuse_other_options(plan_with(tmp_path, sweep(2).plan.read_text()).listed[0], folder)
    with pytest.raises(ValueError, match="a: was begun with epochs 2, not 3; rename the point"):
        run_sweep(sweep(3))


def test_a_machine_without_access_to_the_folder_is_reported(tmp_path: Path) -> None:
    task = PointTask(Place(tmp_path / "out", frozenset()), Measures(()))
    with pytest.raises(FileNotFoundError, match=r"^\S+ does not see /.*/out: all machines need the same files"):
        task.open()


def test_the_folder_of_another_run_is_refused(tmp_path: Path, invented: list[str]) -> None:
    with RunWriter(tmp_path / "out", RunPlan("match")) as writer:
        writer.append(Failed("a", 0, label="a", why="b"))
    path = written(tmp_path, TRAIN + MEASURE + "[[point]]\nwidth = 32\n")
    with pytest.raises(ValueError, match="the verb match, not sweep"):
        run_sweep(Sweep(path, output=tmp_path / "out"))
