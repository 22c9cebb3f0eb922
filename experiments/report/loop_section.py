"""Loops: what each generation was worth against the best before it and against the same opponents, and its losses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.loop.generation_table import as_cells, describe_generation
from experiments.loop.stages import GATE, LEDGER, Ledger
from experiments.report.charts import Chart, Row, intervals, lines, points
from experiments.report.match_section import standing_row
from experiments.report.section import Origin, Section, Table, origin_of
from lite.datasets.description import read_description

LOSSES = {"loss": "held-out loss", "d1_rmse": "d1-RMSE", "log_loss": "log loss"}


def is_loop(path: Path) -> bool:
    return (path / LEDGER).is_file()


def loop_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    against: list[Row] = []
    gates: list[Row] = []
    losses: dict[str, list[Row]] = {name: [] for name in LOSSES}
    tables, origins = [], []
    for run, path in runs.items():
        rows = _generations(Ledger(path / LEDGER))
        for row in rows:
            number = {"loop": run, "generation": row["generation"]}
            for name, title in LOSSES.items():
                if row.get(name) is not None:
                    losses[name].append({**number, title: row[name]})
            if GATE not in row:
                continue
            outcome = "the new best" if row["accepted"] else "rejected"
            found = standing_row(row[GATE])
            if "Elo" in found:
                name = f"{run}: {row['generation']} over {row[GATE]['best']}"
                gates.append({"gate": name, **number, "outcome": outcome, **found})
            for opponent, standing in row["against"].items():
                if "Elo" in (found := standing_row(standing)):
                    against.append({**number, "opponent": f"{run} against {opponent}", **found})
        head, *cells = as_cells(rows)
        tables.append(Table(head, cells, run))
        description = read_description(path)
        origins.append(origin_of(run, description) if description else Origin(run))
    charts: list[Chart] = []
    if against:
        charts.append(points("Elo against the same opponents", against, "generation", "Elo", "opponent"))
    if gates:
        charts.append(intervals("Elo of each candidate over the best so far", gates, "gate", "Elo", "outcome"))
    for name, found_losses in losses.items():
        if found_losses:
            title = f"{LOSSES[name]} by generation"
            charts.append(lines(title, found_losses, "generation", LOSSES[name], "loop"))
    about = (
        "The gate's games end when its test is decided, so its Elo leans toward the verdict; "
        "games against the same opponents do not."
    )
    return Section("Loops", about, charts, tables, origins)


def _generations(ledger: Ledger) -> list[dict[str, Any]]:
    """Those that are done: the one under way has no gate yet."""
    done = [one["generation"] for one in ledger.stages if one["stage"] == GATE]
    return [describe_generation(ledger, number) for number in (0, *done)]
