"""A step for tests of processes, in a module that imports little: each process imports it."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Echo:
    """A step that returns its text and its number of cores, or fails."""

    word: str
    error: Exception | None = None

    def run(self) -> tuple[str, int]:
        if self.error is not None:
            raise self.error
        return self.word, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
