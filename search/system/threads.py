"""Starting threads where the system may refuse: it limits the threads of all processes together."""

from __future__ import annotations

import threading
from typing import TypeVar

AnyThread = TypeVar("AnyThread", bound=threading.Thread)


def started(thread: AnyThread) -> AnyThread | None:
    """Start a thread as a daemon and return it; return None if the system cannot start one."""
    thread.daemon = True
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
