"""`liteshogi sweep`: networks of a plan, trained, tested, timed and played."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from experiments.sweep.sweep import Sweep, run_sweep
from liteshogi.commands.arguments import Json, Output, folder_name, part
from liteshogi.json_output import json_text

NAMED_AFTER_PLAN = Path("runs/sweep-PLAN")
"""Stands for the folder that `folder_of` names."""


@dataclass(frozen=True)
class Command(Sweep):
    """Train, fold, test, time and play the networks of a plan. Resumes an interrupted run.

    A plan is a TOML file, or the name of one that comes with the package: nets, squeeze, auxiliary, draw, recipe,
    volume, family. The first lines of the last three say which files must be made first."""

    plan: tyro.conf.Positional[Path]
    output: Output = NAMED_AFTER_PLAN
    """Folder of the sweep. The same command resumes an interrupted one. By default it is named after the plan."""
    json: Json = False

    def run(self) -> None:
        output = folder_of(self.plan) if self.output == NAMED_AFTER_PLAN else self.output
        report = run_sweep(replace(part(Sweep, self), output=output))
        if self.json:
            print(json_text(report))
        else:
            print(Path(report.table).read_text(encoding="utf-8"), end="")
        if report.failed and not report.points:
            raise ValueError(f"{output}: every point has failed; {report.table} gives the reasons")
        if report.matches_failed:
            raise ValueError(f"{output}: every match has failed; {report.table} gives the reasons")


def folder_of(plan: Path) -> Path:
    """Return the default folder of a sweep, which is named after its plan, so that other plans have another."""
    return NAMED_AFTER_PLAN.with_name("sweep-" + folder_name(plan.stem))
