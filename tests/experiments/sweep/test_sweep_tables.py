"""What a sweep tells of its points: tables by cost, by games and by option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.jobs.results import Results
from experiments.sweep.budgets import budgets_as_markdown
from experiments.sweep.configuration import read_configuration
from experiments.sweep.effects import effects_as_markdown, pairs_of
from experiments.sweep.table import as_markdown, sweep_nets
from experiments.timing import sizes
from search.evaluation.bench import random_network
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, described, figures_of


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


def test_nanoseconds_of_different_machines_are_not_subtracted(tmp_path: Path) -> None:
    configuration = read_configuration(described(tmp_path, TRAIN + MEASURE + GRID))

    def net(cpu: str, cost: float, hidden: int, king: str) -> dict[str, Any]:
        point = configuration.point({"width": 32, "hidden": [hidden], "king": king})
        return figures_of(point) | {"cpu": cpu, "evaluation_ns": cost}

    def told(*nets: dict[str, Any]) -> dict[str, str]:
        return {cells["change"]: cells["ns"] for cells in cells_of(effects_as_markdown(pairs_of(nets)))}

    here = [net("fast", 40, 8, "none"), net("fast", 50, 8, "zones")]
    assert told(*here, net("slow", 40, 16, "none")) == {"hidden 8 to 16": "", "king none to zones": "+10"}
    there = [net("slow", 40, 16, "none"), net("a third", 90, 16, "zones")]
    assert told(*here, *there)["king none to zones"] == "+10"


def test_sizes_by_hand() -> None:
    found = sizes(random_network("piece_square", 64, (16,), 2))
    rows = found["bytes"] - 2 * 64 - (16 * 128 + 16) - 4 * (16 + 1)
    assert rows == random_network("piece_square", 64, (16,), 2).rows.nbytes
    assert (found["multiply_adds"], found["row_lanes"]) == (16 * 128 + 16, 128)
