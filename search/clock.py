"""How long to think: from the clocks of a `go` command to an optimum and a maximum in milliseconds.

The optimum is what the move should take: the engine begins no iteration that would lead far beyond it. The maximum is
where the search is stopped. Both leave `NetworkDelay` for the way to the server: the ordinary delay where time is only
spent, the larger `NetworkDelay2` where overstepping would lose the game (byoyomi, or a clock about to run out).
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from search.system.threads import started

MOVES_PLANNED = 50
"""Moves of a player that a game is expected to have, at its start. Games go on for some more, but most have been
decided by then, and a search often takes less than it may: docs/archive/search_ledger.md, Time."""
FEWEST_MOVES_LEFT, FEWEST_OF_SUDDEN_DEATH = 16, 24
"""Moves that a clock must still be good for, however long the game has been; where no move gives time back, more."""
INCREMENT_SHARE = 0.85
"""Of an increment; the rest is saved for harder moves. Byoyomi cannot be saved."""
MINIMUM_SHARE = 16
"""MinimumThinkingTime never asks for more than this part of the time there is."""
SPREAD = 3
"""A move may take so many times its optimum where that does not endanger the clock."""
LONG_GAME = 120
"""Moves beyond those planned whose delays a sudden-death clock must still pay: no clock gives them back."""
OWN_DELAY = 10
"""Milliseconds that the engine's own way takes at most, from the budget's end to the written move, whatever
NetworkDelay says; as much is left free until it is known better, see `Punctuality`."""
REMEMBERED = 16
"""Moves that tell how long the own way takes."""
BEGIN_SHARE = 0.9
"""An iteration takes about as long as all before it together: past this share of the optimum none is begun. As most
moves deserve less than the whole (`alphabeta/settling.py`), searches so take about the optimum on average; with less,
the clock is still a quarter full when a game is decided."""
LEAST = 1
LONGEST_WAIT = 1e6
"""Seconds; what a timer is given at most."""


@dataclass(frozen=True)
class Clocks:
    """What `go` said of time: milliseconds, None where it said nothing."""

    btime: int | None = None
    wtime: int | None = None
    byoyomi: int | None = None
    binc: int | None = None
    winc: int | None = None
    movetime: int | None = None

    @property
    def running(self) -> bool:
        """Whether any of them bounds a search; one without time does, too."""
        return self != Clocks()


@dataclass(frozen=True)
class Margins:
    """Options that the clock obeys, milliseconds."""

    network_delay: int = 120
    network_delay_2: int = 1120
    minimum_thinking_time: int = 0
    own_delay: int = OWN_DELAY
    """Not an option: see `Punctuality`."""


@dataclass(frozen=True)
class Budget:
    """Milliseconds from the `go`: what a move should take, and where the search is stopped."""

    optimum: int
    maximum: int
    minimum: int = 0
    """Before it no search holds that it has seen enough."""

    def end(self, start: float) -> float:
        """Second of `time.perf_counter` at which a search is stopped whose `go` came at `start`."""
        return start + self.maximum / 1000

    @property
    def is_fixed(self) -> bool:
        """Whether what a move leaves of it is lost, as of byoyomi."""
        return self.optimum == self.maximum

    def is_enough(self, elapsed: float, factor: float) -> bool:
        """Whether another iteration, begun after so many milliseconds, would lead far beyond `factor` of the optimum.

        Where optimum and maximum are one, what is not used is lost, and iterations are begun until the end.
        """
        return not self.is_fixed and elapsed > max(BEGIN_SHARE * factor * self.optimum, self.minimum)


def plan(clocks: Clocks, colour: int, game_ply: int, margins: Margins, first: bool = False) -> Budget | None:
    """The budget of a move for the side `colour` (0 black) at move number `game_ply`; None if no clock bounds it.

    `first`: it is the side's first move of the game, which may begin at any `game_ply`.
    """
    if not clocks.running:
        return None
    if clocks.movetime is not None:
        whole = max(LEAST, clocks.movetime - min(margins.own_delay, clocks.movetime // 10))
        return Budget(whole, whole)
    left = (clocks.btime if colour == 0 else clocks.wtime) or 0
    increment = (clocks.binc if colour == 0 else clocks.winc) or 0
    byoyomi = clocks.byoyomi or 0
    # Some GUIs add the increment when the move begins and send the clock without it, others add it when the move is
    # done. Only a clock that holds less than an increment must be of the first kind, unless that is what it began with.
    unsaid = left + byoyomi < increment and (not first or left == 0)
    available = left + byoyomi + (increment if unsaid else 0)
    hard = max(LEAST, available - _reserve(margins, available))
    if first and available == left < increment:
        hard = max(LEAST, left // 2)  # the increment is on its way: nothing is lost that is not used here
    moves_left = max(FEWEST_MOVES_LEFT, MOVES_PLANNED - game_ply // 2)
    spare = float(left)
    if not byoyomi and not increment:
        moves_left = max(moves_left, FEWEST_OF_SUDDEN_DEATH)
        # Ten seconds are not played over a slow line: the delay is then taken for smaller than the option says.
        delay = min(margins.network_delay, left / 200)
        spare = max(left - LONG_GAME * (delay + margins.own_delay), left / (3 if game_ply < 2 * MOVES_PLANNED else 10))
    share = spare / moves_left + byoyomi + increment * INCREMENT_SHARE
    spread = SPREAD
    if left <= 4 * byoyomi:
        spread = 1
        if left < 2 * byoyomi:
            # Soon on byoyomi, where what is not used is lost: use it whole.
            share = byoyomi + left / 4
    optimum = share - min(margins.network_delay, share / 2)
    minimum = min(margins.minimum_thinking_time - margins.network_delay, spare / MINIMUM_SHARE + byoyomi)
    optimum = max(optimum, minimum, LEAST)
    maximum = int(min(hard, optimum * spread))
    return Budget(min(int(optimum), maximum), maximum, max(0, min(int(minimum), maximum)))


def after_pondering(budget: Budget, thought: int) -> Budget:
    """The budget from a `ponderhit` on, after `thought` milliseconds on the opponent's time."""
    if budget.is_fixed:
        return budget
    # What was thought already counts, but half, as it would have been begun without knowing that the move comes.
    rest = max(LEAST, budget.optimum - thought // 2)
    maximum = min(budget.maximum, SPREAD * rest)
    return Budget(rest, maximum, max(0, min(budget.minimum - thought, maximum)))


def _reserve(margins: Margins, available: int) -> int:
    """What to leave on a clock: the delay that must not lose the game, but no large part of what there is."""
    return min(margins.network_delay_2, available // 4) + min(margins.own_delay, available // 4)


class Punctuality:
    """How late the engine's moves came of late, so that one that is always in time leaves hardly any of it unused."""

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=REMEMBERED)

    def note(self, milliseconds: float) -> None:
        """A move was ready to be written so long after its budget's maximum."""
        self._late.append(milliseconds)

    @property
    def own_delay(self) -> int:
        """Milliseconds to leave: twice the worst and one more, as long as that is known."""
        if len(self._late) < REMEMBERED:
            return OWN_DELAY
        return min(OWN_DELAY, 1 + math.ceil(2 * max(self._late)))


class SearchClock:
    """The budget of the search under way, which another thread may change, and the timer that ends it.

    A search that reads the time itself is done before the timer, which a busy machine wakes milliseconds late.
    """

    def __init__(self, expire: Callable[[], None], needs_timer: bool) -> None:
        """`expire` is called, from a thread of its own, when the budget's maximum is reached; at once where there is no
        thread to be had and the search `needs_timer`, as it does not read the time."""
        self._expire = expire
        self._needs_timer = needs_timer
        self._lock = threading.Lock()
        self._budget: Budget | None = None
        self._start = 0.0
        self._serial = 0
        self._timer: threading.Timer | None = None
        self._due: float | None = None

    def set(self, budget: Budget | None, start: float) -> None:
        """Another budget, counted from `start` (a `time.perf_counter()`); None is no bound."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            ended = None if self._budget is None else self._budget.end(self._start)
            over = budget is None and ended is not None and time.perf_counter() >= ended
            self._due = ended if over else None
            self._budget, self._start = budget, start
            self._serial += 1
            if budget is not None:
                wait = min(max(budget.end(self._start) - time.perf_counter(), 0.0), LONGEST_WAIT)
                self._timer = started(threading.Timer(wait, self._ring, (self._serial,)))
                if self._timer is None and self._needs_timer:  # a quick move is better than one too late
                    self._expire()

    def read(self) -> tuple[Budget | None, float]:
        """The budget, and the milliseconds of it that have passed."""
        with self._lock:
            budget, start = self._budget, self._start
        return budget, (time.perf_counter() - start) * 1000

    def overdue(self) -> float | None:
        """Milliseconds since the maximum of the budget that was taken away last, if it was taken away after that."""
        with self._lock:
            return None if self._due is None else (time.perf_counter() - self._due) * 1000

    def _ring(self, serial: int) -> None:
        """A timer's end; one that was cancelled too late must not stop the next search."""
        with self._lock:
            if serial == self._serial and self._budget is not None:
                self._expire()
