"""`liteshogi judge effects`: what changes of the search are worth in games that are broken off and judged."""

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
    """Tell what changes of the search, or all its numbers, are worth in judged games; goes on where it was cut.

    The search plays itself, each game is broken off, and a stronger engine tells who stands better. Chance gives each
    change to one side, so many cost no more than one."""

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
    rows = sorted(report["effects"], key=lambda row: -abs(row["worth"]) / max(row["worth_error"], 0.01))
    return "\n".join(
        [
            f"{report['player']}, {report['pairs']:,} pairs of games of {report['plies']} plies, by {report['judge']} "
            f"({report['judge_nodes']:,} nodes)",
            "worth, in hundredths of win rate, beside a search without:",
            *(f"{row['worth']:+6.2f} +- {row['worth_error']:4.2f}  {row['more']}, not {row['less']}" for row in rows),
        ]
    )
