"""`liteshogi judge health`: how sound a search's own word is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from experiments.judge.health import HealthOptions, examine
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command(HealthOptions):
    """Tell how sound a search's own word is.

    Its scores of quiet balanced positions are held against a teacher's, its depths against each other, and what it says
    against what it says again."""

    engine: tyro.conf.Positional[str]
    """A network's file or `default`, which is searched in process, or the command of a USI engine."""
    games: tyro.conf.Positional[tuple[Path, ...]]
    json: Json = False

    def run(self) -> None:
        report = examine(self)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader."""
    teacher, again = report["teacher"], report["again"]
    lines = [
        f"{report['engine']}, {report['positions']} quiet positions, which the teacher finds at "
        f"{teacher['mean']:+.0f} +- {teacher['error']:.0f} cp and {100 * teacher['positive']:.1f} % above 0",
        f"{'':30s}    nodes  mean score  above 0  teacher's sign   rmse  move of {report['long_nodes']:,} nodes",
    ]
    for variant in report["variants"]:
        for row in variant["nodes"]:
            lines.append(
                f"{variant['name']:30s}{row['nodes']:9,} {row['mean']:+5.0f} +- {row['error']:2.0f} "
                f"{100 * row['positive']:6.1f} % {100 * row['sign_accuracy']:12.1f} % {row['rmse']:7.0f} "
                f"{100 * row['as_long']:9.1f} %"
            )
    lines.append("\nto depth  the score changes by  size")
    for row in report["steps"]:
        lines.append(f"{row['to_depth']:8d} {row['mean']:+13.1f} +- {row['error']:4.1f}  {row['size']:5.1f}")
    change = f", scores changed by {again['change'][0]:.0f} +- {again['change'][1]:.0f}" if again["change"] else ""
    lines += [
        "\nsearched again with the full table, near games' ends:",
        f"of {again['mates']} mates {again['mates_kept']} kept, {again['mates_not_longer']} no longer; "
        f"{again['mates_found_afresh']} found by {report['long_nodes']:,} nodes afresh",
        f"of {again['draws']} scores of 0 {again['draws_kept']} kept; "
        f"of {again['others']} others {again['moves_kept']} moves kept{change}",
    ]
    return "\n".join([*lines, *(f"not kept: {row['first']} {row['position']}" for row in again["lost"])])
