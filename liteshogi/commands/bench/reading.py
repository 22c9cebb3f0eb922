"""`liteshogi bench reading`: speed of decoding records and of whole shuffled epochs, and their memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from lite.amounts import amount
from lite.records.reading_speed import measure_epoch, measure_files
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.options import OptionError


@dataclass(frozen=True)
class Command:
    """Measure the speed of reading records: decoding alone, and shuffled epochs as in training."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    """Records to read: hcpe, hcpe3, psv and pack files or folders of them; each file is measured separately."""
    together: bool = False
    """Measure one epoch over all files together instead: its speed and memory, by tenths."""
    threads: int = 1
    """Number of cores that decode; requires `--together`."""
    rounds: int = 3
    """Number of rounds; the fastest is reported."""
    json: Json = False

    def run(self) -> None:
        check_numbers(self, "rounds")
        check_numbers(self, "threads", most=MOST_AT_ONCE)
        if self.threads > 1 and not self.together:
            raise OptionError(
                f"`threads` {self.threads}: is for `together`; without it each file is measured on one core",
                "threads",
                "together",
            )
        if self.together:
            self._measure_together()
            return
        report = measure_files(self.data, self.rounds)
        if self.json:
            print(json_text(report))
            return
        for name, figures in report.items():
            print(
                f"{name}: {figures.positions:,} positions, decoding {figures.decode_positions_per_s:,.0f}/s, "
                f"shuffled epochs {figures.read_positions_per_s:,.0f}/s (CPU seconds of all threads)"
            )

    def _measure_together(self) -> None:
        report = measure_epoch(self.data, self.threads)
        if self.json:
            print(json_text(report))
            return
        print(
            f"{amount(report.positions, 'position')} of {amount(report.files, 'file')}, "
            f"opened in {report.opening_s:.1f} s"
        )
        for number, tenth in enumerate(report.tenths):
            memory = tenth.resident_bytes
            held = "" if memory is None else f", {memory / 1e9:.2f} GB of memory"
            speeds = f"{tenth.positions_per_s:,.0f} positions/s, {tenth.positions_per_cpu_s:,.0f} per CPU second"
            print(f"{10 * number + 10:3d} %: {speeds}{held}", flush=True)
