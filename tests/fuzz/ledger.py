"""How long each reader has been fuzzed: a line of JSON for each run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fuzz.readers import READERS


def bounds_checked() -> bool:
    return os.environ.get("NUMBA_BOUNDSCHECK") == "1"


@dataclass(frozen=True)
class Run:
    """Of one reader, in one process."""

    reader: str
    seconds: float
    """Of CPU."""
    executions: int
    bounds: bool = field(default_factory=bounds_checked)
    """Whether compiled code checked its indices."""
    finding: str = ""
    """The file of an input that the reader did not stand."""


def seconds_of(runs: Sequence[Run], bounds: bool) -> dict[str, float]:
    """Of CPU, for each reader there is."""
    total = dict.fromkeys(READERS, 0.0)
    for run in runs:
        if run.bounds == bounds and run.reader in total:
            total[run.reader] += run.seconds
    return total


def table(runs: Sequence[Run]) -> str:
    """A row of Markdown for each reader: minutes of CPU, executions, those with bounds checked, and findings."""
    rows = ["| reader | minutes of CPU | executions | with bounds checked | findings |", "|---|---|---|---|---|"]
    for reader in READERS:
        cells = []
        for bounds in (False, True):
            own = [run for run in runs if run.reader == reader and run.bounds == bounds]
            minutes = sum(run.seconds for run in own) / 60
            cells.append((f"{minutes:.1f}", f"{sum(run.executions for run in own):,}") if own else ("", ""))
        findings = sum(run.reader == reader and bool(run.finding) for run in runs)
        checked = f"{cells[1][0]} min, {cells[1][1]}" if cells[1][0] else ""
        rows.append(f"| `{reader}` | {cells[0][0]} | {cells[0][1]} | {checked} | {findings or ''} |")
    return "\n".join(rows)
