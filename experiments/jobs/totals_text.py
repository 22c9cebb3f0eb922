"""The totals of games and positions in a folder as text."""

from __future__ import annotations

from collections.abc import Mapping

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
    if calls := called_text(totals):
        lines.append(f"  {calls}")
    return "\n".join(lines)


def called_text(counts: Mapping[str, int | float]) -> str:
    """Return how often games that were played out ended otherwise than their scores said; empty if there were none."""
    if not (called := counts.get("called and played out", 0)):
        return ""
    wrong = counts["called wrongly"] / called
    error = (wrong * (1 - wrong) / called) ** 0.5
    return f"of {called} games that the scores would have ended {wrong:.2%} +- {error:.2%} ended otherwise"
