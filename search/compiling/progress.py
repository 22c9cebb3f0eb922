"""Progress of compiling: what is compiled, and about how long the rest takes.

`compile_times.json` has the CPU seconds that each function took to compile on one machine (`release/compile_times.py`
measures them), by the part that it belongs to: the engine, which `warmup` and the first start compile, or what one of
the other verbs compiles when it is first used. The seconds left are those of the functions still missing, times the
ratio of the time spent here to the table's seconds of what was compiled here.

Imports nothing that compiles.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from search.compiling.cache_directory import report
from search.system.threads import started

TABLE = Path(__file__).with_name("compile_times.json")
REPORT_SECONDS = 5.0
"""Seconds between two reports."""
QUIET_SECONDS = 2.0
"""Shortest compiling that is reported on a terminal, and the pause that ends the report, in seconds."""
PRIOR_SECONDS = 2.0
"""Weight of the assumption that this machine is as fast as the one that was measured."""
SUBJECTS = {
    "search": "the engine",
    "ahead": "the engine",
    "beside": "the engine",
    "puct": "the PUCT player",
    "positions": "packed positions",
    "records": "the reading of records",
    "games": "games in this process",
    "training": "training",
}
"""Names of the parts for users."""
ENGINE = ("search", "ahead", "beside")
"""Parts of the first start."""
FURTHER = "further functions"
"""Name of functions that are in no part, and of functions of a compiled engine that are called in another way."""


@functools.cache
def compile_times() -> dict[str, dict[str, float]]:
    """CPU seconds by function, of each part; empty if the table is missing."""
    try:
        found: dict[str, dict[str, float]] = json.loads(TABLE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


class CompileProgress:
    """Progress of compiling in this process. One thread compiles at a time; any thread may read the state."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.watched = False
        """Whether a caller reads `state`; otherwise a thread reports it."""
        self.seconds: dict[str, float] = {}
        """CPU seconds of the functions compiled here, without those that they call."""
        self._clock = clock
        self._expected: Mapping[str, float] = {}
        self._parts: tuple[str, ...] = ()
        """The parts that were announced."""
        self._subject = ""
        """Name of what is being compiled."""
        self._parts_beside: tuple[str, ...] = ()
        """The parts that another process compiles meanwhile."""
        self._beside = 0.0
        """CPU seconds of these."""
        self._depth = 0
        self._stack: list[str] = []
        """The functions being compiled, the innermost last."""
        self._since = 0.0, 0.0
        """Wall and CPU time at which the innermost one's time began to count."""
        self._spent: dict[str, float] = {}
        """Wall seconds, as `seconds`."""
        self._present: set[str] = set()
        self._begun: float | None = None
        self._changed = 0.0
        self._watch: threading.Thread | None = None

    def expect(self, *parts: str, beside: tuple[str, ...] = ()) -> None:
        """Announce that parts of `compile_times` are needed, and parts that another process compiles meanwhile."""
        times = compile_times()
        self._parts, self._parts_beside = parts, beside
        self._expected = {name: seconds for part in parts for name, seconds in times.get(part, {}).items()}
        self._beside = sum(sum(times.get(part, {}).values()) for part in beside)

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """Compile something inside, or wait for another process that does."""
        if self._paused() and not self._beside:
            self._begun = None
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._changed = self._clock()
            if not self._depth:
                self._stack.clear()

    def begin(self, name: str) -> None:
        """Note that a missing function begins to be compiled; `name` includes its module."""
        self._note_time()
        if self._begun is None:
            self._begun = self._clock()
        subject = self._expect_part_of(name)
        if not self._stack:
            self._subject = subject
        self._stack.append(name)
        if not self.watched and (self._watch is None or not self._watch.is_alive()):
            self._watch = started(threading.Thread(target=self._report, daemon=True))

    def _expect_part_of(self, name: str) -> str:
        """Expect the whole part that a missing function belongs to, unless some of it is compiled; return its name."""
        table = compile_times()
        possible = (*self._parts, *(part for part in table if part != "puct"))  # PUCT is always announced
        part = next((part for part in possible if name in table.get(part, {})), None)
        if part is None:
            return self._subject if self._expected and self._subject else FURTHER
        times = table[part]
        if name in self._expected:
            return SUBJECTS.get(part, FURTHER)
        # A compiled function was loaded with all that it calls, which is not noted one by one.
        is_begun = part in self._parts_beside or any(one in self._present for one in times)
        self._expected = {**self._expected, **({name: times[name]} if is_begun else times)}
        is_further = is_begun and part in ENGINE and part not in self._parts_beside
        return FURTHER if is_further else SUBJECTS.get(part, FURTHER)

    def end(self, name: str) -> None:
        """Note that the innermost function is compiled."""
        self._note_time()
        self._present.add(name)
        if self._stack:
            self._stack.pop()

    def load(self, name: str) -> None:
        """Note that the function `name` was found in the cache."""
        self._present.add(name)

    def _note_time(self) -> None:
        """Add the time since the last change to the function that was being compiled."""
        wall, cpu = self._clock(), time.thread_time()
        if self._stack:
            name = self._stack[-1]
            self._spent[name] = self._spent.get(name, 0.0) + wall - self._since[0]
            self.seconds[name] = self.seconds.get(name, 0.0) + cpu - self._since[1]
        self._since = wall, cpu
        self._changed = wall

    def seconds_left(self) -> float | None:
        """About how many seconds the rest takes; None if that is unknown."""
        if not self._expected or self._begun is None:
            return None
        table, now = self._expected, self._clock()
        present, spent = set(self._present), dict(self._spent)
        missing = sum(seconds for name, seconds in table.items() if name not in present)
        if not missing and self._stack and self._stack[-1] not in table and not self._beside:
            return None
        done = [name for name in spent if name in present and name in table]
        wall, seconds = sum(spent[name] for name in done), sum(table[name] for name in done)
        pace = (wall + PRIOR_SECONDS) / (seconds + PRIOR_SECONDS)
        weight = since = 0.0
        if self._stack:  # the function under way is not done yet, which bounds the pace from below
            weight = table.get(self._stack[-1], sum(table.values()) / max(len(table), 1))
            since = now - self._since[0]
            pace = max(pace, (wall + since) / (seconds + weight))
        left = max(missing * pace - since, (missing - weight) * pace)
        return max(left, self._beside * pace - (now - self._begun), 1.0)

    def _paused(self) -> bool:
        """Return whether nothing has been compiled for a while."""
        return not self._depth and self._clock() - self._changed > QUIET_SECONDS

    def state(self) -> str | None:
        """The state for a user in one line; None if nothing is being compiled."""
        if self._begun is None or self._paused():
            return None
        left = self.seconds_left()
        if left is None:
            return f"compiling {self._subject} for this CPU, only once: {self._clock() - self._begun:.0f} s so far"
        return f"compiling {self._subject} for this CPU, only once: about {left:.0f} s left"

    def _report(self) -> None:
        time.sleep(QUIET_SECONDS)
        while not self.watched and (text := self.state()) is not None:
            report(text)
            time.sleep(REPORT_SECONDS)


PROGRESS = CompileProgress()
"""The progress of this process."""
