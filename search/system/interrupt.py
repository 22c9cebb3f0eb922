"""Handling of Ctrl-C and other requests to end during long work."""

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
"""Length of one wait: on Windows no signal interrupts a wait, so that long waits are made of short ones."""


def requests_to_end() -> list[signal.Signals]:
    """Return the signals that ask a process to end: SIGINT, SIGTERM, and a closed terminal's SIGHUP unless it is
    ignored (`nohup`)."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


@contextmanager
def interrupt_flag(patient: bool = False) -> Iterator[Callable[[], bool]]:
    """Turn requests to end into a flag that a loop checks between two steps.

    A second request raises KeyboardInterrupt at once. If `patient`, for loops whose steps are all short, it has no
    effect. A closed terminal may send SIGHUP twice, by itself and by its shell, so a SIGHUP never raises
    KeyboardInterrupt.
    """
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
    except ValueError:  # not the main thread, the only one that handles signals
        yield lambda: False
        return
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Make requests to end raise KeyboardInterrupt, as Ctrl-C does.

    Otherwise games would continue without the process that started them, and unfinished files would remain.
    """
    # Only the main thread handles signals.
    numbers = requests_to_end() if threading.current_thread() is threading.main_thread() else []
    # A process that a script starts with `&` ignores SIGINT. Its children would inherit that, although it ends them by
    # SIGINT.
    before = [(number, signal.signal(number, signal.default_int_handler)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def ended_by_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Make Ctrl-C call `stop`, and raise KeyboardInterrupt when the block has ended.

    An exception inside the block would leave threads running. A second Ctrl-C raises KeyboardInterrupt at once. If the
    caller has a SIGINT handler of its own, that handler stays in force.
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
    """The SIGINT handler of `ended_by_interrupt`."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.pressed = False

    def __call__(self, *_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.pressed = True
        self._stop()


@contextmanager
def interrupted_at_once() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt at once inside `ended_by_interrupt`.

    Meant for long work that `stop` does not end, such as compiling.
    """
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
    """Run compiled code, which `stop` ends soon, while signals are handled.

    Python runs signal handlers in the main thread, and only after compiled code has returned to it. So the main thread
    runs the work in another thread, unless the system cannot start one.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    errors: list[BaseException | None] = []
    """The exception that ended the work, or None; empty while the work runs."""

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
    except BaseException:  # raised by a signal handler
        stop()
        while not errors:  # Python 3.11 takes a thread for ended if an exception interrupts its `join`
            time.sleep(0.001)
        raise
    if errors[0] is not None:
        raise errors[0]
