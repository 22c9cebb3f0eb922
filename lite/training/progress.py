"""The progress line of a training run on the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

TERMINAL_SECONDS = 0.5
PLAIN_SECONDS = 30.0
WATCH_SECONDS = 1.0
"""Least time between two reports to another process."""


class Progress:
    """Shows loss, positions per second and time left: redrawn on a terminal, elsewhere a line every 30 seconds."""

    def __init__(self, steps: int, silent: bool = False, watch: Callable[[str], None] | None = None) -> None:
        """`steps` of the whole run. `watch` takes the steps taken and the time left about once a second."""
        self._silent, self._watch = silent, watch
        self._steps = steps
        self._first: tuple[float, int] | None = None
        """Seconds and number of the first step of this call. It also compiles, so its time says nothing of others."""
        self._begun = self._shown = self._watched = time.monotonic()
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def positions_per_second(self, trained: int) -> float:
        """Return the mean speed, given the number of positions `trained` on since this call of the run began."""
        return trained / self.seconds()

    def seconds(self) -> float:
        """Return the seconds since this call of the run began."""
        return max(time.monotonic() - self._begun, 1e-9)

    def show(self, step: int, trained: int, text: str) -> None:
        """Show `text`, the speed and, after two steps, the time left, if the last time was long enough ago.

        To be called after every step.
        """
        now, seconds = time.monotonic(), self.seconds()
        begun, first = self._first = self._first or (seconds, step)
        left = f"{clock((self._steps - step) * (seconds - begun) / (step - first))} left" if step > first else ""
        if self._watch is not None and now - self._watched >= WATCH_SECONDS:
            self._watched = now
            self._watch(", ".join(filter(None, (f"{step:,} of {self._steps:,} steps", left))))
        if now - self._shown < (TERMINAL_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._shown = now
        line = "  ".join(filter(None, (text, f"{self.positions_per_second(trained):,.0f} positions/s", left)))
        self._print(f"\r\x1b[K{line}" if self._terminal else line, end="" if self._terminal else "\n")

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self._print(f"\r\x1b[K{line}" if self._terminal else line)

    def _print(self, line: str, end: str = "\n") -> None:
        if not self._silent:
            print(line, end=end, file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """Return a duration as 12:34 or 1:23:45."""
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
