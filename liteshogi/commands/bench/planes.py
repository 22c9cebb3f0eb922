"""`liteshogi bench planes`: speed of making dlshogi's input planes, compared with cshogi."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.resnet.plane_speed import SAMPLE, bench_planes
from liteshogi.commands.arguments import Json, OrSample
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command:
    """Measure the speed of making dlshogi's input planes against cshogi, and check that both agree."""

    data: Annotated[tyro.conf.Positional[tuple[Path, ...]], OrSample] = (SAMPLE,)
    """Records to take positions from: hcpe, hcpe3, psv or pack."""
    positions: int = 10_000
    """Number of positions, at least 64."""
    json: Json = False

    def run(self) -> None:
        figures = bench_planes(self.data, self.positions)
        if self.json:
            print(json_text(figures))
            return
        print(
            f"{figures.positions:,} positions, {figures.different_planes} with planes that differ from cshogi's; "
            f"{figures.moves:,} legal moves, {figures.different_labels} with labels that differ"
        )
        print(
            f"microseconds per position, one thread: cshogi {figures.cshogi_us:.2f}, float32 {figures.float32_us:.2f}, "
            f"bfloat16 {figures.bfloat16_us:.2f}, uint8 {figures.uint8_us:.2f}"
        )
        print(f"cshogi's time divided by this program's, both float32: {figures.ratio:.2f}")
