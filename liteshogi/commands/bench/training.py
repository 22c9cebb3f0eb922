"""`liteshogi bench training`: positions a second of a training step, by summed rows and by the module as listed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lite.training.bench import bench_training
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command:
    """Measure training: positions a second of the (16, 4, 32) network on one core, the listed module beside."""

    json: Json = False

    def run(self) -> None:
        figures = bench_training()
        if self.json:
            print(json.dumps(figures))
            return
        print("positions a second, one core, whole steps (median of alternating rounds)")
        for name, figure in figures.items():
            print(f"{name:32s} {figure:12,.1f}")
