"""`liteshogi match`: two USI engines play each other, counted as Elo with its error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from experiments.arena.match import Match, play_match
from experiments.arena.strength import in_words
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command(Match):
    """Play two USI engines against each other and report points, Elo and its error."""

    first: tyro.conf.Positional[str]
    second: tyro.conf.Positional[str]
    output: Output = Path("runs/match")
    json: Json = False

    def run(self) -> None:
        report = play_match(self)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader."""
    elo = in_words(report["elo"], report["elo_low"], report["elo_high"])
    lines = [
        f"{report['first']}: {report['points']:g} of {report['games']} points "
        f"({100 * report['points'] / report['games']:.1f} %) against {report['second']}",
        f"{report['wins']} wins, {report['draws']} draws, {report['losses']} losses; {elo}",
        "ends of games: " + ", ".join(f"{ending} {count}" for ending, count in report["endings"].items()),
    ]
    return "\n".join([*lines, *report["remarks"]])
