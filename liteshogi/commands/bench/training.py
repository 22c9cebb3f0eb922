"""`liteshogi bench training`: speed of a training step, by kind of network and of computation."""

from __future__ import annotations

from dataclasses import dataclass

from lite.training.training_speed import bench_training
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command:
    """Measure training in positions per second: each kind of network on one or two cores, a GPU and plain PyTorch."""

    json: Json = False

    def run(self) -> None:
        figures = bench_training()
        if self.json:
            print(json_text(figures))
            return
        print("positions per second of whole steps, on one core unless stated (median of alternating rounds)")
        for name, figure in figures.items():
            print(f"{name:50s} {figure:12,.1f}")
