"""Comparisons and recipes: nets that were trained alike but for one thing, by accuracy, strength and cost."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.compare.table import D1 as D1_COLUMN
from experiments.compare.table import VALUE_ACCURACY, as_markdown, bands_as_markdown
from experiments.elo.strength import student
from experiments.jobs.results import Results
from experiments.recipe.pictures import PICTURES
from experiments.recipe.plan import Plan, read_plan
from experiments.recipe.tables import GAMES, Measured, measured, name_of
from experiments.recipe.tables import as_markdown as recipe_table
from experiments.report.charts import (
    MACHINE,
    Chart,
    Row,
    around,
    diagonal,
    interval,
    intervals,
    lines,
    pareto_front,
    points,
)
from experiments.report.match_section import standing_row_of
from experiments.report.section import UNREADABLE, Origin, Section, Table
from lite.program import machine_of

PLAN, RESULTS = "plan.toml", "results.jsonl"
BEFORE: dict[str, Any] = {"games": None, "timed_games": None, "targets": [], "value_calibration": []}
"""What rows of older comparisons lack."""
COST = "evaluation, µs of one core"
ACCURACY = "value accuracy, %"


def is_comparison(found: Any) -> bool:
    """Whether a JSON value is what `liteshogi compare --json` prints."""
    return isinstance(found, dict) and {"preset", "rows", "seeds"} <= found.keys()


def comparison_section(reports: Mapping[str, dict[str, Any]]) -> Section:
    """Reports by the names of their runs. Raises ValueError in words for one that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    origins: list[Origin] = []
    for run, report in reports.items():
        try:
            report = {**report, "rows": [{**BEFORE, **row} for row in report["rows"]]}
            charts += _compared(run, report)
            tables.append(Table.of_markdown(as_markdown(report), run))
            if bands := bands_as_markdown(report):
                tables.append(Table.of_markdown(bands, f"{run}: by ply and by score"))
            command = f"liteshogi compare {report['preset']} {report['data']} --valid {report['valid']}"
            origins.append(Origin.by(run, command, [report.get("made_by", {})], report["seeds"]))
        except UNREADABLE as error:
            raise ValueError(
                f"{run}: no comparison that this program can read ({error!r:.200}); make it again"
            ) from None
    try:
        charts += _over_volumes(list(reports.values()))
    except UNREADABLE as error:
        raise ValueError(f"{', '.join(reports)}: cannot be drawn together ({error!r:.200}); make them again") from None
    about = (
        "Variants of a network on the same games; intervals are 95 % over the seeds by Student's t, wide of two, and "
        "of one there are none; games' are of their results."
    )
    return Section("Comparisons", about, charts, tables, origins)


def _compared(run: str, report: dict[str, Any]) -> Iterator[Chart]:
    costs: list[Row] = []
    curves: list[Row] = []
    bins: list[Row] = []
    for row in report["rows"]:
        variant = {"variant": row["variant"]}
        accuracy = row["figures"][VALUE_ACCURACY.key]
        found = _over_seeds(ACCURACY, accuracy, 100, len(report["seeds"]))
        costs.append({**variant, COST: row["evaluation_us"], **found, "parameters": row["parameters"]})
        for seed, log in zip(report["seeds"], row["log"], strict=True):
            line = {**variant, "seed": seed, "run": f"{row['variant']}, seed {seed}"}
            curves += [
                {**line, "epoch": epoch, ACCURACY: 100 * one["accuracy"]}
                for epoch, one in enumerate(log, 1)
                if one.get("accuracy") is not None
            ]
        bins += [{**variant, **one} for one in row["value_calibration"]]
    front = pareto_front(costs, COST, ACCURACY)
    yield points(f"{run}: accuracy over cost", costs, COST, ACCURACY, "variant", True, front)
    if curves:
        yield lines(f"{run}: accuracy on held-out games", curves, "epoch", ACCURACY, "run")
    if bins:
        title = f"{run}: calibration on held-out games"
        yield diagonal(lines(title, bins, "predicted", "actual", "variant"))
    for kind, words in (("games", "against the common opponent"), ("timed_games", "at equal time")):
        stood = [{"variant": row["variant"], **standing_row_of(row[kind])} for row in report["rows"] if row[kind]]
        if played := [row for row in stood if "Elo" in row]:
            yield intervals(f"{run}: Elo {words}", played, "variant", "Elo", "variant")


def _over_seeds(name: str, figure: Mapping[str, Any], unit: int, seeds: int) -> Row:
    """A figure's mean, in these units, with the interval that so few seeds allow; of one there is none."""
    if figure["error"] is None:
        return around(name, unit * figure["mean"], None)
    return around(name, unit * figure["mean"], unit * figure["error"], student(seeds - 1))


def _over_volumes(reports: Sequence[dict[str, Any]]) -> Iterator[Chart]:
    """What more positions bring, of comparisons that differ in how many there were to learn from."""
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for report in reports:
        if report.get("positions"):
            groups[report["preset"], report["digests"]["valid"]].append(report)
    for (preset, _), group in groups.items():
        group.sort(key=lambda report: int(report["positions"]))
        for column, name in ((VALUE_ACCURACY, ACCURACY), (D1_COLUMN, D1)):
            rows = [
                {"variant": row["variant"], "positions": report["positions"], name: figure["mean"] * column.unit}
                for report in group
                for row in report["rows"]
                if (figure := row["figures"].get(column.key)) and figure["mean"] is not None
            ]
            if len({row["positions"] for row in rows}) > 1:
                yield lines(f"{preset}: {name} over positions", rows, "positions", name, "variant", log=True)


def is_recipe(path: Path) -> bool:
    """Whether a folder holds what a plan's nets have come to; ValueError if it lacks the plan."""
    if not (path / RESULTS).is_file():
        return False
    if not (path / PLAN).is_file():
        raise ValueError(f"{path}: holds {RESULTS} without its {PLAN}, which says what they are of; put it beside them")
    return True


def recipe_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        plan, results = read_plan(path / PLAN), Results(path / RESULTS)
        for name in PICTURES:
            if rows := measured(plan, results, name):
                charts += [
                    chart
                    for chart in (_games(run, plan, rows) if name == GAMES else _measured(run, plan, name, rows))
                    if len(chart.spec["data"]["values"]) > 1
                ]
                tables.append(Table.of_markdown(recipe_table(plan, results, name), f"{run}, {name}"))
        command = f"liteshogi recipe run FOLDER --plan {path / PLAN} --results {path / RESULTS}"
        seeds = sorted({seed for _, _, seed in results.lines})
        origins.append(Origin.by(run, command, list(results.lines.values()), seeds))
    about = (
        "Nets of a plan, measured alike. d1-RMSE is how far one ply and quiescence are from long searches: less is "
        "better. Intervals are 95 %."
    )
    return Section("Recipe", about, charts, tables, origins)


D1, SECONDS, MILLIONS, SHARE = "d1-RMSE", "CPU seconds of training", "million positions", "share of the result, %"


def _told(plan: Plan, row: Measured) -> Row:
    """What hovering tells of a net."""
    told: Row = {
        "net": name_of(row),
        "shape": row.row.shape or "made elsewhere",
        **around(D1, row.net["d1_rmse"], row.net.get("d1_rmse_error")),
        "residual": row.net["residual"],
        "accuracy, %": 100 * row.net["accuracy"],
        MACHINE: machine_of(row.net),
    }
    if row.row.shape:
        told["command"] = shlex.join(["liteshogi", *row.row.training(plan.shapes[row.row.shape], row.seed)])
    return told


def _games(run: str, plan: Plan, rows: Sequence[Measured]) -> list[Chart]:
    """Strength over d1-RMSE and over what the training cost."""
    played: list[Row] = []
    for row in rows:
        assert row.games is not None
        told = {name: value for name, value in _told(plan, row).items() if not name.startswith(f"{D1} ")}
        found = interval("Elo", row.elo, row.games["elo_low"], row.games["elo_high"])
        cost = {SECONDS: row.net["cpu_seconds"]} if row.net.get("cpu_seconds") else {}
        played.append({**told, **found, **cost})
    charts = [points(f"{run}: Elo over d1-RMSE", played, D1, "Elo", "shape")]
    if costly := [row for row in played if SECONDS in row]:
        front = pareto_front(costly, SECONDS, "Elo")
        charts.append(points(f"{run}: Elo over the cost of training", costly, SECONDS, "Elo", "shape", True, front))
    return charts


def _measured(run: str, plan: Plan, table: str, rows: Sequence[Measured]) -> list[Chart]:
    """The nets of a table: over the number of positions or the share of the result where that is what varies."""
    title = f"{run}, {table}: d1-RMSE"
    first = [row for row in rows if row.seed == row.row.seeds[0]]  # a line goes through one net of each kind
    shown = [
        {name: value for name, value in _told(plan, row).items() if not name.startswith(f"{D1} ")} for row in first
    ]
    if table == "volume":
        grown = [{**told, MILLIONS: row.million_positions} for row, told in zip(first, shown, strict=True)]
        return [lines(f"{title} over positions", grown, MILLIONS, D1, "shape", log=True)]
    if table == "results":
        mixed = [
            {**told, SHARE: row.result_share, "scores": row.row.line} for row, told in zip(first, shown, strict=True)
        ]
        return [lines(f"{title} over the share of the result", mixed, SHARE, D1, "scores")]
    return [intervals(title, [_told(plan, row) for row in rows], "net", D1, "shape")]
