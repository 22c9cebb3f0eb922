"""`liteshogi bench planes`: microseconds a position of dlshogi's input planes, cshogi's beside, equality checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.resnet.bench_planes import SAMPLE, bench_planes
from liteshogi.commands.arguments import Json, OrSample


@dataclass(frozen=True)
class Command:
    """Measure the making of dlshogi's input planes against cshogi's, after comparing planes and move labels."""

    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], OrSample] = (SAMPLE,)
    """Records to take positions from."""
    positions: int = 10_000
    """How many."""
    json: Json = False

    def run(self) -> None:
        figures = bench_planes(self.data, self.positions)
        if self.json:
            print(json.dumps(figures))
            return
        print(
            f"{figures['positions']:,} positions, {figures['different_planes']} with other planes than cshogi's; "
            f"{figures['moves']:,} legal moves, {figures['different_labels']} with other labels"
        )
        print("microseconds a position, one thread: ", end="")
        print(", ".join(f"{name} {figures[f'{name}_us']:.2f}" for name in ("cshogi", "float32", "bfloat16", "uint8")))
        print(f"cshogi's time over ours, both float32: {figures['ratio']:.2f}")
