"""The section of loops: each generation against the best before it and against other networks, and its losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from experiments.loop.generation_table import GenerationRow, as_cells, describe_generation
from experiments.loop.stages import GATE, Stages
from experiments.report.charts import Chart, Row, intervals, lines, points
from experiments.report.match_section import standing_row
from experiments.report.section import Run, Section, Table, origin_of

LOSSES: Mapping[str, Callable[[GenerationRow], float | None]] = {
    "held-out loss": lambda row: row.losses.loss,
    "d1-RMSE": lambda row: row.d1_rmse,
    "log loss": lambda row: row.losses.log_loss,
}


def loop_section(runs: Sequence[Run]) -> Section:
    """Return the section of loops. Raises OSError or ValueError for a run that cannot be read."""
    against: list[Row] = []
    gates: list[Row] = []
    losses: dict[str, list[Row]] = {title: [] for title in LOSSES}
    tables = []
    for run in runs:
        rows = _generations(Stages(run.path))
        for row in rows:
            number = {"loop": run.name, "generation": row.generation}
            for title, loss in LOSSES.items():
                if (value := loss(row)) is not None:
                    losses[title].append({**number, title: value})
            if row.gate is None:
                continue
            outcome = "the new best" if row.accepted else "rejected"
            found = standing_row(row.gate)
            if "Elo" in found:
                name = f"{run.name}: {row.generation} over {row.gate.best}"
                gates.append({"gate": name, **number, "outcome": outcome, **found})
            for opponent, standing in row.against.items():
                if "Elo" in (found := standing_row(standing)):
                    against.append({**number, "opponent": f"{run.name} against {opponent}", **found})
        head, *cells = as_cells(rows)
        tables.append(Table(head, cells, run.name))
    charts: list[Chart] = []
    if against:
        charts.append(points("Elo against the same opponents", against, "generation", "Elo", "opponent"))
    if gates:
        charts.append(intervals("Elo of each candidate over the best so far", gates, "gate", "Elo", "outcome"))
    for title, found_losses in losses.items():
        if found_losses:
            charts.append(lines(f"{title} by generation", found_losses, "generation", title, "loop"))
    about = (
        "The gate's games end when its test is decided, so its Elo is biased towards the verdict; games against the "
        "same opponents are not. +- of accuracy and d1-RMSE is a standard error."
    )
    return Section("Loops", about, charts, tables, [origin_of(run) for run in runs])


def _generations(stages: Stages) -> list[GenerationRow]:
    """Return the generations that are done: one under way has no gate yet."""
    done = [one.generation for one in stages.done if one.stage == GATE]
    return [describe_generation(stages, number) for number in (0, *done)]
