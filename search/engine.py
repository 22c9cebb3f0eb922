"""The interface of an engine: it takes a position and limits, reports while it searches, and stops on request.

Alpha-beta and PUCT are two engines that do not know each other. The USI session, a match and the Python API hold either
of them through this interface. Positions that the rules decide are answered here, once for every engine.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import overload

import numpy as np

from search.clock import Budget, SearchClock
from search.levels import FULL, Level, level_named
from search.rules.declaration import RULE_27, TRY_RULE, can_declare, try_move
from search.rules.movegen import QUIET, TACTICAL, list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import STACK, new_position
from search.rules.sfen import move_from_usi, move_to_usi
from search.score import CP_PER_LOGIT, MATE, MAX_PLY, is_mate, mate_plies
from search.system.interrupt import ended_by_interrupt
from search.system.options import OptionError

LONGEST_GAME = STACK - MAX_PLY - 8
"""Most moves of a game: a position record holds them and leaves room for the search."""
DEFAULT_DEPTH = 12
HIGHEST_LIMIT = (1 << 63) - 1
"""Compiled code counts in signed 64-bit integers."""
DECLARE = "win"
"""The move that declares a win."""


@dataclass(frozen=True)
class Analysis:
    """One line found by a search. Scores and rates are those of the side to move."""

    best_move: str | None
    """Best move in USI notation; `win` is a declaration, None means that there is no legal move."""
    score: int
    """Centipawns, or a mate score (see `search.score`)."""
    ponder_move: str | None = None
    depth: int = 0
    """Depth in plies; 0 means that the answer needed no search."""
    seldepth: int = 0
    nodes: int = 0
    milliseconds: int = 0
    hashfull: int = 0
    """Fill of the transposition table in thousandths."""
    pv: tuple[str, ...] = ()
    rank: int = 1
    """1 for the best line, 2 for the second best, and so on (MultiPV)."""
    win_rate: float = 0.5
    best_score: int | None = None
    """Score of the best line found, where a level may play the move of another one; None without a level."""

    @property
    def nps(self) -> int:
        """Nodes per second of wall time."""
        return self.nodes * 1000 // max(1, self.milliseconds)

    @property
    def score_text(self) -> str:
        """The score as USI writes it: `cp 34` or `mate -6`. A side that is already mated gets `mate -1`, because 0 has
        no sign."""
        return f"mate {mate_plies(self.score) or -1}" if is_mate(self.score) else f"cp {self.score}"


@dataclass(frozen=True)
class Progress:
    """Counters of a search under way, reported while a depth takes long."""

    nodes: int
    milliseconds: int
    hashfull: int
    """Fill of the transposition table in thousandths."""

    @property
    def nps(self) -> int:
        """Nodes per second of wall time."""
        return self.nodes * 1000 // max(1, self.milliseconds)


@dataclass(frozen=True)
class Rules:
    """The rules that end a game besides mate, and the value of a draw."""

    declaration: int = RULE_27
    max_moves: int = 0
    """Move number after which the game is drawn unless the last move mates; 0 means no limit."""
    draw_value: tuple[int, int] = (0, 0)
    """Centipawns of a draw by repetition to black and to white."""


@dataclass(frozen=True)
class Limits:
    """The limits of a search besides its clock and `stop`, and the root moves that it may consider.

    Raises ValueError for a limit below 1 or above `HIGHEST_LIMIT`.
    """

    nodes: int | None = None
    """Nodes of alpha-beta, playouts of PUCT; None means no limit."""
    depth: int | None = None
    moves: tuple[str, ...] = ()
    """The only root moves to consider (USI). Illegal ones are ignored; empty means all."""
    analysis: bool = False
    """Whether a repeated position of the game counts as a draw only at its fourth occurrence, as the rule says. In play
    the second occurrence already counts, because the side that is losing seeks it and the other avoids it. An analysis
    has the engine's full strength, whatever its level."""
    one_thread: bool = False
    """Whether a single thread searches, so that equal searches return equal results."""

    def __post_init__(self) -> None:
        for name, number in (("nodes", self.nodes), ("depth", self.depth)):
            _check_limit(name, number)


def _check_limit(name: str, number: int | None) -> None:
    if number is not None and not 1 <= number <= HIGHEST_LIMIT:
        raise OptionError(f"`{name}` {number}: must be 1 to {HIGHEST_LIMIT}", name)


OnInfo = Callable[[Analysis], None]
OnReport = Callable[[Sequence[Analysis], bool], None]
"""Takes the lines of one report, and whether the search has ended."""
OnProgress = Callable[[Progress], None]


class Engine(ABC):
    """Base class of the engines. One search runs at a time; any thread may call `stop` and `limit`."""

    reads_clock = True
    """Whether the search reads the time itself, so that it needs no timer to end."""

    def __init__(self) -> None:
        self.position: np.void = new_position()
        """The position that was set, a record of `search.rules.position.position_dtype`."""
        self.rules = Rules()
        self.multipv = 1
        """Number of lines to find; fewer are found if there are fewer moves."""
        self.level: Level | None = None
        """Strength of play; None means full strength. A level returns a single line, the one of its move."""
        self.random = Random()
        """Source of the moves that a level draws."""
        self.clock = SearchClock(self.stop, needs_timer=not self.reads_clock)
        self._stopped = threading.Event()
        self._searching = threading.Lock()
        self.game: tuple[str, tuple[str, ...]] = ("startpos", ())
        """The start (`startpos` or SFEN) and the moves of the position that was set."""
        set_game(self.position, *self.game)

    @property
    def cp_per_logit(self) -> float:
        """Centipawns per logit of the win rate, the scale of this engine's scores."""
        return CP_PER_LOGIT

    @abstractmethod
    def new_game(self) -> None:
        """Forget everything learnt from earlier searches."""

    @abstractmethod
    def _find_lines(self, limits: Limits, on_report: OnReport | None, on_progress: OnProgress | None) -> list[Analysis]:
        """Search the position that was set, which has a legal move, and return at most `multipv` lines, best first.

        Must end soon after `_stopped` is set, with at least one line.
        """

    def set_position(self, sfen: str, moves: Sequence[str] = ()) -> None:
        """Set the position to search: `startpos` or an SFEN, optionally with `moves ...`, and further moves in USI.

        Raises ValueError that names the first illegal move; then the previous position stays.
        """
        if isinstance(moves, str):
            raise TypeError(f"{moves!r} is one text: pass a list of moves")
        start, first = split_moves(sfen)
        pos, game = new_position(), (start, (*first, *moves))
        set_game(pos, *game, LONGEST_GAME)
        self.position, self.game = pos, game

    def set_level(self, name: str = FULL, seed: int | None = None) -> None:
        """Play at a level, `level1` (the weakest) to `level8`, or at `full` strength; see `search.levels`.

        Equal seeds draw equal moves if all searches from here on are equal. `new_game` continues the same sequence, so
        that the games of a session differ. None means other moves each time. The levels' ratings are measured with the
        alpha-beta engine and its default network. Raises OptionError for an unknown name.
        """
        self.level, self.random = level_named(name), Random(seed)

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
        """Search a position until the first limit is reached; without a limit, to depth 12.

        `sfen` is `startpos` or an SFEN, `moves` are USI moves from there. `time_ms` limits the time in milliseconds.
        `analysis` is described at `Limits`. Returns the best line or, with `multipv`, a list of at most `multipv`
        lines, best first. Raises ValueError for an illegal position or move, for `nodes` or `depth` outside the range
        of `Limits`, and for `time_ms` or `multipv` below 1; RuntimeError while another thread searches with this
        engine.
        """
        if multipv is not None and multipv < 1:
            raise OptionError(f"`multipv` {multipv}: must be at least 1", "multipv")
        if nodes is None and depth is None and time_ms is None:
            depth = DEFAULT_DEPTH
        _check_limit("time_ms", time_ms)
        limits = Limits(nodes, depth, analysis=analysis)
        with self._one_search():
            self.set_position(sfen, moves)
            self.ready(None if time_ms is None else Budget(time_ms, time_ms))
            before, self.multipv = self.multipv, multipv or self.multipv
            try:
                lines = self._answer(limits, on_info and _line_by_line(on_info), None)
            finally:
                self.multipv = before
        return lines[0] if multipv is None else lines

    def ready(self, budget: Budget | None = None, start: float | None = None) -> None:
        """Clear an earlier `stop` and start the clock with a budget counted from `start` (`time.perf_counter()`; None
        means the current time). Call it before another thread may call `stop` or `limit`."""
        self.limit(None)  # an old timer could ring during the next line
        self._stopped.clear()
        self.limit(budget, start)

    def limit(self, budget: Budget | None, start: float | None = None) -> None:
        """Give the search under way, or the next one, another budget counted from `start` (None means the current
        time).

        A budget of None means unlimited: a pondering search has no budget before the opponent's move arrives.
        """
        self.clock.set(budget, time.perf_counter() if start is None else start)

    def stop(self) -> None:
        """End the search under way soon."""
        self._stopped.set()

    def search(
        self, limits: Limits | None = None, on_report: OnReport | None = None, on_progress: OnProgress | None = None
    ) -> list[Analysis]:
        """Search the position that was set, after `ready`, until a limit, the budget or `stop` ends it.

        `on_report` is called with all lines found, those of one report at a time, and `on_progress` with the counters
        about once a second. Returns at most `multipv` lines, best first. Raises RuntimeError while another search runs.
        """
        with self._one_search():
            return self._answer(limits or Limits(), on_report, on_progress)

    @contextmanager
    def _one_search(self) -> Iterator[None]:
        """Allow one search at a time: two searches in the same memory would crash the process."""
        if not self._searching.acquire(blocking=False):
            raise RuntimeError("this engine is already searching: wait for it, call `stop`, or use another engine")
        try:
            yield
        finally:
            self._searching.release()

    def _answer(self, limits: Limits, on_report: OnReport | None, on_progress: OnProgress | None) -> list[Analysis]:
        """Return what the rules decide, else search."""
        try:
            decided = self.decided(limits)
            if decided is None:
                with ended_by_interrupt(self.stop):
                    if self.level is None or limits.analysis:
                        return self._find_lines(limits, on_report, on_progress)
                    decided = self._find_move(self.level, limits)
            if on_report is not None:
                on_report([decided], True)
            return [decided]
        finally:
            self.limit(None)

    def _find_move(self, level: Level, limits: Limits) -> Analysis:
        """Search as a level does and draw its move, which is held until the budget's minimum has passed."""
        nodes = min(filter(None, (limits.nodes, level.nodes)), default=None)
        depth = min(filter(None, (limits.depth, level.depth)), default=None)
        wanted, self.multipv = self.multipv, level.lines
        try:
            lines = self._find_lines(replace(limits, nodes=nodes, depth=depth, one_thread=True), None, None)
        finally:
            self.multipv = wanted
        budget, elapsed = self.clock.read()
        if budget is not None and elapsed < budget.minimum:
            self._stopped.wait((budget.minimum - elapsed) / 1000)
        drawn = level.draw([line.score for line in lines], self.random)
        return replace(lines[drawn], rank=1, best_score=lines[0].score)

    def decided(self, limits: Limits) -> Analysis | None:
        """Return the answer where the rules decide it: a declaration (unless `limits` restricts the moves) or no legal
        move."""
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


def _line_by_line(on_info: OnInfo) -> OnReport:
    def report(lines: Sequence[Analysis], _: bool) -> None:
        for line in lines:
            on_info(line)

    return report


def root_moves(pos: np.void, wanted: Sequence[str] = ()) -> np.ndarray:
    """Return the root moves to consider (uint16): the legal ones of `wanted` (USI), else all except needless
    non-promotions."""
    chosen = {move_from_usi(move) for move in wanted}
    found = [move for move in list_moves(pos) if move in chosen] if wanted else []
    return np.array(found or list_moves(pos, TACTICAL | QUIET) or list_moves(pos), np.uint16)
