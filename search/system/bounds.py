"""Bounds of options that are whole numbers, and whether an option does anything; asked before anything is written.

A number beyond what was meant would end in an overflow somewhere in compiled code, or in threads that the system does
not give.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

MOST = (1 << 31) - 1
"""Of nodes, depths, plies and all that is counted alike: compiled code keeps some of them in 32 bits."""
MOST_THREADS = 64
"""Of one search."""
MOST_AT_ONCE = 1024
"""Of other work that is done side by side."""
MOST_MEGABYTES = 1 << 20
"""Of one table."""


def check_number(name: str, number: int | None, least: int = 1, most: int | None = MOST) -> None:
    """Raises ValueError, in the command line's words, for an option that is no whole number (a script may give any
    object), below `least`, or above `most`, which None leaves open; a number that is None was not given."""
    if number is None:
        return
    option = f"--{name.replace('_', '-')} {number}"
    if not isinstance(number, Integral):
        raise ValueError(f"{option}: a whole number is needed, not a {type(number).__name__}")
    if number < least:
        raise ValueError(f"{option}: must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{option}: must be at most {most:,}")


def check_numbers(options: Any, *names: str, least: int = 1, most: int | None = MOST) -> None:
    """`check_number` of these fields of the options, and of each number where one is a tuple."""
    for name in names:
        value = getattr(options, name)
        for number in value if isinstance(value, tuple) else (value,):
            check_number(name, number, least, most)


def check_used(options: Any, name: str, *needed: str) -> None:
    """Raises ValueError, in the command line's words, for a field that was given (is not its class's default) and does
    nothing, as the fields that need it are all 0."""
    value = getattr(options, name)
    if value != getattr(type(options), name) and not any(getattr(options, one) for one in needed):
        uses = " or ".join(f"--{one.replace('_', '-')}" for one in needed)
        raise ValueError(f"--{name.replace('_', '-')} {value}: does nothing without {uses}")


def check_threads(count: int) -> None:
    """Raises ValueError for threads of a search that are too few or too many."""
    if not 1 <= count <= MOST_THREADS:
        raise ValueError(f"threads are {count}: choose 1 to {MOST_THREADS}")


def check_megabytes(table: str, megabytes: int) -> None:
    """Raises ValueError, which names the table, for a size that is too small or too large for any."""
    if not 1 <= megabytes <= MOST_MEGABYTES:
        raise ValueError(f"{table} of {megabytes} MB: choose 1 to {MOST_MEGABYTES}")
