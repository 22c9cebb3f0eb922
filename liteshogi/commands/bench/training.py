"""`liteshogi bench training`: positions a second of a training step, by the fused step, by plain PyTorch, on a GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lite.training.bench import bench_training
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command:
    """Measure training: positions a second of each kind of network on one core, two and a GPU, plain PyTorch beside."""

    json: Json = False

    def run(self) -> None:
        figures = bench_training()
        if self.json:
            print(json.dumps(figures))
            return
        print("positions a second, one core where no other number is named, whole steps (median of alternating rounds)")
        for name, figure in figures.items():
            print(f"{name:50s} {figure:12,.1f}")
