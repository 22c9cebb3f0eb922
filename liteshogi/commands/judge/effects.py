"""`liteshogi judge effects`: what each number of the search is worth in games that are broken off and judged."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from experiments.judge.game_effects import GameEffectOptions, measure_game_effects
from experiments.judge.judge import Judging
from liteshogi.commands.arguments import Json, Net, Output


@dataclass(frozen=True)
class Command(GameEffectOptions):
    """Tell what moving each number of the search is worth in games against itself, which are broken off and told by a
    stronger engine: all are moved at once, by chance, so many cost no more than one. Goes on where it was cut."""

    net: Net
    openings: Path
    """File of balanced openings, an SFEN or `startpos moves ...` a line."""
    output: Output = Path("runs/effects")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_game_effects(self, self.judging)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader, what is told best first."""
    lines = [
        f"{report['player']}, {report['pairs']:,} pairs of games of {report['plies']} plies, by {report['judge']} "
        f"({report['judge_nodes']:,} nodes)",
        "worth, in hundredths of win rate, of one side's number moved up and the other's down:",
        f"{'':28s}  value  moved    worth",
    ]
    for name, row in _by_telling(report["parameters"]):
        lines.append(f"{name:28s} {row['value']:6d} {row['moved']:6d}  {_worth(row)}")
    if report["steps"]:
        lines.append("of a step left out:")
    lines += [f"{name:28s} {'':14s} {_worth(row)}" for name, row in _by_telling(report["steps"])]
    return "\n".join(lines)


def _by_telling(rows: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return sorted(rows.items(), key=lambda row: -abs(row[1]["worth"]) / max(row[1]["worth_error"], 0.01))


def _worth(row: dict[str, Any]) -> str:
    return f"{row['worth']:+6.2f} +- {row['worth_error']:4.2f}"
