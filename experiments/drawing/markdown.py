"""Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def markdown_table(rows: Sequence[Row], columns: Sequence[tuple[str, Callable[[Row], str]]]) -> str:
    """Return a table; `columns` are headings and functions from a row to a cell. Empty columns are omitted."""
    shown = [(name, [show(row) for row in rows]) for name, show in columns]
    shown = [(name, cells) for name, cells in shown if any(cells)]
    lines = [[name for name, _ in shown], ["---"] * len(shown), *zip(*(cells for _, cells in shown), strict=True)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
