"""The ledger of fuzzing: one line of JSON per run of a reader."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fuzz.readers import READERS


def bounds_checked() -> bool:
    return os.environ.get("NUMBA_BOUNDSCHECK") == "1"


@dataclass(frozen=True)
class Run:
    """A fuzzing run of one reader in one process."""

    reader: str
    seconds: float
    """CPU seconds of the run."""
    executions: int
    bounds: bool = field(default_factory=bounds_checked)
    """Whether compiled code checked its indices."""
    finding: str = ""
    """File of the input that the reader failed on; empty if none."""


def seconds_of(runs: Sequence[Run]) -> dict[str, float]:
    """Return the CPU seconds of each reader, with and without checks of bounds."""
    total = dict.fromkeys(READERS, 0.0)
    for run in runs:
        if run.reader in total:
            total[run.reader] += run.seconds
    return total


def table(runs: Sequence[Run]) -> str:
    """Return a Markdown table by reader: CPU minutes, executions, the part of both with checked bounds, findings."""
    rows = [
        "| reader | minutes of CPU | executions | of these with bounds checked | findings |",
        "|---|---|---|---|---|",
    ]
    for reader in READERS:
        own = [run for run in runs if run.reader == reader]
        (minutes, executions), (checked, of_these) = map(_amounts, (own, [run for run in own if run.bounds]))
        bounds = f"{checked} min, {of_these}" if any(run.bounds for run in own) else ""
        findings = sum(bool(run.finding) for run in own)
        rows.append(f"| `{reader}` | {minutes} | {executions} | {bounds} | {findings or ''} |")
    return "\n".join(rows)


def _amounts(runs: Sequence[Run]) -> tuple[str, str]:
    """Return the CPU minutes and executions of runs as text."""
    return f"{sum(run.seconds for run in runs) / 60:.1f}", f"{sum(run.executions for run in runs):,}"
