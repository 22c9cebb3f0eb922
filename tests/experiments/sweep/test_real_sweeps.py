"""Sweeps that train, measure and play, on threads and on a cluster; interrupted and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.checked_plan import plan_of
from experiments.sweep.columns import rows_of
from experiments.sweep.plan_file import read_entries
from experiments.sweep.results import Results
from experiments.sweep.summary import table_as_markdown
from experiments.sweep.sweep import Sweep, run_sweep
from lite.run_folder import read_run
from tests.experiments.sweep.conftest import nets_in, written

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "experiments" / "sample"


@pytest.fixture(scope="module")
def yardstick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from experiments.factory.cut import cut_evenly
    from experiments.factory.expansion import Relabelling, relabel

    folder = tmp_path_factory.mktemp("yard")
    relabel(Relabelling((SAMPLE / "valid_sample.hcpe3",), folder / "all"))
    cut_evenly([folder / "all"], 100, folder / "yard.hcpe")
    return folder / "yard.hcpe"


REAL = """
[train]
data = ["{sample}/teacher_sample.hcpe3"]
batch-size = 512
epochs = 1
positions = 4000
[measure]
valid = ["{sample}/valid_sample.hcpe3"]
positions = 2000
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
dims = [4, 2, 8]
data = ["none.hcpe3"]
[[peer]]
name = "shipped"
net = "dense-64-16"
"""


@pytest.mark.slow
def test_a_real_sweep_of_a_point_a_peer_and_a_failure(tmp_path: Path, yardstick: Path) -> None:
    path = written(tmp_path, REAL.format(sample=SAMPLE, yard=yardstick))
    report = run_sweep(Sweep(path, output=tmp_path / "out"))
    assert report.points == 2
    assert [label.partition(" ")[0] for label in report.failed][:1] == ["lite"]
    dense = next(net for net in nets_in(tmp_path / "out") if net.options)
    assert dense.size.shape == (32, 1, 8, 1)
    assert dense.timed is not None
    assert dense.timed.evaluation_ns > 0
    assert dense.trained is not None
    assert dense.trained.samples % 512 == 0
    lines = (tmp_path / "out" / "results.jsonl").read_text()
    run_sweep(Sweep(path, output=tmp_path / "out", games=False))
    assert len(nets_in(tmp_path / "out")) == 2
    assert (tmp_path / "out" / "results.jsonl").read_text().startswith(lines)


def test_a_correction_is_folded_onto_its_network(tmp_path: Path) -> None:
    text = (
        f'[train]\ndata = ["{SAMPLE}/teacher_sample.hcpe3"]\nbatch-size = 512\nepochs = 1\npositions = 1000\n'
        f'[measure]\nvalid = ["{SAMPLE}/valid_sample.hcpe3"]\npositions = 500\nrepeats = 0\n'
        '[[point]]\nkind = "dense"\nwidth = 32\nhidden = [4]\nactivation = "squared"\nperspectives = 2\n'
        'correct = "squared-64-16"\n'
    )
    report = run_sweep(Sweep(written(tmp_path, text), output=tmp_path / "out", workers=1, games=False))
    assert report.failed == {}
    (net,) = nets_in(tmp_path / "out")
    assert net.size.shape == (96, 2, 16 + 4, 1)


@pytest.mark.slow
def test_a_stopped_training_saves_its_state_and_resumes(tmp_path: Path, yardstick: Path) -> None:
    text = REAL.format(sample=SAMPLE, yard=yardstick).replace("epochs = 1", "epochs = 100")
    written(tmp_path, text[: text.index("[play]")] + text[text.index("[[space]]") : text.index("[[point]]")])
    command = [sys.executable, "-m", "liteshogi", "sweep", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not list((tmp_path / "out").glob("points/*/run/results.jsonl")):
            assert process.poll() is None
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert read_run(tmp_path / "out").state == "interrupted"
    assert any((tmp_path / "out").glob("points/*/run/state.safetensors"))
    done = subprocess.run([*command, "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout)["points"] == 1
    (net,) = nets_in(tmp_path / "out")
    assert net.trained is not None
    assert net.trained.resumed


@pytest.mark.slow
def test_failed_points_on_a_cluster_do_not_stop_others(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = f'[measure]\nvalid = ["{SAMPLE}/valid_sample.hcpe3"]\n'
    text = '[train]\nkind = "lite"\ndata = ["none.hcpe"]\n' + measure + "[[space]]\ndims = [[4, 2, 8], [4, 4, 8]]\n"
    monkeypatch.chdir(tmp_path)
    report = run_sweep(Sweep(written(tmp_path, text), output=Path("out"), ray=cluster.address))
    assert all("none.hcpe: no such file" in why for why in report.failed.values())
    assert len(report.failed) == 2
    assert list(tmp_path.glob("out/points/*/options.json")), (
        "results are where the sweep is, not where the cluster was started"
    )


TWO = """
[train]
kind = "dense"
data = ["{sample}/teacher_sample.hcpe3"]
hidden = 8
batch-size = 512
epochs = 2
positions = 8000
[measure]
valid = ["{sample}/valid_sample.hcpe3"]
positions = 2000
repeats = 0
[play]
who = "all"
by = ["nodes"]
games = 2
nodes = 50
[table.both]
form = "seeds"
[[point]]
name = "narrow"
width = 32
[[point]]
name = "wide"
width = 64
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
def test_a_sweep_interrupted_on_a_cluster_resumes_with_the_results_of_threads(tmp_path: Path, cluster: Any) -> None:
    path = written(tmp_path, TWO.format(sample=SAMPLE))
    there, here = tmp_path / "there", tmp_path / "here"
    command = [sys.executable, "-m", "liteshogi", "sweep", str(path), "-o", str(there), "--ray", cluster.address]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        while not list(there.glob("points/*/run/results.jsonl")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert read_run(there).state == "interrupted"
    assert len(nets_in(there)) < 2
    for sweep in (Sweep(path, output=there, ray=cluster.address), Sweep(path, output=here, workers=1)):
        report = run_sweep(sweep)
        assert (report.points, report.failed) == (2, {})
    assert table_of(path, there) == table_of(path, here) != ""


def table_of(path: Path, folder: Path) -> str:
    """Return the table of a plan's results, without times."""
    plan = plan_of(read_entries(path), str(path))
    return table_as_markdown(plan, rows_of(plan, Results.read(folder)), "both")
