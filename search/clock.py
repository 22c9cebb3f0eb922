"""Time management: from the clocks of a `go` command to an optimum and a maximum in milliseconds.

The optimum is the time that the move should take: the engine begins no iteration that would end far beyond it. The
maximum is the time at which the search is stopped. Both reserve `NetworkDelay` for the way to the server: the ordinary
delay where time is merely spent, the larger `NetworkDelay2` where exceeding it would lose the game (byoyomi, or a clock
that is about to run out).
"""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from search.system.threads import started

MOVES_PLANNED = 50
"""Moves per player that a game is expected to have when it starts. Games last longer, but most are decided by then, and
a search often takes less than its share: docs/archive/search_ledger.md, Time."""
FEWEST_MOVES_LEFT, FEWEST_OF_SUDDEN_DEATH = 16, 24
"""Moves that a clock must still pay for, however long the game has lasted; more in sudden death, where no move gives
time back."""
INCREMENT_SHARE = 0.85
"""Share of the increment that a move may use; the rest is saved for harder moves. Byoyomi cannot be saved."""
MINIMUM_SHARE = 16
"""MinimumThinkingTime uses at most one part in 16 of the time left, besides the byoyomi."""
SPREAD = 3
"""A move may take up to this many times its optimum, where that does not endanger the clock."""
LONG_GAME = 120
"""Moves beyond the planned ones whose delays a sudden-death clock must still pay, because it gets no time back."""
OWN_DELAY = 10
"""Milliseconds that the engine itself needs at most between the end of the budget and the written move, whatever
NetworkDelay says. The engine reserves this much until it has measured less, see `Punctuality`."""
REMEMBERED, FEWEST_MEASURED = 16, 4
"""Most and fewest last moves by which `Punctuality` judges."""
BEGIN_SHARE = 0.9
"""An iteration takes about as long as all earlier ones together, so none is begun past this share of the optimum. Most
moves deserve less than the optimum (`alphabeta/settling.py`), so that searches take about the optimum on average. With
a smaller share the clock is still a quarter full when the game is decided."""
LEAST = 1
LONGEST_WAIT = 1e6
"""Longest timer in seconds."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a `go` command in milliseconds; None where the command names none."""

    btime: int | None = None
    wtime: int | None = None
    byoyomi: int | None = None
    binc: int | None = None
    winc: int | None = None
    movetime: int | None = None

    @property
    def running(self) -> bool:
        """Whether any clock limits the search; a clock at 0 does, too."""
        return self != Clocks()


@dataclass(frozen=True)
class Margins:
    """Options that reserve time, in milliseconds."""

    network_delay: int = 120
    network_delay_2: int = 1120
    minimum_thinking_time: int = 0
    own_delay: int = OWN_DELAY
    """Not an option: measured by `Punctuality`."""


@dataclass(frozen=True)
class Budget:
    """Milliseconds since `go`: the time that a move should take, and the time at which the search is stopped."""

    optimum: int
    maximum: int
    minimum: int = 0
    """Milliseconds before which no search ends because it has seen enough."""

    def end(self, start: float) -> float:
        """Time (`time.perf_counter`) at which a search whose `go` came at `start` is stopped."""
        return start + self.maximum / 1000

    @property
    def is_fixed(self) -> bool:
        """Whether unused time is lost, as in byoyomi."""
        return self.optimum == self.maximum

    def is_enough(self, elapsed: float, factor: float) -> bool:
        """Whether another iteration, begun `elapsed` milliseconds after `go`, would end far beyond `factor` times the
        optimum.

        If optimum and maximum are equal, unused time is lost, and iterations are begun until the end.
        """
        return not self.is_fixed and elapsed > max(BEGIN_SHARE * factor * self.optimum, self.minimum)


def plan(clocks: Clocks, colour: int, game_ply: int, margins: Margins, first: bool = False) -> Budget | None:
    """Return the budget of a move for the side `colour` (0 is black) at move number `game_ply`; None if no clock limits
    it.

    `first` says that this is the side's first move of the game, which may begin at any `game_ply`.
    """
    if not clocks.running:
        return None
    if clocks.movetime is not None:
        whole = max(LEAST, clocks.movetime - min(margins.own_delay, clocks.movetime // 10))
        return Budget(whole, whole)
    left = (clocks.btime if colour == 0 else clocks.wtime) or 0
    increment = (clocks.binc if colour == 0 else clocks.winc) or 0
    byoyomi = clocks.byoyomi or 0
    # Some GUIs add the increment when the move begins and send the clock without it; others add it after the move. Only
    # a clock that holds less than an increment must be of the first kind, unless the game began with that time.
    unsaid = left + byoyomi < increment and (not first or left == 0)
    available = left + byoyomi + (increment if unsaid else 0)
    hard = max(LEAST, available - _reserve(margins, available))
    if first and available == left < increment:
        hard = max(LEAST, left // 2)  # the increment arrives after this move: time that is unused here is not lost
    moves_left = max(FEWEST_MOVES_LEFT, MOVES_PLANNED - game_ply // 2)
    spare = float(left)
    if not byoyomi and not increment:
        moves_left = max(moves_left, FEWEST_OF_SUDDEN_DEATH)
        # Nobody plays ten seconds over a slow connection: for short clocks the delay is assumed smaller than the
        # option.
        delay = min(margins.network_delay, left / 200)
        spare = max(left - LONG_GAME * (delay + margins.own_delay), left / (3 if game_ply < 2 * MOVES_PLANNED else 10))
    share = spare / moves_left + byoyomi + increment * INCREMENT_SHARE
    spread = SPREAD
    if left <= 4 * byoyomi:
        spread = 1
        if left < 2 * byoyomi:
            # Byoyomi begins soon, where unused time is lost: use the clock up.
            share = byoyomi + left / 4
    optimum = share - min(margins.network_delay, share / 2)
    minimum = min(margins.minimum_thinking_time - margins.network_delay, spare / MINIMUM_SHARE + byoyomi)
    optimum = max(optimum, minimum, LEAST)
    maximum = int(min(hard, optimum * spread))
    return Budget(min(int(optimum), maximum), maximum, max(0, min(int(minimum), maximum)))


def after_pondering(budget: Budget, thought: int) -> Budget:
    """Return the budget after a `ponderhit`, when the search has already thought for `thought` milliseconds."""
    if budget.is_fixed:
        return budget
    # The time already spent counts half: it was planned without knowing that this move would come.
    rest = max(LEAST, budget.optimum - thought // 2)
    maximum = min(budget.maximum, SPREAD * rest)
    return Budget(rest, maximum, max(0, min(budget.minimum - thought, maximum)))


def _reserve(margins: Margins, available: int) -> int:
    """Milliseconds to leave on a clock: the delay that must not lose the game, but at most half of the time left."""
    return min(margins.network_delay_2, available // 4) + min(margins.own_delay, available // 4)


class Punctuality:
    """Measures how late the engine writes its moves, so that a punctual one leaves hardly any time unused.

    The median counts, because a busy machine delays one move in ten by some milliseconds: a reserve for that one takes
    as much from all others. `NetworkDelay2` is the reserve for delays that must not lose the game.
    """

    def __init__(self) -> None:
        self._late: deque[float] = deque(maxlen=REMEMBERED)

    def note(self, milliseconds: float) -> None:
        """Record that a move was ready this long after its budget's maximum."""
        self._late.append(milliseconds)

    @property
    def own_delay(self) -> int:
        """Milliseconds to reserve: the median delay, plus one; `OWN_DELAY` until enough moves are measured."""
        if len(self._late) < FEWEST_MEASURED:
            return OWN_DELAY
        return min(OWN_DELAY, 1 + math.ceil(statistics.median(self._late)))


class SearchClock:
    """The budget of the search under way, which another thread may change, and the timer that ends it.

    A search that reads the time itself ends before the timer, which a busy machine wakes up milliseconds late.
    """

    def __init__(self, expire: Callable[[], None], needs_timer: bool) -> None:
        """`expire` is called in a thread of its own when the budget's maximum is reached. If the system has no thread
        left and the search `needs_timer` because it does not read the time, it is called at once."""
        self._expire = expire
        self._needs_timer = needs_timer
        self._lock = threading.Lock()
        self._budget: Budget | None = None
        self._start = 0.0
        self._serial = 0
        self._timer: threading.Timer | None = None
        self._due: float | None = None

    def set(self, budget: Budget | None, start: float) -> None:
        """Set another budget, counted from `start` (`time.perf_counter()`); None means unlimited."""
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
                if self._timer is None and self._needs_timer:  # a quick move is better than a late one
                    self._expire()

    def read(self) -> tuple[Budget | None, float]:
        """Return the budget and the milliseconds of it that have passed."""
        with self._lock:
            budget, start = self._budget, self._start
        return budget, (time.perf_counter() - start) * 1000

    def overdue(self) -> float | None:
        """Milliseconds since the maximum of the last removed budget, if it was removed after its maximum; else None."""
        with self._lock:
            return None if self._due is None else (time.perf_counter() - self._due) * 1000

    def _ring(self, serial: int) -> None:
        """End the search when a timer ends. A timer that was cancelled too late must not stop the next search."""
        with self._lock:
            if serial == self._serial and self._budget is not None:
                self._expire()
