"""`liteshogi match`: two USI engines play each other, counted as Elo with its error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from experiments.arena.match import Match, play_match
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
    elo = "not measurable" if report["elo"] is None else f"{report['elo']:+.0f} +- {report['elo_error']:.0f}"
    share = 100 * report["points"] / max(1, report["games"])
    return (
        f"first engine: {report['points']:g} of {report['games']} points ({share:.1f} %), {report['wins']} wins "
        f"{report['draws']} draws {report['losses']} losses, Elo {elo}, {report['failed']} games failed\n"
        f"ends of games: {report['endings']}"
    )
