"""Ctrl-C while training: the step is finished, the run saved, and the way to go on told."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupt_flag() -> Iterator[Callable[[], bool]]:
    """Turns Ctrl-C into a flag that the loop looks at between two steps; a second one stops at once."""
    pressed: list[bool] = []

    def press(*_: Any) -> None:
        pressed.append(True)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        before = signal.signal(signal.SIGINT, press)
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def how_to_resume() -> str:
    """The command that goes on; other verbs that train find their own unfinished runs."""
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    words = [word for word in sys.argv[1:] if word != "--overwrite"]  # the run that it was about is gone
    command = " ".join(words) if verb in ("train", "compare") else "train ..."
    return f"go on with: liteshogi {command}" + ("" if "--resume" in command or verb == "compare" else " --resume")
