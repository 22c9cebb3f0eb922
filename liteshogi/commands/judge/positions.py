"""`liteshogi judge positions`: choose positions of recorded games whose moves are to be judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.judge import Judging
from experiments.judge.selection import Selection, select_positions
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(Selection):
    """Choose balanced positions of recorded games by a strong engine's scores. Resumes an interrupted run.

    One position per game is chosen, and written with the moves before it."""

    games: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/judge/positions")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = select_positions(self, self.judging)
        text = f"{report.output}: {amount(report.positions, 'position')} of {amount(report.games, 'game')}"
        print(json_text(report) if self.json else text)
