"""`liteshogi sweep`: nets over a space of configurations, trained, tested, timed and played."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.sweep.sweep import Sweep, run_sweep
from liteshogi.commands.arguments import Json, Output, part


@dataclass(frozen=True)
class Command(Sweep):
    """Train, test, fold, time and play nets over a grid, a list, or what optuna's samplers choose; goes on where it was
    cut."""

    configuration: tyro.conf.Positional[Path]
    output: Output = Path("runs/sweep")
    json: Json = False

    def run(self) -> None:
        report = run_sweep(part(Sweep, self))
        if self.json:
            print(json.dumps(report))
        else:
            print(Path(report["table"]).read_text(encoding="utf-8"), end="")
        if report["failed"] and not report["points"]:
            raise ValueError(f"{self.output}: every point has failed; {report['table']} tells why")
