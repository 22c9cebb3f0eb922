"""`liteshogi judge effects`: the effect of changes of the search in games that are stopped early and judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.game_effects import GameEffectOptions, GameEffectsReport, measure_game_effects
from experiments.judge.judge import Judging
from liteshogi.commands.arguments import Json, Net, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(GameEffectOptions):
    """Measure changes of the search, or all its parameters, in judged games. Resumes an interrupted run.

    The search plays itself, each game is stopped early, and a stronger engine evaluates it. Each change is given to one
    side at random, so many changes cost no more than one."""

    net: Net
    output: Output = Path("runs/judge/effects")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_game_effects(self, self.judging)
        print(json_text(report) if self.json else as_text(report))


def as_text(report: GameEffectsReport) -> str:
    """Return the report for a reader, the most certain effects first."""
    rows = sorted(report.effects, key=lambda row: -abs(row.effect) / max(row.effect_error, 0.01))
    return "\n".join(
        [
            f"{report.player}, {report.pairs:,} pairs of games of {report.plies} plies, by {report.judge} "
            f"({report.judge_nodes:,} nodes)",
            "effect on the win rate, in hundredths, against the search without the change:",
            *(f"{row.effect:+6.2f} +- {row.effect_error:4.2f}  {row.more}, not {row.less}" for row in rows),
        ]
    )
