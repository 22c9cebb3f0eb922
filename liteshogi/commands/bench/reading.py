"""`liteshogi bench reading`: positions a second of decoding records, and of whole shuffled epochs, on one core."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from lite.records.bench import bench_reading
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command:
    """Measure how fast records are read: decoding alone, and the reader as training uses it."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    """hcpe, hcpe3 and psv files; each is measured by itself."""
    rounds: int = 3
    """The best of so many is told."""
    json: Json = False

    def run(self) -> None:
        report = bench_reading(self.data, self.rounds)
        if self.json:
            print(json.dumps(report))
            return
        for name, figures in report.items():
            print(
                f"{name}: {figures['positions']:,} positions, decoding {figures['decode_positions_per_s']:,.0f}/s, "
                f"shuffled epochs {figures['read_positions_per_s']:,.0f}/s (CPU seconds of all threads)"
            )
