"""The section of sweeps, on invented results and on those of the documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.report.charts import MACHINE
from experiments.report.nets_section import ACCURACY, COST, D1, ELSEWHERE, NONE_DONE, SHARE, nets_section
from experiments.report.report import find_runs
from experiments.report.section import Run
from experiments.sweep.results import Failed, NetResult, Results
from lite.run_folder import RunPlan, RunWriter, read_run
from tests.experiments.sweep.conftest import entries, games_of, net_of, on, planned

DATA = Path(__file__).parents[3] / "docs" / "results" / "data"
SPACES = {"point": [], "space": [{"width": [32, 64, 96], "seed": [0, 1]}], "peer": [{"name": "peer", "net": "default"}]}


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A sweep of six networks on two machines and of one imported network."""
    plan, folder = planned(**SPACES), tmp_path / "sweep"
    with RunWriter(folder, RunPlan("sweep", goal={"plan": entries(**SPACES), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for number, point in enumerate(plan.grid()):
            results.add(net := on(net_of(point), f"CPU {number % 2}"))
            results.add(games_of(net, "time", -50.0, number * 10.0, 90.0 + number))
        (peer,) = plan.listed
        base = net_of(replace(peer, options={"width": 32}))
        results.add(replace(base, options={}, label=peer.label, trained=None))
    return folder


def runs_of(*folders: Path) -> list[Run]:
    return [Run(folder.name, folder, read_run(folder)) for folder in folders]


def test_each_machine_has_its_own_front_without_peers(sweep: Path) -> None:
    section = nets_section(runs_of(sweep))
    titles = [chart.title for chart in section.charts]
    assert titles[:3] == [
        "sweep: d1-RMSE over cost",
        "sweep: accuracy on held-out games over cost",
        "sweep: Elo at equal time over cost",
    ]
    assert "sweep: effect of one option on d1-RMSE" in titles
    values = section.charts[0].spec["data"]["values"]
    assert {"CPU 0, avx2", "CPU 1, avx2"} < {row.get(MACHINE) for row in values}
    assert [row["network"] for row in values if row["kind"] == ELSEWHERE][:1] == ["peer"]
    assert {COST, D1, ACCURACY} <= values[0].keys()
    assert [table.title for table in section.tables] == [
        "sweep: best network per evaluation time",
        "sweep: all networks",
        "sweep: effect of one option",
    ]


def test_networks_of_an_earlier_plan_are_not_on_the_front(tmp_path: Path) -> None:
    train = {"kind": "dense", "data": ["d.hcpe"]}
    given = SPACES | {"train": train, "peer": []}
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(**given), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for epochs in ({"epochs": 2}, {}):
            for point in planned(**given | {"train": train | epochs}).grid():
                results.add(net_of(point, d1=0.001 if epochs else None))
    chart = nets_section(runs_of(tmp_path / "out")).charts[0]
    front = {row["network"] for row in chart.spec["layer"][0]["data"]["values"]}
    assert front
    assert not [name for name in front if "epochs 2" in name]


def test_a_named_point_beside_a_space_leaves_the_effects(tmp_path: Path) -> None:
    told = SPACES | {"point": [{"name": "named", "width": 128}]}
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(**told), "file": "plan.toml"})) as writer:
        results, plan = Results.of(writer), planned(**told)
        for point in (*plan.listed, *plan.grid()):
            if not point.net:
                results.add(net_of(point))
    section = nets_section(runs_of(tmp_path / "out"))
    assert "out: effect of one option" in [table.title for table in section.tables]


def test_accuracy_over_cost_has_its_interval(sweep: Path) -> None:
    chart = nets_section(runs_of(sweep)).charts[1]
    row = chart.spec["data"]["values"][0]
    assert row[f"{ACCURACY} from"] < row[ACCURACY] < row[f"{ACCURACY} to"]


def test_a_sweep_without_a_network_is_reported(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(), "file": "plan.toml"})):
        pass
    section = nets_section(runs_of(tmp_path / "out"))
    assert not section.charts
    assert section.tables[0].lines == [["out", NONE_DONE]]


def test_a_table_over_positions_without_the_yardstick_is_reported(tmp_path: Path) -> None:
    given = {"table": {"t": {"over": "positions"}}, "point": [{"name": "a"}, {"name": "b", "width": 32}]}
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(**given), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for point in planned(**given).listed:
            net = net_of(point, 50.0)
            results.add(replace(net, tested=replace(net.tested, d1_rmse=None, d1_rmse_error=None)))
    section = nets_section(runs_of(tmp_path / "out"))
    assert "out: t" in [table.title for table in section.tables]


@pytest.mark.parametrize("over", ["positions", "result share"])
def test_a_network_made_elsewhere_is_in_no_chart_over_its_training(tmp_path: Path, over: str) -> None:
    given = {"table": {"t": {"over": over}}, "peer": [{"name": "peer", "net": "default"}]}
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(**given), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for point in planned(**given).listed:
            results.add(net_of(point))
    (chart,) = [one for one in nets_section(runs_of(tmp_path / "out")).charts if one.title == "out: t: d1-RMSE"]
    assert [row["network"] for row in chart.spec["data"]["values"]] == ["a"]


def test_failed_points_are_shown_with_their_reasons(sweep: Path, tmp_path: Path) -> None:
    failed = Failed("a", 0, label="dense width 512", why="the loss is nan")
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(), "file": "plan.toml"})) as writer:
        Results.of(writer).add(failed)
    tables = nets_section(runs_of(tmp_path / "out")).tables
    assert tables[0].title == "out: failed"
    assert tables[0].lines == [["dense width 512", "0", "the loss is nan"]]
    assert tables[1].lines == [["out", NONE_DONE]]
    assert "sweep: failed" not in [table.title for table in nets_section(runs_of(sweep)).tables]


def test_sweeps_of_the_documents_are_shown() -> None:
    runs = find_runs([DATA / name for name in ("sweep_of_sizes", "sweep_of_parts", "positions_and_labels", "volume")])
    section = nets_section(runs)
    charts = {chart.title: chart.spec for chart in section.charts}
    shares = next(spec for title, spec in charts.items() if "Share of the result" in title)
    assert {row[SHARE] for row in shares["data"]["values"]} == {0, 10, 25, 50}
    assert any("Number of positions" in title for title in charts)
    assert any("Elo over d1-RMSE" in title for title in charts)
    assert all(origin.machine == "AMD EPYC, vnni" for origin in section.origins)
    nets = [net for run in runs for net in Results.read(run.path).all(NetResult)]
    assert len(nets) == 16 + 47 + 38 + 36


def curves_of(folder: Path, **given: Any) -> Counter[str]:
    """Return the curves over positions of a plan, with the number of networks of each."""
    with RunWriter(folder, RunPlan("sweep", goal={"plan": entries(**given), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for point in planned(**given).known_points():
            net = net_of(point, 50.0, 0.1)
            assert net.trained is not None
            results.add(replace(net, trained=replace(net.trained, samples=1_000_000 * point.options["positions"])))
    (chart,) = [one for one in nets_section(runs_of(folder)).charts if "over positions" in one.title]
    return Counter(row["network"] for row in chart.spec["data"]["values"])


def test_curves_over_positions_of_one_shape_are_lines_of_their_own(tmp_path: Path) -> None:
    space = {"width": [32], "positions": [1, 2], "lambda": [0.5, 1.0], "seed": [0, 1]}
    names = curves_of(tmp_path / "out", point=[], space=[space])
    of = "dense 32-1 lambda"
    assert names == dict.fromkeys([f"{of} {share} seed {seed}" for share in ("0.5", "1") for seed in (0, 1)], 2)


def test_networks_that_began_from_others_have_curves_of_their_own(tmp_path: Path) -> None:
    space = {"width": [32], "positions": [1, 2]}
    points: list[dict[str, Any]] = [{"name": "a", "width": 32, "positions": 3}]
    points += [{"width": 32, "positions": count, "after": "a"} for count in (4, 5)]
    curves = curves_of(tmp_path / "out", point=points, space=[space])
    assert curves == {"dense 32-1": 3, "dense 32-1 after a": 2}


def test_seeds_have_means_curves_and_calibration(tmp_path: Path) -> None:
    given = {"point": [{"name": "a"}, {"name": "b"}], "seeds": [0, 1], "table": {"t": {"form": "seeds"}}}
    with RunWriter(tmp_path / "out", RunPlan("sweep", goal={"plan": entries(**given), "file": "plan.toml"})) as writer:
        results = Results.of(writer)
        for point in planned(**given).listed:
            results.add(net := net_of(point, 50.0, 0.1))
            results.add(games_of(net, "nodes", -50.0, 10.0, 90.0))
    section = nets_section(runs_of(tmp_path / "out"))
    titles = [chart.title for chart in section.charts]
    assert "out: t: accuracy on held-out games" in titles
    assert "out: t: Elo at equal nodes" in titles
    assert section.tables[0].title == "out: t"
