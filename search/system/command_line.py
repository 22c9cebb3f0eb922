"""The command line that started this work, for the records of long work.

The front door sets it; from Python it is empty. Rooms below read it only to write it down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def command_arguments() -> tuple[str, ...]:
    """Return the words after the program's name; empty if no command line started this work."""
    return _ARGUMENTS.get()


@contextmanager
def started_by(arguments: Sequence[str]) -> Iterator[None]:
    """Within the block, `command_arguments` returns these words."""
    token = _ARGUMENTS.set(tuple(arguments))
    try:
        yield
    finally:
        _ARGUMENTS.reset(token)
