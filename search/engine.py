"""What an engine is: it takes a position and limits, reports while it searches, and stops when told.

Engines are siblings: alpha-beta and PUCT each are one and neither knows the other; whoever holds one (the USI session,
a match, Python) need not know which. What the rules settle without a search is answered here, once for all of them.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import overload

import numpy as np

from search.clock import Budget, SearchClock
from search.rules.declaration import RULE_27, TRY_RULE, can_declare, try_move
from search.rules.movegen import QUIET, TACTICAL, list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import STACK, new_position
from search.rules.sfen import move_from_usi, move_to_usi
from search.score import CP_PER_LOGIT, MATE, MAX_PLY, is_mate, mate_plies
from search.system.interrupt import ended_by_interrupt

LONGEST_GAME = STACK - MAX_PLY - 8
"""Moves of a game that a position record holds, with room for the search on top."""
DEFAULT_DEPTH = 12
HIGHEST_LIMIT = (1 << 63) - 1
"""Compiled code counts in 64 bits."""
DECLARE = "win"
"""The move that declares a win."""


@dataclass(frozen=True)
class Analysis:
    """What a search found, from the mover's view."""

    best_move: str | None
    """USI move, `win` for a declaration, None where there is no legal move."""
    score: int
    """Centipawns, or a mate score (see `search.score`)."""
    ponder_move: str | None = None
    depth: int = 0
    """0: known without a search."""
    seldepth: int = 0
    nodes: int = 0
    milliseconds: int = 0
    hashfull: int = 0
    """Thousandths."""
    pv: tuple[str, ...] = ()
    rank: int = 1
    """1 for the best line, 2 for the second (MultiPV)."""
    win_rate: float = 0.5

    @property
    def nps(self) -> int:
        """Nodes a second of wall time."""
        return self.nodes * 1000 // max(1, self.milliseconds)

    @property
    def score_text(self) -> str:
        """As USI writes it: `cp 34` or `mate -6`; `mate -1` also where the mover is mated already, as 0 has no sign."""
        return f"mate {mate_plies(self.score) or -1}" if is_mate(self.score) else f"cp {self.score}"


@dataclass(frozen=True)
class Progress:
    """How far a search has come, told while its depths take long."""

    nodes: int
    milliseconds: int
    hashfull: int
    """Thousandths."""

    @property
    def nps(self) -> int:
        """Nodes a second of wall time."""
        return self.nodes * 1000 // max(1, self.milliseconds)


@dataclass(frozen=True)
class Rules:
    """What ends a game besides mate, and what draws are worth to the engine's side."""

    declaration: int = RULE_27
    max_moves: int = 0
    """Number of the move after which the game is drawn unless that mates, 0: never."""
    draw_value: tuple[int, int] = (0, 0)
    """Centipawns of a draw by repetition to black and white."""


@dataclass(frozen=True)
class Limits:
    """What ends a search besides its clock and `stop`, and what it may play. ValueError for a number below 1 or above
    `HIGHEST_LIMIT`."""

    nodes: int | None = None
    """Nodes of alpha-beta, playouts of PUCT."""
    depth: int | None = None
    moves: tuple[str, ...] = ()
    """The only moves (USI) to look at; those that are not legal are passed over, none is all."""
    analysis: bool = False
    """Whether a position of the game that comes back is a draw by the rule alone, at its fourth occurrence. In play it
    is one at once: who is losing hopes for it, and who is winning plays something else."""

    def __post_init__(self) -> None:
        for name, number in (("nodes", self.nodes), ("depth", self.depth)):
            _check_limit(name, number)


def _check_limit(name: str, number: int | None) -> None:
    if number is not None and not 1 <= number <= HIGHEST_LIMIT:
        raise ValueError(f"{name} is {number}, but a limit is at least 1 and at most {HIGHEST_LIMIT}")


OnInfo = Callable[[Analysis], None]
OnProgress = Callable[[Progress], None]


class Engine(ABC):
    """Searches positions. One search at a time; `stop` and `limit` may be called from any thread."""

    reads_clock = True
    """Whether a search looks at the time itself, and ends where no timer rings."""

    def __init__(self) -> None:
        self.position: np.void = new_position()
        """The position that was set, a record of `search.rules.position.position_dtype`."""
        self.rules = Rules()
        self.multipv = 1
        """Lines to look for, where there are so many moves."""
        self.clock = SearchClock(self.stop, needs_timer=not self.reads_clock)
        self._stopped = threading.Event()
        self._searching = threading.Lock()
        self.game: tuple[str, tuple[str, ...]] = ("startpos", ())
        """What was set: the start and the moves since."""
        set_game(self.position, *self.game)

    @property
    def cp_per_logit(self) -> float:
        """Centipawns of its scores that are one logit of the win rate."""
        return CP_PER_LOGIT

    @abstractmethod
    def new_game(self) -> None:
        """Forget everything learnt."""

    @abstractmethod
    def _search(self, limits: Limits, on_info: OnInfo | None, on_progress: OnProgress | None) -> list[Analysis]:
        """Search the position that was set; it has a legal move. The best lines, at most `multipv`, the best first.

        Ends soon after `_stopped` is set, with a move.
        """

    def set_position(self, sfen: str, moves: Sequence[str] = ()) -> None:
        """The position to search: `startpos` or an SFEN, perhaps with `moves ...`, and (more) moves since in USI.

        ValueError names the first move that is not legal, and the old position stays.
        """
        start, first = split_moves(sfen)
        pos, game = new_position(), (start, (*first, *moves))
        set_game(pos, *game, LONGEST_GAME)
        self.position, self.game = pos, game

    @overload
    def analyse(
        self,
        sfen: str,
        moves: Sequence[str] = (),
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time_ms: int | None = None,
        multipv: None = None,
        on_info: OnInfo | None = None,
        analysis: bool = False,
    ) -> Analysis: ...

    @overload
    def analyse(
        self,
        sfen: str,
        moves: Sequence[str] = (),
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time_ms: int | None = None,
        multipv: int,
        on_info: OnInfo | None = None,
        analysis: bool = False,
    ) -> list[Analysis]: ...

    def analyse(
        self,
        sfen: str,
        moves: Sequence[str] = (),
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time_ms: int | None = None,
        multipv: int | None = None,
        on_info: OnInfo | None = None,
        analysis: bool = False,
    ) -> Analysis | list[Analysis]:
        """Search a position (`startpos` or SFEN, and moves in USI) until the first limit; without one, depth 12.

        The best line, or with `multipv` a list of so many (fewer where there are fewer moves), the best first. For
        `analysis` see `Limits`.
        ValueError for a position or move that is not legal, for `nodes` or `depth` that are no `Limits`, for
        `time_ms` or `multipv` below 1; RuntimeError while another thread searches with this engine.
        """
        if multipv is not None and multipv < 1:
            raise ValueError(f"multipv is {multipv}, but at least one line is to be looked for")
        if nodes is None and depth is None and time_ms is None:
            depth = DEFAULT_DEPTH
        _check_limit("time_ms", time_ms)
        limits = Limits(nodes, depth, analysis=analysis)
        with self._one_search():
            self.set_position(sfen, moves)
            self.ready(None if time_ms is None else Budget(time_ms, time_ms))
            before, self.multipv = self.multipv, multipv or self.multipv
            try:
                lines = self._search_lines(limits, on_info, None)
            finally:
                self.multipv = before
        return lines[0] if multipv is None else lines

    def ready(self, budget: Budget | None = None, start: float | None = None) -> None:
        """Take back an earlier `stop` and start the clock: the next search runs, within the budget counted from `start`
        (a `time.perf_counter()`, now). To be called before another thread may call `stop` or `limit`."""
        self.limit(None)  # a timer that is left, as of a `ponderhit` after the search, could ring behind the next line
        self._stopped.clear()
        self.limit(budget, start)

    def limit(self, budget: Budget | None, start: float | None = None) -> None:
        """Give the search under way (or the one that begins) another budget, counted from `start` (now).

        A pondering search has none until the opponent's move has come. None takes the budget away.
        """
        self.clock.set(budget, time.perf_counter() if start is None else start)

    def stop(self) -> None:
        """End the search under way soon."""
        self._stopped.set()

    def search(
        self, limits: Limits | None = None, on_info: OnInfo | None = None, on_progress: OnProgress | None = None
    ) -> Analysis:
        """Search the position that was set, after `ready`, until a limit, its budget or `stop` ends it: the best line.

        `on_info` gets every line that is found, `on_progress` hears about once a second how far the search is.
        """
        return self.search_lines(limits, on_info, on_progress)[0]

    def search_lines(
        self, limits: Limits | None = None, on_info: OnInfo | None = None, on_progress: OnProgress | None = None
    ) -> list[Analysis]:
        """As `search`: the best lines, at most `multipv`, the best first. RuntimeError while another search runs."""
        with self._one_search():
            return self._search_lines(limits, on_info, on_progress)

    @contextmanager
    def _one_search(self) -> Iterator[None]:
        """Two searches in one memory would end the process."""
        if not self._searching.acquire(blocking=False):
            raise RuntimeError("this engine is searching: wait for it, `stop` it, or search with another engine")
        try:
            yield
        finally:
            self._searching.release()

    def _search_lines(
        self, limits: Limits | None, on_info: OnInfo | None, on_progress: OnProgress | None
    ) -> list[Analysis]:
        try:
            limits = limits or Limits()
            decided = self._decided(limits)
            if decided is None:
                with ended_by_interrupt(self.stop):
                    return self._search(limits, on_info, on_progress)
            if on_info is not None:
                on_info(decided)
            return [decided]
        finally:
            self.limit(None)

    def _decided(self, limits: Limits) -> Analysis | None:
        """What the rules settle without a search: a declaration, unless certain moves are asked for; no legal move."""
        declared = None if limits.moves else self._declaration()
        if declared:
            return Analysis(declared, MATE - 1, pv=(declared,), win_rate=1.0)
        if not len(root_moves(self.position)):
            return Analysis(None, -MATE, win_rate=0.0)
        return None

    def _declaration(self) -> str | None:
        if can_declare(self.position, np.int64(self.rules.declaration)):
            return DECLARE
        move = int(try_move(self.position)) if self.rules.declaration == TRY_RULE else 0
        return move_to_usi(move) if move else None


def root_moves(pos: np.void, wanted: Sequence[str] = ()) -> np.ndarray:
    """The moves to look at, uint16: those `wanted` (USI) that are legal, else all but needless non-promotions."""
    chosen = {move_from_usi(move) for move in wanted}
    found = [move for move in list_moves(pos) if move in chosen] if wanted else []
    return np.array(found or list_moves(pos, TACTICAL | QUIET) or list_moves(pos), np.uint16)
