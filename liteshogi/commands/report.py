"""`liteshogi report`: one page of what runs have left behind."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.report.report import Report, write_report
from experiments.report.verify import CHANGED, verify
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output, Overwrite, part


@dataclass(frozen=True)
class Command(Report):
    """Make one self-contained HTML page of sweeps, trainings, matches, leagues, loops and more."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("report.html")
    overwrite: Overwrite = False
    verify: bool = False
    """Make no page: tell whether nets, data and shards still have the digests and sizes that the runs have kept."""
    json: Json = False

    def run(self) -> None:
        if self.verify:
            self._verify()
            return
        report = write_report(part(Report, self))
        if self.json:
            print(json.dumps(report))
        else:
            made = f"{amount(len(report['charts']), 'chart')} of {amount(len(report['runs']), 'run')}"
            print(f"{report['page']}: {made}")

    def _verify(self) -> None:
        """Exits with 1 if anything has changed. Raises ValueError for options of the page."""
        for name in ("output", "png", "overwrite"):
            if getattr(self, name) != getattr(Command, name):
                raise ValueError(f"--{name}: is for the page, and --verify makes none; leave out one of the two")
        checks = verify(self.runs)
        if self.json:
            print(json.dumps({"checks": checks}, ensure_ascii=False))
        else:
            for check in checks:
                print(f"{check['run']}: {check['file']}{': ' if check['file'] else ''}{check['state']}")
        if any(check["state"] == CHANGED for check in checks):
            sys.exit(1)
