"""`liteshogi match`: two USI engines play each other, counted as Elo with its error."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from experiments.arena.match import Match, play_match
from experiments.arena.strength import in_words
from experiments.nets import as_player
from liteshogi.commands.arguments import Json, Output, part


@dataclass(frozen=True)
class Command(Match):
    """Play two USI engines against each other and report points, Elo and its error."""

    first: tyro.conf.Positional[str]
    """The first player: a network's file or `default`, which this engine plays; or the command of a USI engine, a path
    or `liteshogi`, perhaps with arguments."""
    second: tyro.conf.Positional[str]
    """The second player."""
    output: Output = Path("runs/match")
    json: Json = False

    def run(self) -> None:
        (first, first_option), (second, second_option) = as_player(self.first), as_player(self.second)
        players = replace(
            part(Match, self),
            first=first,
            second=second,
            first_option=first_option + self.first_option,
            second_option=second_option + self.second_option,
        )
        report = play_match(players)
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
