"""A step for tests of processes, in a module that imports little: each process imports it."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Echo:
    """A step that returns its text and its number of cores, or fails with the text."""

    word: str
    fails: bool = False

    def run(self) -> tuple[str, int]:
        if self.fails:
            raise ValueError(self.word)
        return self.word, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
