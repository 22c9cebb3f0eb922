"""Standard input and output as a process that is spoken to by lines uses them, on Windows too."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def take_input() -> TextIO | None:
    """Standard input as UTF-8, for one thread of the process to read; None if there is none.

    The pipe becomes this thread's own, and standard input an empty file. On Windows a pipe serves one caller at a time,
    and while a thread waits for a line, whoever asks what kind of file standard input is waits with it. Libraries do so
    as they are loaded (NumPy's, github.com/numpy/numpy/issues/24290): an engine that imports them after `isready` would
    be ready at the GUI's next line, which it never sends.
    """
    if sys.stdin is None:
        return None
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)  # tells Windows as well
    os.close(empty)
    return open(own, encoding="utf-8", errors="replace")


def take_output() -> TextIO | None:
    """Standard output as UTF-8, its lines ending as they are written; None if there is none. Windows with a Japanese
    locale would use cp932."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return sys.stdout
