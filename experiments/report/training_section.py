"""Training runs: how losses fell, and the figures of each network on held-out games."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.report.charts import Chart, Row, diagonal, lines
from experiments.report.section import Run, Section, Table, command_of, origin_of
from experiments.resnet.train import KIND as RESNET
from lite.networks.build import CONFIGS
from lite.training.log import EpochTest, Steps, lines_of, read_log
from lite.training.run_record import verb_of

VERBS = tuple(verb_of(kind) for kind in (*CONFIGS, RESNET))
MOST_POINTS = 300
"""Points of a curve; more are thinned out evenly."""
FIGURES = ("brier", "calibration_error")
HEAD = (
    "run",
    "log loss",
    "held-out loss",
    "accuracy",
    "Brier score",
    "calibration error",
    "held-out games",
    "kind",
    "steps",
)
HELD_OUT = "valid"
"""Option that names the held-out records of a run; a resumed run may have others, so it is among its goals."""


@dataclass(frozen=True)
class Curves:
    """Points of the charts of one set of held-out games."""

    accuracy: list[Row] = field(default_factory=list)
    calibration: list[Row] = field(default_factory=list)
    by_ply: list[Row] = field(default_factory=list)


def training_section(runs: Sequence[Run]) -> Section:
    """Return the section of training runs. Raises OSError, or ValueError for a run that cannot be read."""
    losses: list[Row] = []
    curves: dict[str, Curves] = {}
    table: list[list[str]] = []
    names = _names_of_sets(runs)
    for run in runs:
        log = read_log(run.path)
        named = {"run": run.name, "command": command_of(run.record)}
        steps = lines_of(Steps, log)
        losses += [named | {"step": line.step, "loss": line.loss} for line in steps[:: _stride(steps)]]
        tested = lines_of(EpochTest, log)
        games = names[_held_out(run)]
        own = curves.setdefault(games, Curves())
        for line in tested:
            if line.report.accuracy is not None:  # drawn games alone have none
                own.accuracy.append(named | {"step": line.step, "accuracy, %": 100 * line.report.accuracy})
        figures = [""] * (3 + len(FIGURES))
        if tested:
            report = tested[-1].report
            figures = [_cell(report.log_loss), _cell(tested[-1].loss), report.accuracy_text()]
            figures += [_cell(getattr(report, name)) for name in FIGURES]
            for one in tested[-1].report.calibration:
                shown = {"predicted": one.predicted, "actual": one.actual, "positions": one.positions}
                own.calibration.append({"run": run.name, **shown})
            for band in tested[-1].report.by_ply:
                if band.accuracy is not None:
                    ply = band.band.removeprefix("ply ")
                    own.by_ply.append({"run": run.name, "ply": ply, "accuracy, %": 100 * band.accuracy})
        taken = max((line.step for line in log), default=0)
        table.append([run.name, *figures, games, run.record.verb.partition(" ")[2], f"{taken:,}"])
    charts = _drawn(losses, "Training loss", "step", "loss", dots=False)
    for games, found in curves.items():
        on = f": {games}" if len(curves) > 1 else ""
        charts += _drawn(found.accuracy, f"Accuracy on held-out games{on}", "step", "accuracy, %")
        charts += map(diagonal, _drawn(found.calibration, f"Calibration{on}", "predicted", "actual"))
        charts += _drawn(found.by_ply, f"Accuracy by ply{on}", "ply", "accuracy, %")
    about = (
        "Training loss by step, and for held-out games accuracy by step, and calibration and accuracy by ply of the "
        "last epoch. Runs with other held-out games have separate charts, because their figures do not compare. +- of "
        "accuracy in the table is a standard error; the positions of a game are one observation."
    )
    return Section("Training", about, charts, [Table(HEAD, table)], list(map(origin_of, runs)))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _held_out(run: Run) -> tuple[str, ...]:
    """Return the digests of a run's held-out records, sorted, or names where no digest is kept; empty without any."""
    digests = {Path(path): digest for path, digest in run.record.files.items()}

    def digest_of(name: Path) -> str:
        """Return the digest of a file. Paths in `files` are absolute, the option's are as they were typed; held-out
        files come last in `files`."""
        end = tuple(part for part in name.parts if part != "..")
        ends = (digest for path, digest in reversed(digests.items()) if path.parts[-len(end) :] == end)
        return digests.get(name) or next(ends, str(name))

    return tuple(sorted(digest_of(Path(name)) for name in run.record.goal.get(HELD_OUT, ())))


def _names_of_sets(runs: Sequence[Run]) -> dict[tuple[str, ...], str]:
    """Return a name for each set of held-out records: its files, with the start of a digest where names are equal.

    A set that runs know by several names, as copies of a file, has them all.
    """
    known: dict[tuple[str, ...], dict[str, None]] = {}
    for run in runs:
        name = ", ".join(sorted(Path(name).name for name in run.record.goal.get(HELD_OUT, ())))
        known.setdefault(_held_out(run), {})[name] = None
    files = {digests: " = ".join(names) for digests, names in known.items()}
    named = list(files.values())
    return {
        digests: name if not digests or named.count(name) == 1 else f"{name} ({_short(digests)})"
        for digests, name in files.items()
    }


def _short(digests: tuple[str, ...]) -> str:
    """Return the start of a digest of a set: of its one file's, or of all."""
    whole = digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return whole[:6]


def _drawn(rows: list[Row], title: str, x: str, y: str, dots: bool = True) -> list[Chart]:
    return [lines(title, rows, x, y, "run", dots=dots)] if rows else []


def _stride(steps: Sequence[Any]) -> int:
    return -(-len(steps) // MOST_POINTS) or 1
