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
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.results import Results
from experiments.sweep import games
from experiments.sweep.budgets import budgets_as_markdown
from experiments.sweep.configuration import Configuration, Point, read_configuration
from experiments.sweep.effects import effects_as_markdown, pairs_of
from experiments.sweep.games import near_front, play_games, who_plays
from experiments.sweep.sampler import Sampler
from experiments.sweep.sweep import RESULTS, Sweep, run_sweep
from experiments.sweep.table import as_markdown, sweep_nets
from experiments.sweep.work import SweepWorker
from experiments.timing import sizes
from experiments.verb import Verbs
from lite.datasets.provenance import sha256_of
from liteshogi.commands.sweep import Command
from search.evaluation.bench import random_network
from search.evaluation.shipped import network_file
from search.machine.folder_lock import FolderLock
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, described

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "experiments" / "sample"
SPACES = (
    '[[space]]\nkind = ["dense"]\nwidth = { low = 32, high = 256, step = 32 }\n'
    '[[space]]\nkind = ["lite"]\ndims = [[4, 2, 8], [8, 4, 8]]\nlearning-rate = { low = 0.1, high = 1, log = true }\n'
)


def figures_of(point: Point) -> dict[str, Any]:
    """Invented, the better the dearer."""
    width = point.options.get("width") or 10 * point.options["dims"][0]
    invented = {"d1_rmse": 1 / width, "d1_rmse_error": 0.001, "accuracy": 0.6, "log_loss": 0.6, "evaluation_ns": width}
    maker = {"cpu": "One CPU", "kernel": "avx2", "version": "1", "commit": "a"}
    told = {"label": point.label, "options": dict(point.options), "net": "n", "nps": 1000, "bytes": 1, "sha256": "0"}
    return invented | maker | told | {"features": "piece_square", "shape": [width, 1], "multiply_adds": width}


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Points that cost nothing; the labels of those that were done."""
    done: list[str] = []

    def measured(_: SweepWorker, point: Point) -> dict[str, Any]:
        done.append(point.label)
        if point.options.get("width") == 64:
            raise ValueError("no net\nof this width")
        return figures_of(point)

    monkeypatch.setattr(SweepWorker, "_measured", measured)
    return done


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


def test_a_point_whose_positions_cannot_be_cut_is_told_of(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As any other that fails: in the table and at once."""
    text = TRAIN + "positions = 9\n" + MEASURE + "[[point]]\nwidth = 8\n"
    report = run_sweep(Sweep(described(tmp_path, text), tmp_path / "out", workers=1))
    (why,) = report["failed"].values()
    assert "d.hcpe" in why
    assert why in (tmp_path / "out" / "table.md").read_text()
    assert f"dense width 8, seed 0: {why}\n" in capfd.readouterr().err


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
from tests.experiments.sweep.test_sweep import figures_of
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
    kept = {line["label"] for line in map(json.loads, (tmp_path / "out" / "points.jsonl").read_text().splitlines())}
    assert 0 < len(kept) < 8
    before = lines()
    table = (tmp_path / "out" / "table.md").read_text()
    assert len(kept) - 1 <= table.partition("\n\n")[0].count("| dense width") <= len(kept)
    with start() as process:
        assert process.wait(200) == 0
    after = lines()[len(before) :]
    assert not [line for line in after if line.partition(" ")[2] in kept]
    assert len(Results(tmp_path / "out" / "points.jsonl").lines) == 8
    # Of the two that were under way no step that had ended was done again.
    assert max(Counter(lines()).values()) <= 2
    assert sum(count - 1 for count in Counter(lines()).values()) <= 2


def test_a_stopped_verb_ends_and_no_other_begins(tmp_path: Path) -> None:
    from experiments.factory.jobs import Stopped

    verbs = Verbs()
    verbs.stop()
    with pytest.raises(Stopped):
        verbs.run(["--version"])
    with FolderLock(tmp_path), pytest.raises(Stopped), verbs.alone_in(tmp_path):
        pass


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


def test_times_stand_beside_halfkp_s_where_it_was_timed(tmp_path: Path) -> None:
    results = Results(tmp_path / "points.jsonl")
    point = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID)).point({"width": 32})
    results.add("net", point.name, 0, figures_of(point))
    results.add("net", point.name, 1, figures_of(point) | {"reference_ns": 128.0})
    assert [cells["of HalfKP's"] for cells in cells_of(as_markdown(results))] == ["", "0.25"]


def test_games_are_told_as_far_as_they_tell(tmp_path: Path) -> None:
    results = Results(tmp_path / "points.jsonl")
    point = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID)).point({"width": 32})
    results.add("net", point.name, 0, figures_of(point))
    games = {"games": 2, "wins": 1, "draws": 0, "losses": 1, "elo": 0.0, "elo_low": None, "elo_high": None}
    results.add("games", point.name, 0, games)
    results.add("timed games", point.name, 0, games | {"elo": 50.0, "elo_low": 10.0, "elo_high": 90.0})
    (cells,) = cells_of(as_markdown(results))
    assert cells["Elo at equal nodes"] == "too few games for an Elo"
    assert cells["Elo at equal time"] == "+50 +- 40"


def cells_of(table: str) -> list[dict[str, str]]:
    """The lines of a Markdown table, by its headings."""
    head, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


def standing(points: float, low: float | None, elo: float | None, high: float | None) -> dict[str, Any]:
    return {"games": 4, "points": points, "elo": elo, "elo_low": low, "elo_high": high, "opponent": "peer"}


def test_what_is_best_for_so_many_nanoseconds_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    results = Results(tmp_path / "points.jsonl")
    configuration = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID))
    for width in (40, 48, 90, 190, 195):
        point = configuration.point({"width": width})
        results.add("net", point.name, 0, figures_of(point))
    few = configuration.point({"width": 196, "positions": 5})
    results.add("net", few.name, 0, figures_of(few))
    results.add(
        "net", "peer", 0, figures_of(few) | {"label": "peer", "net": "peer", "options": {}, "evaluation_ns": 99}
    )

    def best() -> dict[tuple[str, str], dict[str, str]]:
        found = cells_of(budgets_as_markdown(sweep_nets(results)))
        return {(cells["made in"], cells["ns at most"]): cells for cells in found}

    unplayed = best()
    assert unplayed["this sweep", "25"]["best net"] == "none: the cheapest costs 40 ns"
    assert unplayed["this sweep", "50"]["best net"] == "dense width 48"
    assert unplayed["this sweep", "50"]["best by"] == "d1-RMSE"
    assert unplayed["this sweep", "50"]["Elo at equal time"] == "not played"
    assert unplayed["this sweep", "200"]["best net"] == "dense width 195"
    games = {40: (1, -40, -20, 10), 90: (4, 0, None, None), 190: (3, 20, 60, 100), 195: (2, -20, 10, 55)}
    for width, (points, *elo) in games.items():
        results.add("timed games", configuration.point({"width": width}).name, 0, standing(points, *elo))
    played = best()
    assert [played["this sweep", budget]["best net"] for budget in ("50", "100", "200")] == [
        "dense width 40",
        "dense width 90",
        "dense width 90",
    ]
    assert [played["this sweep", budget]["others not told from it"] for budget in ("50", "100")] == ["0", "0"]
    assert played["elsewhere", "50"]["best net"] == "none: the cheapest costs 99 ns"
    assert played["elsewhere", "100"]["Elo at equal time"] == "0, the opponent"
    results.add("timed games", configuration.point({"width": 90}).name, 0, standing(2, -20, 60, 58))
    results.add("timed games", configuration.point({"width": 195}).name, 0, standing(2, -20, 10, 65))
    again = best()["this sweep", "200"]
    assert (again["best net"], again["others not told from it"]) == ("dense width 90", "2")


def test_one_option_at_a_time_is_told_from_its_default(tmp_path: Path) -> None:
    configuration = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID))

    def net(loss: float, cost: float, **options: Any) -> dict[str, Any]:
        point = configuration.point(options)
        figures = figures_of(configuration.point({"width": 32}))
        return figures | {"options": dict(point.options), "d1_rmse": loss, "evaluation_ns": cost}

    nets = [
        net(0.14, 40, width=32),
        net(0.12, 60, width=64),
        net(0.11, 70, width=64, king="zones"),
        net(0.13, 50, width=32, king="zones"),
        net(0.13, 50, width=32, king="zones", buckets=1),  # the default, said
        net(0.125, 60, width=64, seed=1),
        net(0.2, 60, width=64, positions=7),
        net(0.15, 50, width=32, **{"learning-rate": 0.04}),
        net(0.16, 40, width=32, **{"learning-rate": 0.01}),
        net(0.16, 40, width=32, positions=7, **{"learning-rate": 0.04}),
        net(0.19, 70, width=96, kind="k_p"),
        net(0.18, 70, width=96, kind="half_kp"),
        {"options": {}},
    ]
    pairs = pairs_of(nets)
    assert [(pair.words, round(pair.d1, 4), round(pair.cost)) for pair in pairs] == [
        ("width 64 to 32", 0.02, -20),
        ("width 64 to 32", 0.02, -20),
        ("width 64 to 32", 0.02, -20),
        ("king none to zones", -0.01, 10),
        ("king none to zones", -0.01, 10),
        ("king none to zones", -0.01, 10),
        ("seed 0 to 1", 0.005, 0),
        ("kind half_kp to k_p", 0.01, 0),
        ("learning-rate 0.04 to 0.01", 0.01, -10),
    ]
    cells = cells_of(effects_as_markdown(pairs))[1]
    assert (cells["pairs"], cells["d1-RMSE"], cells["ns"]) == ("3", "-0.0100 +- 0.0014", "+10")


def test_sizes_by_hand() -> None:
    found = sizes(random_network("piece_square", 64, (16,), 2))
    rows = found["bytes"] - 2 * 64 - (16 * 128 + 16) - 4 * (16 + 1)
    assert rows == random_network("piece_square", 64, (16,), 2).rows.nbytes
    assert (found["multiply_adds"], found["row_lanes"]) == (16 * 128 + 16, 128)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1), st.integers(0, 4))
def test_near_the_front_is_what_little_money_does_not_beat(pairs: list[tuple[int, int]], near: int) -> None:
    nets = [{"evaluation_ns": cost, "d1_rmse": float(loss)} for cost, loss in pairs]
    found = near_front(nets, near)
    for net in nets:
        best = min(one["d1_rmse"] for one in nets if one["evaluation_ns"] <= net["evaluation_ns"])
        assert (net in found) == (net["d1_rmse"] <= best + near)


def test_nets_made_elsewhere_and_a_curve_over_positions_set_no_bar() -> None:
    def net(name: str, cost: float, loss: float, **options: Any) -> dict[str, Any]:
        return {"name": name, "seed": 0, "evaluation_ns": cost, "d1_rmse": loss, "options": options}

    own = [net("small", 50, 0.13, positions=20), net("large", 90, 0.11, positions=20)]
    poor = [net("dear and poor", 99, 0.12, positions=20), net("of few", 40, 0.128, positions=5)]
    peers = [net("better and cheaper", 40, 0.09), net("poor", 200, 0.2)]
    assert who_plays([*peers, *own, *poor], 0.002) == [*own, *peers]
    of_all = net("of all the data", 90, 0.11, width=64)
    assert who_plays([*own, of_all, *peers], 0.002) == [of_all, *peers]
    assert who_plays(peers, 0.002) == peers


def test_games_are_played_once_net_by_net_at_the_speed_that_the_sweep_has_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[list[str]] = []
    standing = {"games": 2, "wins": 1, "draws": 0, "losses": 1, "points": 1.0}
    standing |= {"elo": 0.0, "elo_low": None, "elo_high": None}

    def run(_: Verbs, words: list[str]) -> tuple[str, dict[str, float]]:
        played.append(words)
        return json.dumps(standing), {"seconds": 1.0, "cpu_seconds": 1.0}

    monkeypatch.setattr(Verbs, "run", run)
    configuration = read_configuration(
        described(tmp_path, TRAIN + MEASURE + '[play]\nopponent = "default"\nnodes = 300\n' + GRID)
    )
    results = Results(tmp_path / "points.jsonl")
    point = configuration.point({"width": 32})
    results.add("net", point.name, 0, figures_of(point) | {"net": "own", "nps": 2000})
    results.add("net", "peer", 0, figures_of(point) | {"net": "default", "options": {}, "nps": 1000})
    play = configuration.play
    assert play is not None
    first = next(play_games(results, play, configuration.measures, tmp_path))
    assert (first["kind"], results.find("timed games", point.name)) == ("games", None)
    assert [line["nodes"] for line in play_games(results, play, configuration.measures, tmp_path)] == [600]
    assert not list(play_games(results, play, configuration.measures, tmp_path))
    assert [words[1:3] for words in played] == [["own", "default"]] * 2
    assert {words[words.index("--second-nodes") + 1] for words in played} == {"300"}
    monkeypatch.setattr(games, "time_network", lambda *_: {"nps": 500})
    results.lines.pop(("net", "peer", 0))
    results.lines.pop(("timed games", point.name, 0))
    assert [line["nodes"] for line in play_games(results, play, configuration.measures, tmp_path)] == [1200]
    assert results.lines["opponent", "default", 0]["nps"] == 500


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
    assert kinds == {"data": 3, "failed": 1, "net": 2, "games": 2, "timed games": 2, "opponent": 1}
    dense = next(line for line in results.lines.values() if line.get("label", "").startswith("dense width"))
    assert dense["shape"] == [32, 1, 8, 1]
    assert dense["evaluation_ns"] > 0
    assert dense["samples"] > 100_000
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


@pytest.mark.slow
def test_a_cluster_does_points_too(tmp_path: Path) -> None:
    cluster = pytest.importorskip("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    text = '[train]\nkind = "lite"\ndata = ["none.hcpe"]\n' + MEASURE + "[[space]]\ndims = [[4, 2, 8], [4, 2]]\n"
    try:
        report = run_sweep(Sweep(described(tmp_path, text), tmp_path / "out", ray=cluster.address))
    finally:
        cluster.shutdown()
    first, second = (report["failed"][f"lite dims {dims}"] for dims in ("4,2,8", "4,2"))
    assert "none.hcpe: no such file" in first
    assert "dims" in second
