"""Threads that a system may not have to give: it counts those of all processes, and has had its most."""

from __future__ import annotations

import threading
from typing import TypeVar

AnyThread = TypeVar("AnyThread", bound=threading.Thread)


def started(thread: AnyThread) -> AnyThread | None:
    """The thread, begun as one that no process waits for at its end; None if the system has none to give."""
    thread.daemon = True
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
