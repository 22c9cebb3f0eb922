"""Standard input and output as a process that is spoken to by lines uses them, on Windows too."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def take_input() -> TextIO | None:
    """Standard input as UTF-8, for one thread of the process to read; None if there is none.

    It becomes this thread's own, and an empty file takes its place. On Windows a pipe serves one caller at a time:
    while a thread waits for a line, whoever asks what kind of file standard input is waits with it. Libraries do so as
    they are loaded (NumPy's, github.com/numpy/numpy/issues/24290): an engine that imports them after `isready` would
    be ready at the GUI's next line, which it never sends. Nor can a process that this one starts take lines away.
    """
    try:
        standard = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # none, closed, or something else in its place
        return _as_utf8(sys.stdin)
    own, empty = os.dup(standard), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, standard)  # tells the system as well
    os.close(empty)
    return open(own, encoding="utf-8", errors="replace")


def take_output() -> TextIO | None:
    """Standard output as UTF-8, its lines ending as they are written; None if there is none."""
    return _as_utf8(sys.stdout, newline="\n")


def _as_utf8(stream: TextIO | None, newline: str | None = None) -> TextIO | None:
    """Windows with a Japanese locale would use cp932."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="replace", newline=newline)
    return stream
