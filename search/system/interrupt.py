"""Ctrl-C, and other requests to end, in long work: what is under way is finished or ended in good order."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from search.system.standard_streams import leave_terminal
from search.system.threads import started

WAIT_SECONDS = 0.1
"""Windows lets no signal end a wait: after so long it is begun again."""


def requests_to_end() -> list[signal.Signals]:
    """Ctrl-C, SIGTERM, and a closed terminal's SIGHUP, where there is such and it is not ignored, as `nohup` asks."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


@contextmanager
def interrupt_flag(patient: bool = False) -> Iterator[Callable[[], bool]]:
    """Turns requests to end into a flag that the loop looks at between two steps; a second one stops at once, with
    KeyboardInterrupt, or if `patient`, where no step is long, changes nothing. A terminal that is closed may say so
    twice, by itself and by its shell, and hurries nobody."""
    pressed: list[bool] = []

    def press(number: int, _: Any) -> None:
        pressed.append(True)
        if number not in (signal.SIGINT, signal.SIGTERM):
            leave_terminal()
        elif not patient:
            for hurried in (signal.SIGINT, signal.SIGTERM):
                signal.signal(hurried, signal.default_int_handler)

    before: dict[signal.Signals, Any] = {}
    try:
        for number in requests_to_end():
            before[number] = signal.signal(number, press)
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Have requests to end raise KeyboardInterrupt, as Ctrl-C does: else games would go on without their starter, and
    files under way would stay behind."""
    # Signals are the main thread's.
    numbers = requests_to_end() if threading.current_thread() is threading.main_thread() else []
    # What a script starts with `&` ignores SIGINT, and so would all that it starts and has to end by it.
    before = [(number, signal.signal(number, signal.default_int_handler)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def ended_by_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls `stop`, and becomes KeyboardInterrupt when what that ends has come back: amid it, it would leave
    threads at work behind. A second one is raised at once. Where somebody has a handler of his own, he alone hears it.
    """
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_ours or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Stopping(stop)
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if handler.pressed:
        raise KeyboardInterrupt


class _Stopping:
    """The handler of Ctrl-C there."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.pressed = False

    def __call__(self, *_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.pressed = True
        self._stop()


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """What takes long amid `ended_by_interrupt`, and no `stop` ends, as compiling: Ctrl-C is KeyboardInterrupt here."""
    handler = signal.getsignal(signal.SIGINT)
    if not isinstance(handler, _Stopping) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def run_beside(work: Callable[[], None], stop: Callable[[], None]) -> None:
    """Run compiled code, which `stop` ends soon, so that signals are heard meanwhile.

    Their handlers run in the main thread, and not before compiled code has come back to it: there the work is done in
    another thread, if the system has one to give.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    errors: list[BaseException | None] = []
    """What the work has ended with, once it has."""

    def do() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        else:
            errors.append(None)

    worker = started(threading.Thread(target=do))
    if worker is None:
        work()
        return
    try:
        while not errors:
            worker.join(WAIT_SECONDS)
    except BaseException:  # of a handler
        stop()
        while not errors:  # Python 3.11 takes a thread for ended whose `join` an exception has cut
            time.sleep(0.001)
        raise
    if errors[0] is not None:
        raise errors[0]
