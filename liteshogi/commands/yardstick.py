"""`liteshogi yardstick`: held-out positions with the scores of long searches, or with their games' results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.jobs.workforce import Workforce
from experiments.sweep.yardstick_records import Yardstick, YardstickReport, make_yardstick
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(Yardstick):
    """Make held-out positions with scores of long searches, or with results. Resumes an interrupted run.

    On positions with scores, `liteshogi sweep` and `liteshogi test` measure d1-RMSE, which predicts the results of
    matches better than accuracy does. On positions with results, `liteshogi test` measures how well a network
    predicts them after one ply and quiescence."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("yard")
    workforce: tyro.conf.OmitArgPrefixes[Workforce] = field(default_factory=Workforce)
    json: Json = False

    def run(self) -> None:
        report = make_yardstick(part(Yardstick, self))
        print(json_text(report) if self.json else as_text(report))


def as_text(report: YardstickReport) -> str:
    """Return the report for a reader."""
    if report.truth == "results":
        return f"{report.folder}: {report.positions:,} positions with the results of their games"
    return (
        f"{report.folder}: {report.positions:,} positions with scores of searches of {report.nodes:,} nodes by "
        f"{report.labelled_by}\n"
        f"d1-RMSE on it favours networks whose scores are like those of {report.labelled_by}. To compare networks of "
        "other teachers, make a second yardstick with another --net or --engine, or with --truth results."
    )
