"""Training runs: how losses fell, and the figures of each network on held-out games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.report.charts import Chart, Row, diagonal, lines
from experiments.report.section import Run, Section, Table, command_of, origin_of
from experiments.resnet.train import KIND as RESNET
from lite.networks.build import CONFIGS
from lite.training.log import EpochTest, Steps, lines_of, read_log
from lite.training.run_plan import verb_of

VERBS = tuple(verb_of(kind) for kind in (*CONFIGS, RESNET))
MOST_POINTS = 300
"""Points of a curve; more are thinned out evenly."""
FIGURES = {"accuracy": ".2%", "log_loss": ".4f", "brier": ".4f", "calibration_error": ".4f"}
HEAD = ("run", "kind", "steps", "held-out loss", "accuracy", "log loss", "Brier score", "calibration error")


def training_section(runs: Sequence[Run]) -> Section:
    """Return the section of training runs. Raises OSError, or ValueError for a run that cannot be read."""
    losses: list[Row] = []
    valid: list[Row] = []
    calibration: list[Row] = []
    by_ply: list[Row] = []
    table: list[list[str]] = []
    for run in runs:
        log = read_log(run.path)
        named = {"run": run.name, "command": command_of(run.record)}
        steps = lines_of(Steps, log)
        losses += [named | {"step": line.step, "loss": line.loss} for line in steps[:: _stride(steps)]]
        tested = lines_of(EpochTest, log)
        for line in tested:
            if line.report.accuracy is not None:  # drawn games alone have none
                valid.append(named | {"step": line.step, "accuracy, %": 100 * line.report.accuracy})
        figures = [""] * (1 + len(FIGURES))
        if tested:
            loss = _cell(tested[-1].loss, ".4f")
            figures = [loss, *(_cell(getattr(tested[-1].report, name), form) for name, form in FIGURES.items())]
            for one in tested[-1].report.calibration:
                shown = {"predicted": one.predicted, "actual": one.actual, "positions": one.positions}
                calibration.append({"run": run.name, **shown})
            for band in tested[-1].report.by_ply:
                if band.accuracy is not None:
                    ply = band.band.removeprefix("ply ")
                    by_ply.append({"run": run.name, "ply": ply, "accuracy, %": 100 * band.accuracy})
        taken = max((line.step for line in log), default=0)
        table.append([run.name, run.record.verb.partition(" ")[2], f"{taken:,}", *figures])
    charts = [
        *_drawn(losses, "Training loss", "step", "loss", dots=False),
        *_drawn(valid, "Accuracy on held-out games", "step", "accuracy, %"),
        *(diagonal(chart) for chart in _drawn(calibration, "Calibration", "predicted", "actual")),
        *_drawn(by_ply, "Accuracy by ply", "ply", "accuracy, %"),
    ]
    about = (
        "Training loss by step, and for held-out games accuracy by step, and calibration and accuracy by ply of the "
        "last epoch."
    )
    return Section("Training", about, charts, [Table(HEAD, table)], list(map(origin_of, runs)))


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _drawn(rows: list[Row], title: str, x: str, y: str, dots: bool = True) -> list[Chart]:
    return [lines(title, rows, x, y, "run", dots=dots)] if rows else []


def _stride(steps: Sequence[Any]) -> int:
    return -(-len(steps) // MOST_POINTS) or 1
