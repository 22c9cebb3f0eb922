"""The progress line of a training run on the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from lite.progress_line import PLAIN_SECONDS, TERMINAL_SECONDS, clock, draw, is_redrawn, say

WATCH_SECONDS = 1.0
"""Least seconds between two reports to another process."""


class Progress:
    """Shows loss, positions per second and time left: redrawn on a terminal, elsewhere a line every 30 seconds."""

    def __init__(self, steps: int, silent: bool = False, watch: Callable[[str], None] | None = None) -> None:
        """`steps` of the whole run. `watch` takes the steps taken and the time left about once a second."""
        self._silent, self._watch = silent, watch
        self._steps = steps
        self._first: tuple[float, int] | None = None
        """Seconds and number of the first step of this call. The first step also compiles, so its time is not
        typical."""
        self._begun = self._shown = self._watched = time.monotonic()
        self._terminal = is_redrawn()

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
        if not self._silent:
            draw(f"{text}  {self.positions_per_second(trained):,.0f} positions/s", f"  {left}" if left else "")

    def say(self, line: str) -> None:
        """Print a line that stays."""
        if not self._silent:
            say(line)
