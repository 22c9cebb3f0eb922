"""The progress line: redrawn on a terminal, printed at intervals elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from experiments.language.catalogue import shown
from lite.progress_line import PLAIN_SECONDS, TERMINAL_SECONDS, clock, draw, erase, is_redrawn, say


class Progress:
    """Shows the (amount done, text) that `measure` returns; a context manager."""

    def __init__(self, total: int | None, measure: Callable[[], tuple[int, str]]) -> None:
        """`total`: amount of all work; None: the remaining time is not shown."""
        self.total, self._measure = total, measure
        self._begun = self._shown = time.monotonic()
        self._before, self._line = measure()[0], ""
        self._reached = (self._before, self._begun)
        """Amount done, and when it was first seen."""
        self._terminal = is_redrawn()

    def __enter__(self) -> Progress:
        return self

    def show(self) -> None:
        """Draw the line if enough time has passed since the last."""
        now = time.monotonic()
        if now - self._shown < (TERMINAL_SECONDS if self._terminal else PLAIN_SECONDS):
            return
        self._shown = now
        done, line = self._measure()
        if done != self._reached[0]:
            self._reached = (done, now)
        if line == self._line and not self._terminal:
            return  # nothing has happened since the last line
        self._line, left = line, ""
        if self.total is not None and done > self._before:
            left = f", {clock(self._left(self.total - done, now))} left"
        whole, start = shown(line + left), shown(line)
        if whole.startswith(start):
            draw(start, whole.removeprefix(start))
        else:  # another language has another order
            draw(whole)

    def say(self, line: str) -> None:
        """Print a line that stays."""
        say(line)

    def _left(self, amount: int, now: float) -> float:
        """Return the seconds that an amount will take, at the mean speed of what is done.

        The time since the last result counts for the next one. If it exceeds the mean, so does the next one's time.
        """
        done, reached = self._reached
        if amount <= 0:
            return 0.0
        mean, spent = (reached - self._begun) / (done - self._before), now - reached
        if spent < mean:
            return mean * amount - spent
        return (now - self._begun) / (done - self._before + 1) * (amount - 1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        erase()


class CountedProgress:
    """A progress line `DONE of TOTAL THINGS`; called with both numbers, the first of which may be of an earlier step.

    A context manager."""

    def __init__(self, things: str) -> None:
        self._things = things
        self._count = (0, 0)
        self._progress: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        """Draw the line if enough time has passed since the last."""
        if self._progress is not None:
            self._count = done, total
            self._progress.total = total
            self._progress.show()

    def __enter__(self) -> CountedProgress:
        self._progress = Progress(None, self._measure).__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.__exit__(kind, error, traceback)

    def _measure(self) -> tuple[int, str]:
        done, total = self._count
        return done, f"{done:,} of {total:,} {self._things}"
