"""The command line that started this work, for the records of long work.

The front door sets it; from Python it is empty. The packages below read it only to write it down.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def command_arguments() -> tuple[str, ...]:
    """Return the words after the program's name; empty if no command line started this work."""
    return _ARGUMENTS.get()


def shell_text(words: Sequence[str]) -> str:
    """Return words as a line that the user can copy into a shell; on Windows into cmd, which ignores single quotes, or
    PowerShell."""
    if sys.platform != "win32":
        return shlex.join(words)
    return " ".join(word if re.fullmatch(r"[\w.:\\/=+-]+", word) else f'"{word}"' for word in words)


@contextmanager
def started_by(arguments: Sequence[str]) -> Iterator[None]:
    """Within the block, `command_arguments` returns these words."""
    token = _ARGUMENTS.set(tuple(arguments))
    try:
        yield
    finally:
        _ARGUMENTS.reset(token)
