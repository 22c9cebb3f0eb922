"""Sweeps: what is kept, that a killed one goes on, and that a point that fails stands alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from experiments.jobs import verb
from experiments.jobs.protocol import Stopped
from experiments.jobs.results import Results
from experiments.jobs.verb import Verbs
from experiments.sweep.configuration import Configuration, Measures, Point, read_configuration
from experiments.sweep.sampler import Sampler
from experiments.sweep.sweep import RESULTS, Sweep, run_sweep
from experiments.sweep.work import SweepTask
from lite.datasets.provenance import sha256_of
from liteshogi.commands.sweep import Command
from search.evaluation.shipped import network_file
from search.system.folder_lock import FolderLock
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, described, figures_of

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPACES = (
    '[[space]]\nkind = ["dense"]\nwidth = { low = 32, high = 256, step = 32 }\n'
    '[[space]]\nkind = ["lite"]\ndims = [[4, 2, 8], [8, 4, 8]]\nlearning-rate = { low = 0.1, high = 1, log = true }\n'
)


def test_a_peer_that_was_measured_stays_that_net(tmp_path: Path) -> None:
    def peer(net: Path | str) -> Sweep:
        text = TRAIN + MEASURE + f'[[peer]]\nname = "p"\nnet = "{net}"\n'
        return Sweep(described(tmp_path, text), tmp_path / "out", workers=1)

    (tmp_path / "out").mkdir()
    told = {"options": {}, "net": "default", "sha256": sha256_of(network_file("default"))}
    line = figures_of(Point({"width": 8}, "p")) | told
    Results(tmp_path / "out" / RESULTS).add("net", "p", 0, line)
    assert run_sweep(peer(network_file("default")))["points"] == 1  # the same net, elsewhere
    with pytest.raises(ValueError, match="p has been measured with another net than dense-64-16; rename it"):
        run_sweep(peer("dense-64-16"))


def test_measures_can_be_mended_until_something_was_measured(tmp_path: Path) -> None:
    sweep = Sweep(described(tmp_path, TRAIN + MEASURE + '[[peer]]\nname = "p"\nnet = "default"\n'), tmp_path / "out")
    assert run_sweep(sweep)["points"] == 0  # there are no such positions
    described(tmp_path, TRAIN + MEASURE.replace("y.hcpe", "z.hcpe") + '[[peer]]\nname = "p"\nnet = "default"\n')
    assert run_sweep(sweep)["points"] == 0


def test_the_measures_of_before_are_known_where_the_folder_s_own_file_was_edited(
    tmp_path: Path, invented: list[str]
) -> None:
    text, out = TRAIN + MEASURE + "[[space]]\nwidth = [32]\n", tmp_path / "out"
    run_sweep(Sweep(described(tmp_path, text), out, workers=1))
    described(out, text.replace("y.hcpe", "z.hcpe"))
    with pytest.raises(ValueError, match=r"measured with .*'y.hcpe'.*, not .*'z.hcpe'"):
        run_sweep(Sweep(out / "sweep.toml", out, workers=1))
    described(out, text)
    (out / RESULTS).write_text("".join(line for line in (out / RESULTS).open() if '"net"' in line))  # an older sweep's
    described(tmp_path, text.replace("y.hcpe", "z.hcpe"))
    with pytest.raises(ValueError, match="were measured with"):
        run_sweep(Sweep(tmp_path / "sweep.toml", out, workers=1))
    assert run_sweep(Sweep(out / "sweep.toml", out, workers=1))["points"] == len(invented) == 1


@pytest.mark.parametrize("changed", ["v.hcpe3", "y.hcpe", "d.hcpe"])
def test_a_sweep_does_not_go_on_by_other_files(
    tmp_path: Path, invented: list[str], monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Of equal sizes, too; those that lie elsewhere by now do no harm."""
    monkeypatch.chdir(tmp_path)
    for name in ("v.hcpe3", "y.hcpe", "d.hcpe"):
        Path(name).write_bytes(b"before")
    sweep = Sweep(described(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [32]\n"), Path("out"), workers=1)
    run_sweep(sweep)
    Path(changed).write_bytes(b"behind")
    described(tmp_path, TRAIN + MEASURE + "[[space]]\nwidth = [32, 128]\n")
    with pytest.raises(ValueError, match=f"^{changed}: has changed since the sweep of out was begun; restore it, or"):
        run_sweep(sweep)
    assert len(invented) == 1
    Path(changed).unlink()
    assert run_sweep(sweep)["points"] == 2


def test_a_point_whose_positions_cannot_be_cut_is_told_of(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As any other that fails: in the table and at once."""
    text = TRAIN + "positions = 9\n" + MEASURE + "[[point]]\nwidth = 8\n"
    report = run_sweep(Sweep(described(tmp_path, text), tmp_path / "out", workers=1))
    (why,) = report["failed"].values()
    assert "d.hcpe" in why
    assert why in (tmp_path / "out" / "table.md").read_text()
    assert f"dense width 8, seed 0: {why}\n" in capfd.readouterr().err


def test_a_point_is_not_trained_where_no_game_stands_behind_what_judges_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_games: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.hcpe").write_bytes(without_games)
    text = TRAIN + MEASURE.replace("v.hcpe3", "v.hcpe") + "[[point]]\nwidth = 8\n"
    report = run_sweep(Sweep(described(tmp_path, text), Path("out"), workers=1))
    (why,) = report["failed"].values()
    assert why.startswith("v.hcpe: no game stands behind any of the positions")


def test_a_sweep_whose_every_point_fails_has_failed(
    tmp_path: Path, invented: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One that has measured something has not."""
    for widths in ("[64]", "[32, 64]"):
        path = described(tmp_path, TRAIN + MEASURE + f"[[space]]\nwidth = {widths}\n")
        command = Command(path, output=tmp_path / "out", workers=1, json=True)
        if widths == "[64]":
            with pytest.raises(ValueError, match=r"out: every point has failed; .*table\.md tells why"):
                command.run()
        else:
            command.run()
        report = json.loads(capsys.readouterr().out)
        assert list(report["failed"]) == ["dense width 64"]


def test_a_point_that_fails_stands_alone_and_is_tried_again(tmp_path: Path, invented: list[str]) -> None:
    sweep = Sweep(described(tmp_path, TRAIN + MEASURE + GRID), tmp_path / "out", workers=2)
    report = run_sweep(sweep)
    assert report["points"] == 4
    assert set(report["failed"].values()) == {"no net of this width"}
    table = (tmp_path / "out" / "table.md").read_text()
    assert "| dense width 32 hidden 8 seed 1" in table
    assert "Failed: dense width 64 hidden 8 seed 0, seed 0: no net of this width" in table
    assert len(invented) == 8
    run_sweep(sweep)
    assert Counter(invented) == {label: 1 + ("width 64" in label) for label in invented}
    assert (tmp_path / "out" / "sweep.toml").read_bytes() == sweep.configuration.read_bytes()
    described(tmp_path, TRAIN + MEASURE.replace("y.hcpe", "z.hcpe") + GRID)
    with pytest.raises(ValueError, match="were measured with"):
        run_sweep(sweep)


@pytest.mark.parametrize("search", ["random", "tpe", "nsga2"])
def test_samplers_choose_as_many_as_are_wanted(tmp_path: Path, invented: list[str], search: str) -> None:
    pytest.importorskip("optuna")
    text = f'search = "{search}"\npoints = %d\n[train]\ndata = ["d"]\n' + MEASURE + SPACES
    sweep = Sweep(described(tmp_path, text % 6), tmp_path / "out", workers=1)
    done = run_sweep(sweep)
    assert done["points"] + len(done["failed"]) == 6
    before = list(invented)
    again = run_sweep(sweep)
    assert again["points"] >= done["points"]
    assert all("width 64" in label for label in invented[len(before) :]) or again["points"] == 6
    described(tmp_path, text % 12)
    more = run_sweep(sweep)
    assert more["points"] + len(more["failed"]) == 12
    assert max(Counter(label for label in invented if not label.endswith("width 64")).values()) == 1


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("width = [8, 16]\n", "width = [8, 16, 24]\n", "width"),
        ("width = [8, 16]\n", "width = { low = 8, high = 16 }\n", "width"),
        ("width = [8, 16]\n", "width = [8, 16]\n[[space]]\nwidth = [24]\n[[space]]\nwidth = [32]\n", r"\[\[space\]\]"),
    ],
)
def test_the_choices_of_a_study_are_fixed(
    tmp_path: Path, invented: list[str], before: str, after: str, name: str
) -> None:
    """Told before a point is begun: with the choices of before it goes on."""
    pytest.importorskip("optuna")
    text = 'search = "tpe"\npoints = %d\n[train]\nkind = "dense"\ndata = ["d"]\n' + MEASURE
    text += "[[space]]\nwidth = [40]\n[[space]]\n" if name != "width" else "[[space]]\n"
    sweep = Sweep(described(tmp_path, text % 2 + before), tmp_path / "out", workers=1)
    run_sweep(sweep)
    done = list(invented)
    described(tmp_path, text % 4 + after)
    with pytest.raises(ValueError, match=rf"study.log: .* other choices of {name}, .*use another -o"):
        run_sweep(sweep)
    described(tmp_path, text % 2 + before)
    assert run_sweep(sweep)["points"] == 2
    assert invented == done


def test_what_was_under_way_comes_first(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    text = 'search = "tpe"\npoints = 5\n[train]\ndata = ["d"]\n' + MEASURE + SPACES
    configuration: Configuration = read_configuration(described(tmp_path, text))
    results = Results(tmp_path / "points.jsonl")
    source = Sampler(configuration, tmp_path, results).points()
    first, second = next(source), next(source)
    results.add("net", first.name, first.seed, figures_of(first))  # killed before optuna was told
    sampler = Sampler(configuration, tmp_path, results)
    again = next(sampler.points())
    assert (again.name, again.label) == (second.name, second.label)
    trials = sampler._study.trials
    assert [trial.values for trial in trials if trial.values] == [
        [figures_of(first)[aim] for aim in ("d1_rmse", "evaluation_ns")]
    ]


KILLED = """
import sys, time
from pathlib import Path
from experiments.sweep import work
from experiments.sweep.sweep import RESULTS, Sweep, run_sweep
from tests.experiments.sweep.conftest import figures_of
from experiments.sweep.table import as_markdown
from experiments.sweep.work import SweepWorker
place = Path(sys.argv[1])
def step(name):
    def make(self, point, *_):
        with open(place / "said", "a") as file:
            print(name, point.label, file=file, flush=True)
        time.sleep(0.3)
        return {}
    return make
def measured(self, point):
    folder = work.folder_of(point, self._task.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("trained", "timed"):
        self._once(folder / name, lambda: step(name)(self, point))
    return figures_of(point)
SweepWorker._measured = measured
run_sweep(Sweep(place / "sweep.toml", place / "out", workers=2))
"""


def test_a_killed_sweep_goes_on_and_repeats_nothing_that_is_done(tmp_path: Path) -> None:
    described(tmp_path, TRAIN + MEASURE + GRID)
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
    found = Results(tmp_path / "out" / RESULTS).lines
    kept = {line["label"] for (kind, _, _), line in found.items() if kind == "net"}
    assert 0 < len(kept) < 8
    before = lines()
    table = (tmp_path / "out" / "table.md").read_text()
    assert len(kept) - 1 <= table.partition("\n\n")[0].count("| dense width") <= len(kept)
    with start() as process:
        assert process.wait(200) == 0
    after = lines()[len(before) :]
    assert not [line for line in after if line.partition(" ")[2] in kept]
    assert Counter(kind for kind, _, _ in Results(tmp_path / "out" / RESULTS).lines) == {"measures": 1, "net": 8}
    # Of the two that were under way no step that had ended was done again.
    assert max(Counter(lines()).values()) <= 2
    assert sum(count - 1 for count in Counter(lines()).values()) <= 2


def test_a_stopped_verb_ends_and_no_other_begins(tmp_path: Path) -> None:
    verbs = Verbs()
    verbs.stop()
    with pytest.raises(Stopped):
        verbs.run(["--version"])
    with FolderLock(tmp_path), pytest.raises(Stopped), verbs.alone_in(tmp_path):
        pass


def test_a_verb_that_ends_while_it_is_stopped_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system has given its number back by the time that `stop` would send a signal to it."""
    verbs, ended = Verbs(), verb._ended

    def ends_and_is_stopped(process: subprocess.Popen[bytes]) -> tuple[int, float]:
        found = ended(process)
        verbs.stop()
        return found

    monkeypatch.setattr(verb, "_ended", ends_and_is_stopped)
    with pytest.raises(Stopped):
        verbs.run(["--help"])


def test_a_failing_verb_says_its_last_words() -> None:
    with pytest.raises(ValueError, match=r"liteshogi sweeep: error: no verb 'sweeep'; did you mean sweep"):
        Verbs().run(["sweeep"])
    with pytest.raises(ValueError, match=r"Unrecognized options: --noodles") as told:  # which stands in a frame
        Verbs().run(["bench", "search", "--noodles"])
    assert not set(str(told.value)) & set("╭╮╰╯│─\n")
    cores = {max(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else set()
    printed, taken = Verbs(cores).run(["--version"])
    assert printed.startswith("liteshogi ")
    assert taken.keys() == {"seconds", "cpu_seconds"}


@pytest.fixture(scope="module")
def yardstick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from experiments.factory.cut import cut_evenly

    folder = tmp_path_factory.mktemp("yard")
    subprocess.run(
        [sys.executable, "-m", "liteshogi", "relabel", str(SAMPLE / "valid_sample.hcpe3"), "-o", str(folder / "all")],
        check=True,
        capture_output=True,
    )
    cut_evenly([folder / "all"], 100, folder / "yard.hcpe")
    return folder / "yard.hcpe"


REAL = """
[train]
data = ["{sample}/teacher_sample.hcpe3"]
batch-size = 512
epochs = 1
[measure]
valid = ["{sample}/valid_sample.hcpe3"]
yardstick = ["{yard}"]
repeats = 1
[play]
games = 2
nodes = 50
near = 1.0
[[space]]
kind = "dense"
width = [32]
hidden = [[8]]
[[point]]
kind = "lite"
dims = [4, 2]
[[peer]]
name = "shipped"
net = "dense-64-16"
"""


@pytest.mark.slow
def test_a_real_sweep_of_a_point_a_peer_and_a_failure(tmp_path: Path, yardstick: Path) -> None:
    path = described(tmp_path, REAL.format(sample=SAMPLE, yard=yardstick))
    report = run_sweep(Sweep(path, tmp_path / "out"))
    assert report["points"] == 2
    assert list(report["failed"]) == ["lite dims 4,2"]
    results = Results(tmp_path / "out" / "points.jsonl")
    kinds = Counter(kind for kind, _, _ in results.lines)
    assert kinds == {"measures": 1, "data": 3, "failed": 1, "net": 2, "games": 2, "timed games": 2, "speed": 1}
    dense = next(line for line in results.lines.values() if line.get("label", "").startswith("dense width"))
    assert dense["shape"] == [32, 1, 8, 1]
    assert dense["evaluation_ns"] > 0
    assert dense["samples"] == 408_811 // 512 * 512
    lines = dict(results.lines)
    run_sweep(Sweep(path, tmp_path / "out"))
    assert Results(tmp_path / "out" / "points.jsonl").lines == lines


@pytest.mark.slow
def test_a_stopped_training_saves_its_state_and_goes_on(tmp_path: Path, yardstick: Path) -> None:
    text = REAL.format(sample=SAMPLE, yard=yardstick).replace("epochs = 1", "epochs = 40")
    described(tmp_path, text[: text.index("[play]")] + text[text.index("[[space]]") : text.index("[[point]]")])
    command = [sys.executable, "-m", "liteshogi", "sweep", str(tmp_path / "sweep.toml"), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not list((tmp_path / "out").glob("points/*/run/log.jsonl")):
            assert process.poll() is None
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert any((tmp_path / "out").glob("points/*/run/state.safetensors"))
    done = subprocess.run([*command, "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout)["points"] == 1
    (line,) = [one for (kind, _, _), one in Results(tmp_path / "out" / "points.jsonl").lines.items() if kind == "net"]
    assert line["resumed"]


def test_a_machine_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    task = SweepTask(tmp_path / "out", Measures((), ()))
    with pytest.raises(
        FileNotFoundError, match=r"^\S+ does not see /.*/out: all machines of a sweep need the same files"
    ):
        task.open()


@pytest.mark.slow
def test_a_cluster_does_points_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = pytest.importorskip("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    measure = MEASURE.replace("v.hcpe3", str(SAMPLE / "valid_sample.hcpe3"))
    text = '[train]\nkind = "lite"\ndata = ["none.hcpe"]\n' + measure + "[[space]]\ndims = [[4, 2, 8], [4, 2]]\n"
    try:
        monkeypatch.chdir(tmp_path)
        report = run_sweep(Sweep(described(tmp_path, text), Path("out"), ray=cluster.address))
    finally:
        cluster.shutdown()
    first, second = (report["failed"][f"lite dims {dims}"] for dims in ("4,2,8", "4,2"))
    assert "none.hcpe: no such file" in first
    assert list(tmp_path.glob("out/points/*/options.json")), "where the sweep is, not where the cluster was started"
    assert "dims" in second
