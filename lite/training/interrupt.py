"""Ctrl-C in long work: what is under way is finished or ended in good order, and the way to go on told."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lite.workers import join_workers


@contextmanager
def interrupt_flag(*others: signal.Signals) -> Iterator[Callable[[], bool]]:
    """Turns Ctrl-C, and other signals, into a flag that the loop looks at between two steps; a second one stops at
    once, with KeyboardInterrupt."""
    pressed: list[bool] = []

    def press(*_: Any) -> None:
        pressed.append(True)
        for number in before:
            signal.signal(number, signal.default_int_handler)

    before: dict[signal.Signals, Any] = {}
    try:
        for number in (signal.SIGINT, *others):
            before[number] = signal.signal(number, press)
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def how_to_resume() -> str:
    """The command that goes on; other verbs that train find their own unfinished runs."""
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    words = [word for word in sys.argv[1:] if word != "--overwrite"]  # the run that it was about is gone
    resumes = verb in ("compare", "loop")
    command = " ".join(words) if verb == "train" or resumes else "train ..."
    program = "torchrun ... -m liteshogi" if join_workers().size > 1 else "liteshogi"
    return f"go on with: {program} {command}" + ("" if "--resume" in command or resumes else " --resume")
