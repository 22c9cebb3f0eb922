"""`liteshogi tune`: the numbers of the search tuned by games."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.arena.tune import Tuning, tune
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command(Tuning):
    """Tune numbers of the search by games against itself (SPSA)."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    openings: Annotated[Path, tyro.conf.arg(help_behavior_hint="(required)")] = Path("openings.sfen")
    output: Output = Path("runs/tune")
    json: Json = False

    def run(self) -> None:
        report = tune(self)
        if self.json:
            print(json.dumps(report))
            return
        print(f"after {report['updates']} of {self.updates} updates")
        for name, row in report["parameters"].items():
            print(f"{name:26} {row['default']:6d} -> {row['value']:9.2f}  ({row['steps']:+.2f} steps)")
