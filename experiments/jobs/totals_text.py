"""The totals of a data factory's folder as text."""

from __future__ import annotations

from experiments.jobs.produce import Production
from lite.amounts import amount


def as_text(made: Production) -> str:
    """Return the totals of a folder for a reader."""
    totals = made.totals
    shown = ("jobs", "bytes", "positions")
    lines = [
        f"{made.folder}: {amount(made.count('positions'), 'position')} of {amount(made.count('jobs'), 'job')}, "
        f"{amount(made.count('bytes'), 'byte')}"
    ]
    lines += [f"  {name}: {count:,}" for name, count in sorted(totals.items()) if name not in shown]
    if called := totals.get("called and played out"):
        wrong = totals["called wrongly"] / called
        error = (wrong * (1 - wrong) / called) ** 0.5
        lines.append(f"  of games that the scores would have ended, {wrong:.2%} +- {error:.2%} ended otherwise")
    return "\n".join(lines)
