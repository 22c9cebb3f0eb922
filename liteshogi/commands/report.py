"""`liteshogi report`: one page of what runs have left behind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.report.report import Report, write_report
from liteshogi.commands.arguments import Json, Output, Overwrite


@dataclass(frozen=True)
class Command(Report):
    """Make one self-contained HTML page of sweeps, trainings, matches, leagues, loops and more."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("report.html")
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        report = write_report(self)
        if self.json:
            print(json.dumps(report))
        else:
            print(f"{report['page']}: {len(report['charts'])} charts of {len(report['runs'])} runs")
