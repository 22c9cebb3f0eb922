"""Trainings: how losses fell and how well each net ended, from their `log.jsonl` and `config.json`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.report.charts import Chart, Row, diagonal, lines
from experiments.report.section import Origin, Section, Table
from lite.training.folder import RunFolder
from lite.training.log import read_log
from search.system.metadata import parse_json

MOST_POINTS = 300
"""Of a curve: more cannot be told apart, and are left out evenly."""


def is_training(path: Path) -> bool:
    folder = RunFolder(path)
    return folder.log.is_file() and folder.configuration.is_file()


def training_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for a run that cannot be read."""
    losses: list[Row] = []
    valid: list[Row] = []
    calibration: list[Row] = []
    by_ply: list[Row] = []
    table: list[list[str]] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        options, log = _read(path)
        command = _command(options)
        named = {"run": run, "command": command}
        steps = [line for line in log if line["kind"] == "train"]
        losses += [named | {"step": line["step"], "loss": line["loss"]} for line in steps[:: _stride(steps)]]
        tested = [line for line in log if line["kind"] == "valid"]
        for line in tested:
            if line["accuracy"] is not None:  # of drawn games alone there is none
                valid.append(named | {"step": line["step"], "accuracy, %": 100 * line["accuracy"]})
        last: dict[str, Any] = tested[-1] if tested else {}
        for one in last.get("calibration", ()):
            shown = {"predicted": one["predicted"], "actual": one["actual"], "positions": one["positions"]}
            calibration.append({"run": run, **shown})
        for band in last.get("by_ply", ()):
            if band["accuracy"] is not None:
                ply = band["band"].removeprefix("ply ")
                by_ply.append({"run": run, "ply": ply, "accuracy, %": 100 * band["accuracy"]})
        figures = ["" if last.get(name) is None else format(last[name], form) for name, form in FIGURES.items()]
        table.append([run, str(options.get("kind", "")), f"{log[-1]['step']:,}", *figures])
        makers = _makers(path)
        origins.append(Origin.by(run, command, makers, [options.get("seed", "")]))
    charts = [
        *_drawn(losses, "Training loss", "step", "loss", dots=False),
        *_drawn(valid, "Accuracy on held-out games", "step", "accuracy, %"),
        *(diagonal(chart) for chart in _drawn(calibration, "Calibration", "predicted", "actual")),
        *_drawn(by_ply, "Accuracy by ply", "ply", "accuracy, %"),
    ]
    about = "How the loss fell, and on held-out games: accuracy, calibration and accuracy by ply of the last epoch."
    return Section("Training", about, charts, [Table(HEAD, table)], origins)


FIGURES = {"loss": ".4f", "accuracy": ".2%", "log_loss": ".4f", "brier": ".4f", "calibration_error": ".4f"}
HEAD = ("run", "kind", "steps", "held-out loss", "accuracy", "log loss", "Brier score", "calibration error")


def _drawn(rows: list[Row], title: str, x: str, y: str, dots: bool = True) -> list[Chart]:
    return [lines(title, rows, x, y, "run", dots=dots)] if rows else []


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder = RunFolder(path)
    try:
        options = parse_json(folder.configuration.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{folder.configuration}: not a JSON file ({error}); restore it from a copy") from None
    log = read_log(folder.log)
    if not log or not all("kind" in line for line in log) or not isinstance(options, dict):
        raise ValueError(f"{folder.log}: no log of a training; leave this run out, or restore it from a copy")
    return options, log


def _makers(path: Path) -> list[dict[str, Any]]:
    """The programs and machines that have trained a run; none is known of one that has not kept it."""
    made = RunFolder(path).provenance
    try:
        return list(parse_json(made.read_text(encoding="utf-8"))["made_by"]) if made.is_file() else [{}]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{made}: does not tell what a run was made by ({error!r}); restore it from a copy") from None


def _command(options: dict[str, Any]) -> str:
    """The options of a `config.json` as they are given."""
    words = ["liteshogi", "train", str(options.get("kind", "")), *map(str, options.get("data", ()))]
    for name, value in options.items():
        if name in ("kind", "data", "output") or value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name}")
        elif isinstance(value, list):
            words += [f"--{name}", *map(str, value)]
        else:
            words += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    return shlex.join(words)


def _stride(steps: Sequence[Any]) -> int:
    return -(-len(steps) // MOST_POINTS) or 1
