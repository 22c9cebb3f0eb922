"""A progress line on standard error: redrawn on a terminal, a line of its own elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from lite.notation.columns import columns_of

TERMINAL_SECONDS, PLAIN_SECONDS = 1.0, 30.0
"""Least seconds between two lines, on a terminal and elsewhere."""
_CUT = "..."
Watch = Callable[[int, int], None]
"""Takes the amount that is done, and the total."""


def is_redrawn() -> bool:
    """Return whether standard error is a terminal that can replace its last line."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def draw(text: str, end: str = "") -> None:
    """Show a line in place of the last one; `end` is its last part. On a narrow terminal the end of `text` is cut,
    because only the last row of a broken line could be replaced."""
    if is_redrawn():
        print(f"\r\x1b[K{fitted(text, end, _columns())}", end="", file=sys.stderr, flush=True)
    else:
        print(text + end, file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Print a line that stays in place of a drawn one."""
    print(f"\r\x1b[K{text}" if is_redrawn() else text, file=sys.stderr, flush=True)


def erase() -> None:
    """Remove a drawn line."""
    if is_redrawn():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def fitted(text: str, end: str, columns: int | None) -> str:
    """Return the text, cut so that it fits into the columns with its end; None means any width."""
    if columns is None or columns_of(text + end) < columns:
        return text + end
    room = columns - 1 - columns_of(_CUT + end)
    while text and columns_of(text) > max(room, 0):
        text = text[:-1]
    return text + _CUT + end


def clock(seconds: float) -> str:
    """Return a duration as 12:34 or 1:23:45."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def _columns() -> int | None:
    """Return the columns of the terminal; None if they are unknown."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (OSError, ValueError):  # not a terminal of the system, as in a notebook
        return None
