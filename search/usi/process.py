"""The process of a USI engine: streams and signals around a session."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from search.compiling.cache_directory import report_to
from search.compiling.progress import PROGRESS
from search.system.heap import share_one_heap
from search.system.interrupt import requests_to_end
from search.system.standard_streams import take_input, take_output
from search.usi.adapter import Adapter
from search.usi.session import Session
from search.usi.streams import Input, Output


def speak(
    lines: Input,
    write: Callable[[str], None],
    adapter: Adapter | None = None,
    give_up: Callable[[], None] = lambda: None,
) -> None:
    """Run a session until `quit` or the last line; `give_up` as in `Session`."""
    session = Session(write, adapter, give_up)
    report_to(session.say)
    PROGRESS.watched = True
    for line in lines:
        if not session.handle(line):
            break
    else:
        session.finish(lines.deadline)
    session.close()


def end_at_once() -> None:
    """Let signals end the process at once: a Python handler would wait for compiled code to return."""
    for number in requests_to_end():
        signal.signal(number, signal.SIG_DFL)


def main(adapter: Adapter | None = None) -> None:
    """Speak USI on standard input and output until `quit`, the end of input or a signal; by default with alpha-beta."""
    output = take_output()
    if output is None:
        return
    share_one_heap()
    end_at_once()
    speak(Input(take_input()), Output(output), adapter, lambda: os._exit(1))
    os._exit(0)  # do not wait for daemon threads, which may be inside compiled code
