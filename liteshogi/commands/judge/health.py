"""`liteshogi judge health`: the soundness of a search's scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.judge.health import HealthOptions, examine
from experiments.judge.health_report import HealthReport
from experiments.judge.statistics import error_text
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(HealthOptions):
    """Examine the soundness of a search's scores. Resumes an interrupted run.

    The search's scores of balanced positions are compared with a teacher's, its depths with each other, and its
    results with those of a second search."""

    engine: tyro.conf.Positional[str]
    games: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/judge/health")
    json: Json = False

    def run(self) -> None:
        report = examine(self)
        print(json_text(report) if self.json else as_text(report))


def as_text(report: HealthReport) -> str:
    """Return the report for a reader."""
    teacher, again = report.teacher, report.again
    level = f"{teacher.mean:+.0f} {error_text(teacher.error, '.0f')}".rstrip()
    lines = [
        f"{report.engine}, {report.positions} balanced positions; the teacher's scores: mean "
        f"{level} cp, {100 * teacher.positive:.1f} % above 0",
        f"{'':30s}    nodes  mean score  above 0  teacher's sign   rmse  move of {report.long_nodes:,} nodes",
    ]
    for variant in report.variants:
        for row in variant.nodes:
            lines.append(
                f"{variant.name:30s}{row.nodes:9,} {row.mean:+5.0f} {error_text(row.error, '2.0f')} "
                f"{100 * row.positive:6.1f} % {100 * row.sign_accuracy:12.1f} % {row.rmse:7.0f} "
                f"{100 * row.as_long:9.1f} %"
            )
    lines.append("\nto depth  the score changes by  size")
    for step in report.steps:
        lines.append(f"{step.to_depth:8d} {step.mean:+13.1f} {error_text(step.error, '4.1f')}  {step.size:5.1f}")
    change = ""
    if again.change is not None:
        change = f", scores changed by {again.change[0]:.0f} {error_text(again.change[1], '.0f')}".rstrip()
    lines += [
        "\nsearched again with the full table, near games' ends:",
        f"of {again.mates} mates {again.mates_kept} found again, {again.mates_as_short} of them in at most as many "
        f"plies; {again.mates_found_afresh} found by {report.long_nodes:,} nodes with an empty table",
        f"of {again.draws} scores of 0 {again.draws_kept} kept; "
        f"of {again.others} others {again.moves_kept} moves kept{change}",
    ]
    return "\n".join([*lines, *(f"not kept: {row.first} {row.position}" for row in again.lost)])
