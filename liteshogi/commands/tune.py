"""`liteshogi tune`: tune the numbers of the search by games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.tuning.tune import Tuning, tune
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True, kw_only=True)
class Command(Tuning):
    """Tune parameters of the search by games against itself (SPSA). Resumes an interrupted run."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    nodes: int = 5000
    games: int = 20_000
    win_score: int = 3000
    output: Output = Path("runs/tune")
    json: Json = False

    def run(self) -> None:
        report = tune(self)
        if self.json:
            print(json_text(report))
            return
        print(f"after {report.games:,} of {report.of:,} games")
        for name, row in report.parameters.items():
            print(f"{name:26} {row.default:6d} -> {row.value:9.2f}  ({row.steps:+.2f} steps)")
