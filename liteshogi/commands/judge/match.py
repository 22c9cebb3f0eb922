"""`liteshogi judge match`: games that are broken off, and who stands better by a stronger engine's word."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedMatch, play_judged_match
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command(JudgedMatch):
    """Break two players' games off and ask a stronger engine who stands better; goes on where it was cut.

    Two networks, or two settings of the search, play in this process: several times as much is told in an hour as by
    whole games."""

    first: tyro.conf.Positional[str]
    """The first player: a network's file or name, in quotes with options as `match` takes them:
    "default razor_margin=400 skip_probcut=true"."""
    second: tyro.conf.Positional[str]
    """The second player."""
    openings: Path
    """File of balanced openings, an SFEN or `startpos moves ...` a line."""
    output: Output = Path("runs/judged")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = play_judged_match(self, self.judging)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader."""
    error, pairs = report["share_error"], report["pairs"]
    share = f"{report['share']:.3f}" + ("" if error is None else f" +- {error:.3f}")
    counted = "one pair" if error is None else f"standard error, {pairs} pairs"
    return "\n".join(
        [
            f"{report['first']}",
            f"against {report['second']}",
            f"{share} ({counted}) of win rate after {report['plies']} plies, by {report['judge']} "
            f"({report['judge_nodes']:,} nodes); {report['ended']} of {report['games']} games ended before",
        ]
    )
