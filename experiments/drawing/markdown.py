"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
_BETWEEN = re.compile(r"(?<!\\)\|")
"""A bar that separates two cells: one of a cell's text follows a backslash."""


def markdown_table(rows: Sequence[Row], columns: Sequence[tuple[str, Callable[[Row], str]]]) -> str:
    """Return a table; `columns` are headings and functions from a row to a cell. Empty columns are omitted."""
    shown = [(name, [show(row) for row in rows]) for name, show in columns]
    shown = [(name, cells) for name, cells in shown if any(cells)]
    return markdown_lines([[name for name, _ in shown], *zip(*(cells for _, cells in shown), strict=True)])


def markdown_lines(lines: Sequence[Sequence[str]]) -> str:
    """Return a table of lines of cells, the first of which are the headings."""
    head, *rest = lines
    below = (f"| {' | '.join(map(_escaped, cells))} |\n" for cells in rest)
    return f"| {' | '.join(map(_escaped, head))} |\n| {' | '.join(['---'] * len(head))} |\n{''.join(below)}"


def markdown_cells(line: str) -> list[str]:
    """Return the cells of a table's line."""
    return [cell.strip().replace("\\|", "|") for cell in _BETWEEN.split(line.strip())[1:-1]]


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
