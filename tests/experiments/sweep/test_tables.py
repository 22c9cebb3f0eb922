"""Tables and pictures of a plan's results: by cost, by games, by option, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.drawing.markdown import markdown_cells
from experiments.report.section import Table
from experiments.sweep.budgets import budgets_as_markdown
from experiments.sweep.columns import ALL, Row, failures, nets_as_markdown, rows_of
from experiments.sweep.effects import effects_as_markdown, pairs_of
from experiments.sweep.plan import Plan
from experiments.sweep.results import Failed, NetResult, Results, StepTimes
from experiments.sweep.seeds import Mean, compare, mean_of, seeds_as_markdown
from experiments.sweep.steps import Epoch, Rare
from experiments.sweep.summary import correlation, fill_page, rows_in, summary
from experiments.sweep.sweep import Sweep, _in_brief, run_sweep
from lite.training.metrics import Band, CalibrationBin
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, games_of, net_of, on, plan_with, planned, written


def cells_of(table: str) -> list[dict[str, str]]:
    """Return the lines of a Markdown table, by its headings."""
    head, _, *lines = map(markdown_cells, table.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_with(tmp_path, TRAIN + MEASURE + GRID)


@pytest.fixture
def sampled(tmp_path: Path) -> Plan:
    """A plan of which any network may be."""
    return plan_with(tmp_path, 'search = "random"\npoints = 9\n' + TRAIN + MEASURE + GRID)


def test_the_key_figures_follow_the_name() -> None:
    names = [name for name, _ in ALL]
    assert names[:6] == ["network", "d1-RMSE", "Elo at equal time", "ns per evaluation", "log loss", "accuracy"]


def test_times_are_shown_with_that_of_halfkp_and_their_spread(plan: Plan) -> None:
    results, net = Results(), net_of(plan.made({"width": 32}))
    assert net.timed is not None
    results.add(net)
    results.add(replace(net, seed=1, timed=replace(net.timed, reference_ns=128.0, evaluation_spread=0.34)))
    found = cells_of(nets_as_markdown(rows_of(plan, results), ALL))
    assert [cells["ns / HalfKP's"] for cells in found] == ["", "0.25"]
    assert [cells["spread of ns"] for cells in found] == ["1 %", "34 %"]
    assert found[0]["accuracy"] == "60.00 +- 1.50 %"
    assert _in_brief(net).startswith("accuracy 60.00 +- 1.50 %, d1-RMSE ")


def test_a_time_whose_runs_never_agreed_has_its_spread(plan: Plan) -> None:
    results, net = Results(), net_of(plan.made({"width": 32}))
    assert net.timed is not None
    results.add(net)
    results.add(replace(net, seed=1, timed=replace(net.timed, evaluation_spread=0.34)))
    found = cells_of(nets_as_markdown(rows_of(plan, results), ALL))
    steady = found[0]["ns per evaluation"]
    assert steady.isdigit()
    assert found[1]["ns per evaluation"] == f"{steady} (spread 34 %)"


def test_networks_of_an_earlier_plan_have_titles_of_their_own_and_are_not_of_this_plan(tmp_path: Path) -> None:
    grid = '[[space]]\nwidth = [32, 64]\n[[point]]\nname = "own"\nwidth = 96\nhidden = [8]\n'
    plans = [plan_with(tmp_path, TRAIN + f"epochs = {epochs}\n" + MEASURE + grid) for epochs in (1, 3)]
    results = Results()
    for number, of in enumerate(plans):
        for point in of.known_points():
            results.add(net_of(point, d1=0.2 if number else 0.1))
    titles = [row.title for row in rows_of(plans[1], results)]
    assert titles == ["own"] + [f"dense width {width} epochs {epochs}" for epochs in (3, 1) for width in (32, 64)]
    (best, *_) = cells_of(budgets_as_markdown(rows_of(plans[1], results)))
    assert "epochs 1" not in str(best)
    alone = Results()
    for point in plans[1].known_points():
        alone.add(net_of(point))
    assert [row.title for row in rows_of(plans[1], alone)] == ["own", "dense width 32", "dense width 64"]


def test_only_failures_of_the_plan_are_shown(tmp_path: Path) -> None:
    play, grid = '[play]\nby = ["nodes"]\n', "[[space]]\nwidth = [32, 64]\n"
    plan = plan_with(tmp_path, TRAIN + MEASURE + play + grid)
    results, (done, failed) = Results(), plan.known_points()
    results.add(net_of(done))
    for name in (failed.name, "removed", f"{done.name}: nodes", f"{done.name}: time"):
        results.add(Failed(name, 0, label=name, why="why"))
    kept = [one.name for one in failures(plan, rows_of(plan, results), results)]
    assert kept == [failed.name, f"{done.name}: nodes"]
    random = plan_with(tmp_path, 'search = "random"\npoints = 9\n' + TRAIN + MEASURE + play + grid)
    kept = [one.name for one in failures(random, rows_of(random, results), results)]
    assert kept == [failed.name, "removed", f"{done.name}: nodes"]


def test_warnings_of_trainings_stand_in_the_summary(sampled: Plan) -> None:
    results = Results()
    for width in (32, 64):
        net = net_of(sampled.made({"width": width}))
        assert net.trained is not None
        results.add(replace(net, trained=replace(net.trained, warnings=("held-out positions are in the data",))))
    page = summary(sampled, results)
    assert "## Warnings" in page
    assert "| held-out positions are in the data | dense width 32, dense width 64 |" in page


def test_elo_is_shown_with_its_interval_or_as_too_few_games(plan: Plan) -> None:
    results, net = Results(), net_of(plan.made({"width": 32}))
    results.add(net)
    results.add(games_of(net, "nodes", None, 0.0, None))
    results.add(games_of(net, "time", 10.0, 50.0, 90.0))
    (cells,) = cells_of(nets_as_markdown(rows_of(plan, results), ALL))
    assert cells["Elo at equal nodes"] == "too few games"
    assert cells["Elo at equal time"] == "+50 +- 40"


def best(plan: Plan, results: Results) -> dict[tuple[str, str], dict[str, str]]:
    found = cells_of(budgets_as_markdown(rows_of(plan, results)))
    return {(cells["made in"], cells["ns at most"]): cells for cells in found}


def test_the_best_network_for_a_cost_is_named_only_if_games_separate_it(sampled: Plan) -> None:
    results = Results()
    nets = {width: net_of(sampled.made({"width": width})) for width in (32, 64, 96, 160, 192)}
    for net in nets.values():
        results.add(net)
    few = net_of(sampled.made({"width": 192, "positions": 5}))
    results.add(few)
    results.add(
        replace(few, name="peer", label="peer", net="peer", options={}, timed=replace(few.timed, evaluation_ns=99))
    )  # type: ignore[type-var]
    by_games = "best by Elo at equal time"
    unplayed = best(sampled, results)
    assert ("this plan", "25") not in unplayed  # the cheapest costs 32 ns
    assert unplayed["this plan", "50"][by_games] == "not played"
    assert unplayed["this plan", "200"]["lowest d1-RMSE"] == "dense width 192"
    assert unplayed["this plan", "200"]["tied with"] == "dense width 160"
    played = {32: (-40.0, -20.0, 10.0), 64: (20.0, 60.0, 100.0), 96: (-90.0, -40.0, 5.0)}
    for width, interval in played.items():
        results.add(games_of(nets[width], "time", *interval))
    separated = best(sampled, results)
    assert separated["this plan", "50"][by_games] == "dense width 32"  # the only candidate
    assert separated["this plan", "100"][by_games] == "dense width 64"
    assert separated["this plan", "100"]["Elo at equal time"] == "+60 +- 40"
    assert ("elsewhere", "50") not in separated
    slow = replace(few, name="slow", label="slow", net="slow", options={}, timed=replace(few.timed, evaluation_ns=300))  # type: ignore[type-var]
    lone = Results()
    lone.add(slow)
    assert best(sampled, lone)["elsewhere", "200"][by_games] == "none: the cheapest costs 300 ns"
    results.add(games_of(nets[160], "time", 0.0, 40.0, 80.0))
    assert best(sampled, results)["this plan", "200"][by_games] == "undecided"


def test_networks_that_lost_all_games_leave_the_best_undecided(sampled: Plan) -> None:
    results = Results()
    for width in (32, 64, 96):
        results.add(net := net_of(sampled.made({"width": width})))
        results.add(games_of(net, "time", None, None, -183.0))
    cells = best(sampled, results)["this plan", "100"]
    assert cells["best by Elo at equal time"] == "undecided"
    assert (cells["lowest d1-RMSE"], cells["d1-RMSE"]) == ("dense width 96", "0.0104 +- 0.0010")


def test_no_network_is_best_without_games_and_yardstick(sampled: Plan) -> None:
    results = Results()
    for width in (32, 64):
        net = net_of(sampled.made({"width": width}))
        results.add(replace(net, tested=replace(net.tested, d1_rmse=None, d1_rmse_error=None)))
    assert "Best network per evaluation time" not in summary(sampled, results)
    results.add(games_of(net, "time", 20.0, 60.0, 100.0))
    cells = best(sampled, results)["this plan", "100"]
    assert cells["best by Elo at equal time"] == "undecided"
    assert "lowest d1-RMSE" not in cells
    results.add(games_of(net_of(sampled.made({"width": 32})), "time", -90.0, -40.0, 5.0))
    cells = best(sampled, results)["this plan", "100"]
    assert (cells["best by Elo at equal time"], cells["ns"]) == ("dense width 64", "64")


def test_the_opponent_has_an_elo_only_in_games_that_were_played(tmp_path: Path) -> None:
    plan = planned(peer=[{"name": "peer", "net": "peer"}])
    own, peer = plan.listed
    results = Results()
    results.add(net := net_of(own, 40.0, 0.1))
    results.add(replace(net_of(peer, 60.0, 0.1), options={}))
    results.add(games_of(net, "nodes", 20.0, 60.0, 100.0))
    by_games = "best by Elo at equal time"
    assert best(plan, results)["elsewhere", "100"][by_games] == "not played"
    results.add(games_of(net, "time", 20.0, 60.0, 100.0))
    assert best(plan, results)["elsewhere", "100"][by_games] == "peer"


def rows_with(nets: Sequence[NetResult]) -> list[Row]:
    return [Row(net, None, {}) for net in nets]


def test_one_option_at_a_time_is_compared_with_its_default(plan: Plan) -> None:
    def net(loss: float, cost: float, **options: Any) -> NetResult:
        return net_of(plan.made(options), cost, loss)

    nets = [
        net(0.14, 40, width=32),
        net(0.12, 60, width=64),
        net(0.11, 70, width=64, king="zones"),
        net(0.13, 50, width=32, king="zones"),
        net(0.13, 50, width=32, king="zones", buckets=1),  # the default, given
        net(0.125, 60, width=64, seed=1),
        net(0.2, 60, width=64, positions=7),
        net(0.15, 50, width=32, **{"learning-rate": 0.04}),
        net(0.16, 40, width=32, **{"learning-rate": 0.01}),
        net(0.16, 40, width=32, positions=7, **{"learning-rate": 0.04}),
        net(0.19, 70, width=96, kind="k_p"),
        net(0.18, 70, width=96, kind="half_kp"),
        replace(net(0.1, 1, width=32), options={}),
    ]
    pairs = pairs_of(rows_with(nets))
    assert [(pair.words, round(pair.d1, 4), round(pair.cost or 0)) for pair in pairs] == [
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


def test_a_change_between_sets_of_one_name_shows_their_folders(plan: Plan) -> None:
    nets = [net_of(plan.made({"width": 32, "data": [data]})) for data in ("a/pos", "b/pos")]
    (pair,) = pairs_of(rows_with(nets))
    assert pair.words == "data a/pos to b/pos"


def test_networks_that_began_from_others_are_compared_only_with_each_other(tmp_path: Path) -> None:
    points = '[[point]]\nname = "base"\nwidth = 32\nhidden = [8]\n' + "".join(
        f'[[point]]\nwidth = 32\nhidden = [8]\nafter = "base"\nepochs = {epochs}\n' for epochs in (2, 3)
    )
    plan, results = plan_with(tmp_path, TRAIN + "epochs = 1\n" + MEASURE + GRID + points), Results()
    for point in plan.known_points():
        results.add(net_of(point))
    pairs = pairs_of(rows_of(plan, results))
    assert [pair.words for pair in pairs if pair.option == "epochs"] == ["epochs 2 to 3"]


def test_a_change_has_one_direction_whatever_the_default_of_a_kind(plan: Plan) -> None:
    dense = [net_of(plan.made({"width": width})) for width in (128, 256)]
    k_p = [net_of(plan.made({"kind": "k_p", "width": width})) for width in (128, 256)]
    (line,) = cells_of(effects_as_markdown(pairs_of(rows_with([*dense, *k_p]))))
    assert (line["change"], line["pairs"]) == ("width 256 to 128", "2")


def test_nanoseconds_of_different_machines_are_not_subtracted(plan: Plan) -> None:
    def net(cpu: str, cost: float, hidden: int, king: str) -> NetResult:
        return on(net_of(plan.made({"width": 32, "hidden": [hidden], "king": king}), cost), cpu)

    def shown(*nets: NetResult) -> dict[str, str]:
        found = cells_of(effects_as_markdown(pairs_of(rows_with(nets))))
        return {cells["change"]: cells.get("ns", "") for cells in found}

    here = [net("fast", 40, 8, "none"), net("fast", 50, 8, "zones")]
    assert shown(*here, net("slow", 40, 16, "none")) == {"hidden 8 to 16": "", "king none to zones": "+10"}
    there = [net("slow", 40, 16, "none"), net("a third", 90, 16, "zones")]
    assert shown(*here, *there)["king none to zones"] == "+10"


def of_seeds(plan: Plan, values: dict[str, dict[int, float | None]]) -> dict[str, list[NetResult]]:
    point = plan.made({"width": 32})
    base = net_of(point)
    return {
        name: [
            replace(base, seed=seed, tested=replace(base.tested, report=replace(base.tested.report, accuracy=value)))
            for seed, value in found.items()
        ]
        for name, found in values.items()
    }


def test_means_errors_and_differences_by_hand(plan: Plan) -> None:
    """Differences are computed per seed, because seeds differ by more than the networks."""
    assert mean_of([1.0, 3.0]) == Mean(2.0, pytest.approx(1.0))
    assert mean_of([2.0]) == Mean(2.0, None)
    assert mean_of([None, None]) == Mean(None, None)
    nets = of_seeds(plan, {"a": {0: 1.0, 1: 7.0, 2: 4.0}, "b": {0: 1.5, 1: 7.5, 2: 4.5}, "c": {0: None, 1: None}})
    found = compare(nets, lambda net: net.tested.report.accuracy)
    assert found["a"].difference is None
    assert found["b"].difference == Mean(0.5, 0.0)
    assert (found["b"].value.error or 0) > 1
    assert found["c"].value == Mean(None, None)


BINS = (CalibrationBin(5, 0.1, 0.2), CalibrationBin(5, 0.3, 0.2))


def band(positions: int, accuracy: float | None, name: str) -> Band:
    return Band(positions, accuracy, None, None, None, name)


def many(plan: Plan) -> Results:
    """Return results of every point, whose strength depends only on d1-RMSE."""
    results, random = Results(), np.random.default_rng(1)
    for number, point in enumerate(plan.known_points()):
        d1 = 0.1 + 0.001 * number
        net = net_of(point, 50.0, d1)
        kinds = {kind: random.uniform(0.04, 0.1) for kind in plan.measure.kinds}
        draw = Rare(0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, BINS)
        tested = replace(
            net.tested, residual=random.uniform(0.04, 0.1), residual_by_kind=kinds, draw=draw,
            report=replace(net.tested.report, by_ply=(band(5, 0.5, "ply 0-19"), band(0, None, "no score"))),
        )  # fmt: skip
        log = (Epoch(0.5, 0.5, 0.7), Epoch(0.5, 0.6, 0.6))
        trained = net.trained and replace(net.trained, samples=8_000_000 * (1 + number % 3), log=log)
        results.add(net := replace(net, tested=tested, trained=trained))
        elo = 150.0 - 2 * number
        results.add(games_of(net, "nodes", elo - 40 if number else None, elo, elo + 40))
    return results


TABLES: dict[str, Any] = {
    "measure": {"valid": ["v"], "kinds": {"played": "p", "tree, main": "t"}},
    "point": [
        {"name": "one", "tables": ["kinds", "dots"], "seeds": [0, 1]},
        *({"name": f"n{number}", "line": "x", "lambda": number / 8} for number in range(6)),
    ],
    "table": {
        "kinds": {"form": "kinds"},
        "dots": {},
        "volume": {"over": "positions"},
        "shares": {"over": "result share"},
        "games": {"form": "games"},
        "epochs": {"form": "seeds"},
    },
}


def test_a_page_holds_every_table(tmp_path: Path) -> None:
    plan = planned(**TABLES)
    results = many(plan)
    page = summary(plan, results)
    for title in (*plan.table, "All networks"):
        assert f"## {title}\n" in page
    assert "| one, seed 1 |" in page
    assert "| on played |" in page
    assert "| precision at 0.5 | 50.00 % |" in page
    assert "| no score | - |" in page
    assert "Effect of one option" not in page  # labels of named points show the named options
    seeds = seeds_as_markdown([row for row in rows_of(plan, results) if row.net.name == "one"])
    assert "| value accuracy | 60.00 % +- 0.00 % |" in seeds


def test_training_steps_of_a_point_with_seeds_of_its_own_are_shown() -> None:
    plan, results = (
        planned(point=[{"name": "a", "seeds": [3, 4]}, {"name": "b"}], table={"t": {"form": "seeds"}}),
        Results(),
    )
    for point in plan.listed:
        results.add(net_of(point))
    results.add(StepTimes("steps", 0, microseconds={"a": 2.0, "b": 4.0}))
    rows = rows_of(plan, results)
    assert {(row.net.name, row.net.seed): row.step_us for row in rows} == {("a", 3): 2.0, ("a", 4): None, ("b", 0): 4.0}
    assert "| training time, ratio | 1.000 | 2.000 |" in seeds_as_markdown(rows)


def test_bars_in_names_do_not_end_a_cell(tmp_path: Path) -> None:
    """Bands of scores are named `|score| 0-99`."""
    plan = planned(point=[{"name": "a|b"}, {"name": "c"}], table={"t": {"form": "seeds"}})
    results = Results()
    for point in plan.listed:
        net = net_of(point)
        report = replace(net.tested.report, by_score=(band(5, 0.75, "|score| 0-99"),))
        results.add(replace(net, tested=replace(net.tested, report=report)))
    rows = rows_of(plan, results)
    bands = seeds_as_markdown(rows).split("\n\n")[1]
    assert cells_of(bands) == [{"value accuracy": "|score| 0-99", "a|b": "75.00 %", "c": "75.00 %"}]
    assert r"\|score\| 0-99" in bands
    table = Table.of_markdown(bands, "bands")
    assert (table.head, table.lines) == (["value accuracy", "a|b", "c"], [["|score| 0-99", "75.00 %", "75.00 %"]])
    assert [cells["network"] for cells in cells_of(nets_as_markdown(rows, ALL))] == ["a|b", "c"]


def test_tables_are_inserted_at_the_marks_of_a_page(tmp_path: Path) -> None:
    plan = planned(**TABLES)
    results, page = many(plan), tmp_path / "page.md"
    page.write_text("Kinds\n<!-- table kinds -->\nold\n<!-- end -->\nafter\n")
    fill_page(page, plan, results)
    first = page.read_text()
    assert "| one, seed 1 |" in first
    assert "old" not in first
    assert first.endswith("<!-- end -->\nafter\n")
    fill_page(page, plan, results)
    assert page.read_text() == first
    page.write_text("<!-- table games -->\n<!-- end -->\n")
    fill_page(page, plan, results)
    assert "| +150 (below +190) |" in page.read_text()
    assert page.read_text().count(" +- 40 |") == len(plan.known_points()) - 1
    for text, words in (
        ("<!-- table kinds -->\n", "closed by"),
        ("<!-- table none -->\n<!-- end -->\n", "table none: the plan has kinds, "),
        ("", "has no mark for a table; put `<!-- table NAME -->`"),
        ("Kinds\n<!-- end -->\n", "has no mark for a table"),
    ):
        page.write_text(text)
        with pytest.raises(ValueError, match=rf"page\.md: .*{words}"):
            fill_page(page, plan, results)


def test_a_page_without_marks_is_refused_before_any_work(tmp_path: Path, invented: list[str]) -> None:
    path = written(tmp_path, TRAIN + MEASURE + GRID)
    with pytest.raises(ValueError, match=r"plan\.toml: has no mark for a table"):
        run_sweep(Sweep(path, output=tmp_path / "out", workers=1, page=path))
    assert not (tmp_path / "out").exists()


def test_correlation_finds_the_measure_that_predicts_games() -> None:
    plan = planned(**TABLES)
    rows = rows_in(plan, rows_of(plan, many(plan)), "games")
    value, error = correlation([row.net.tested.d1_rmse or 0.0 for row in rows], rows)
    assert value == pytest.approx(-1)
    assert 0 < error < 0.5
    assert abs(correlation([row.net.tested.residual or 0.0 for row in rows], rows)[0]) < 0.9
