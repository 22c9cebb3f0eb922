"""`liteshogi sweep`: networks of a plan, trained, tested, timed and played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.nets.sweep import Sweep, run_sweep
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(Sweep):
    """Train, fold, test, time and play the networks of a plan. Resumes an interrupted run.

    A plan is a TOML file, or the name of one that comes with the package: nets, squeeze, auxiliary, draw, recipe,
    volume, family. The first lines of the last three say which files must be made first."""

    plan: tyro.conf.Positional[Path]
    output: Output = Path("runs/sweep")
    json: Json = False

    def run(self) -> None:
        report = run_sweep(part(Sweep, self))
        if self.json:
            print(json_text(report))
        else:
            print(Path(report.table).read_text(encoding="utf-8"), end="")
        if report.failed and not report.points:
            raise ValueError(f"{self.output}: every point has failed; {report.table} gives the reasons")
