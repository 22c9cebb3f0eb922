"""`liteshogi judge match`: games that are stopped early and evaluated by a stronger engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.judge import Judging
from experiments.judge.judged_match import JudgedMatch, JudgedMatchReport, play_judged_match
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(JudgedMatch):
    """Stop games of two players early and have a stronger engine evaluate them. Resumes an interrupted run.

    Two networks, or two settings of the search, play in this process: an hour of such games measures several times as
    much as an hour of whole games."""

    first: tyro.conf.Positional[str]
    """The first player: a network's file or name, in quotes with options as in a match:
    "default razor_margin=400 skip_probcut=true"."""
    second: tyro.conf.Positional[str]
    """The second player, in the same form."""
    output: Output = Path("runs/judge/match")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = play_judged_match(self, self.judging)
        print(json_text(report) if self.json else as_text(report))


def as_text(report: JudgedMatchReport) -> str:
    """Return the report for a reader."""
    error, pairs = report.share_error, report.pairs
    share = f"{report.share:.3f}" + ("" if error is None else f" +- {error:.3f}")
    counted = "one pair" if error is None else f"standard error, {pairs} pairs"
    return "\n".join(
        [
            report.first,
            f"against {report.second}",
            f"{share} ({counted}) of win rate after {report.plies} plies, by {report.judge} "
            f"({report.judge_nodes:,} nodes); {report.ended} of {report.games} games ended before",
        ]
    )
