"""Ctrl-C in long work: what is under way is finished or ended in good order."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupt_flag(*others: signal.Signals, patient: bool = False) -> Iterator[Callable[[], bool]]:
    """Turns Ctrl-C, and other signals, into a flag that the loop looks at between two steps; a second one stops at
    once, with KeyboardInterrupt, or if `patient`, where no step is long, changes nothing."""
    pressed: list[bool] = []

    def press(*_: Any) -> None:
        pressed.append(True)
        if not patient:
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
