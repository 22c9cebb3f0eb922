"""What the factory has made, in words."""

from __future__ import annotations

from typing import Any

from lite.amounts import amount
from lite.records.file import Refusals


def as_text(report: dict[str, Any]) -> str:
    """The totals of a folder for a reader."""
    told = ("folder", "jobs", "bytes", "ended", "positions", *Refusals().figures())
    lines = [
        f"{report['folder']}: {amount(report.get('positions', 0), 'position')} of {amount(report['jobs'], 'job')}, "
        f"{amount(report['bytes'], 'byte')}"
    ]
    lines += [f"  {name}: {count:,}" for name, count in sorted(report.items()) if name not in told]
    if called := report.get("called and played out"):
        wrong = report["called wrongly"] / called
        error = (wrong * (1 - wrong) / called) ** 0.5
        lines.append(f"  of games that the scores would have ended, {wrong:.2%} +- {error:.2%} ended otherwise")
    return "\n".join(lines)
