"""`liteshogi judge positions`: positions of recorded games whose moves are worth judging."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.judge import Judging
from experiments.judge.selection import Selection, select_positions
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output, Overwrite


@dataclass(frozen=True)
class Command(Selection):
    """Choose positions of recorded games that a strong engine calls balanced.

    One of a game, written with the moves that led to it."""

    games: tyro.conf.Positional[tuple[Path, ...]]
    output: Output
    overwrite: Overwrite = False
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = select_positions(self, self.judging)
        told = f"{report['output']}: {amount(report['positions'], 'position')} of {amount(report['games'], 'game')}"
        print(json.dumps(report) if self.json else told)
