"""The mate solver: is there a mate for the side to move by checks alone, and how does it go?

    result = MateSolver().solve("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", milliseconds=1000)
    result.status, result.moves        # MateStatus.MATE, ("G*5b",)

The search is in mate_search.py, its table in mate_table.py. A mate is reported only with its line, replayed here move
by move to a position without a legal move.
"""

from __future__ import annotations

import enum
import threading
import time
from dataclasses import dataclass

import numpy as np

from search.mate.dfpn import DEPTHS, extract_line, mate_dtype, solve_root
from search.mate.problems import set_problem
from search.mate.table import MateTable
from search.rules.movegen import MAX_MOVES, is_legal, legal_moves
from search.rules.position import do_move, in_check, new_position, undo_move
from search.rules.sfen import get_sfen, move_to_usi
from search.rules.shogi import KINDS, KING

_SHORTENING_NODES = 20_000
_EXTRACTION_NODES = 200_000
_LONGEST_WAIT = 1e6
_FIRST_PROBLEM = "9/5S2P/7NP/7RN/8k/9/9/9/9 b Gr2b3g3s2n4l16p 1"
"""A mate in nine (tanuki-tsume) that calls everything there is to compile."""


class MateStatus(enum.Enum):
    """What a search for mate found out."""

    MATE = "mate"
    NO_MATE = "no mate"
    UNKNOWN = "unknown"


class StopFlag:
    """Ends the one search that it is given to, from any thread, before or while it runs."""

    def __init__(self) -> None:
        self._word = np.zeros(1, np.uint64)

    def set(self) -> None:
        """Ask the search to end; it does within a millisecond."""
        self._word[0] = 1

    def is_set(self) -> bool:
        """Whether somebody asked."""
        return bool(self._word[0])

    @property
    def address(self) -> int:
        """Where jitted code looks; valid as long as this object lives."""
        return int(self._word.ctypes.data)


@dataclass(frozen=True)
class MateResult:
    """The answer of a solver."""

    status: MateStatus
    """MATE and NO_MATE are proved; UNKNOWN: stopped before."""
    moves: tuple[str, ...] = ()
    """The mate in USI moves, the defender holding out as long as it can; empty unless MATE."""
    nodes: int = 0
    """Positions visited."""
    seconds: float = 0.0
    """Wall time."""
    shortest: bool = False
    """Whether every shorter mate has been refuted."""

    @property
    def plies(self) -> int:
        """Length of the mate; 0 unless MATE."""
        return len(self.moves)


class MateSolver:
    """A solver with its own table; not for two threads at once. Results of earlier searches speed up later ones."""

    _prepared = False

    def __init__(self, megabytes: int = 64) -> None:
        """`megabytes` bound the table; about 6 MB of scratch come on top. MemoryError in words."""
        if not 1 <= megabytes <= 1 << 20:
            raise ValueError(f"a mate table of {megabytes} MB: choose 1 to {1 << 20}")
        self.table = MateTable(megabytes)
        self._memory = np.zeros(1, mate_dtype)
        self._record = self._memory[0]
        self._position = new_position()
        self._line = np.zeros(DEPTHS, np.uint16)

    def clear(self) -> None:
        """Forget earlier searches."""
        self.table.clear()

    def prepare(self) -> None:
        """Compile or load what solving needs, once a process; `solve` does it before its clock starts."""
        if not MateSolver._prepared:
            MateSolver._prepared = True
            self.solve(_FIRST_PROBLEM)

    def solve(
        self,
        position: str | np.void,
        *,
        milliseconds: float | None = None,
        nodes: int | None = None,
        stop: StopFlag | None = None,
        shorten: bool = True,
    ) -> MateResult:
        """Look for a mate by checks for the side to move, until it is proved or refuted or a limit is reached.

        `position` is an SFEN or a record of `position_dtype`, which is left alone (repetition with the game so far is
        not looked at). `shorten` searches again for shorter mates, with about as much work as the first took.
        Any of `milliseconds`, `nodes`, `stop` may end the search. ValueError for an SFEN that cannot be read.
        """
        self.prepare()
        begun = time.perf_counter()
        set_problem(self._position, position if isinstance(position, str) else get_sfen(position))
        flag = StopFlag() if stop is None else stop
        timer = None
        if milliseconds is not None:
            timer = threading.Timer(min(max(milliseconds / 1000, 0.0), _LONGEST_WAIT), flag.set)
            timer.daemon = True
            timer.start()
        try:
            if threading.current_thread() is threading.main_thread():
                found = self._interruptible(flag, nodes, shorten)
            else:
                found = self._search(flag, nodes, shorten)
        finally:
            if timer is not None:
                timer.cancel()
        status, line, shortest = found
        seconds = time.perf_counter() - begun
        return MateResult(status, line, int(self._record["nodes"]), seconds, shortest)

    def _interruptible(
        self, flag: StopFlag, nodes: int | None, shorten: bool
    ) -> tuple[MateStatus, tuple[str, ...], bool]:
        """`_search` in another thread: Ctrl-C cannot reach the main thread inside compiled code."""
        found: list[tuple[MateStatus, tuple[str, ...], bool]] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                found.append(self._search(flag, nodes, shorten))
            except BaseException as error:
                errors.append(error)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        try:
            worker.join()
        except KeyboardInterrupt:
            flag.set()
            worker.join()
            raise
        if errors:
            raise errors[0]
        return found[0]

    def _search(self, flag: StopFlag, nodes: int | None, shorten: bool) -> tuple[MateStatus, tuple[str, ...], bool]:
        record, pos = self._record, self._position
        self.table.new_search()
        record["table"] = self.table.record
        record["stop_address"] = flag.address
        record["salt"] = _salt(pos)
        record["nodes"] = 0
        record["node_limit"] = nodes or 0
        record["limit"] = 0
        verdict = solve_root(pos, record)
        if verdict <= 0:
            return (MateStatus.UNKNOWN if verdict < 0 else MateStatus.NO_MATE), (), False
        spent = int(record["nodes"])
        line = self._extract()
        if not line:
            return MateStatus.UNKNOWN, (), False
        shortest = len(line) == 1
        while shorten and not shortest:
            record["limit"] = len(line) - 2
            record["stop_address"] = flag.address
            budget = int(record["nodes"]) + max(2 * spent, _SHORTENING_NODES)
            record["node_limit"] = min(budget, nodes) if nodes else budget
            verdict = solve_root(pos, record)
            shortest = verdict == 0
            if verdict <= 0:
                break
            shorter = self._extract()
            if not shorter or len(shorter) >= len(line):
                break
            line = shorter
            shortest = len(line) == 1
        return MateStatus.MATE, tuple(move_to_usi(move) for move in line), shortest

    def _extract(self) -> list[int]:
        """The proved line, replayed; empty if the table lost too much of it to find it again quickly."""
        record = self._record
        grace = StopFlag()
        record["stop_address"] = grace.address
        record["node_limit"] = int(record["nodes"]) + _EXTRACTION_NODES
        length = int(extract_line(self._position, record, self._line))
        line = self._line[: max(length, 0)].tolist()
        return line if line and is_mating_line(self._position, line) else []


def _salt(pos: np.void) -> int:
    """A word that keeps apart, in one table, positions of other attackers and other sets of pieces."""
    counts = pos["hands"].sum(axis=0).astype(int).tolist()
    for piece in pos["board"].tolist():
        kind = piece % KINDS
        if piece < 2 * KINDS and kind != KING:
            counts[kind if kind < KING else kind - 8] += 1
    word = int(pos["turn"])
    for count in counts:
        word = (word * 0x9E3779B97F4A7C15 + count + 1) & 0xFFFFFFFFFFFFFFFF
    return word


def is_mating_line(position: np.void, line: list[int]) -> bool:
    """Whether moves (16 bits) are legal, every other one from the first gives check, and the last one mates."""
    played = 0
    good = bool(line) and len(line) % 2 == 1
    for index, move in enumerate(line):
        if not good or not is_legal(position, np.int64(move)):
            good = False
            break
        do_move(position, np.int64(move))
        played += 1
        good = bool(in_check(position)) or index % 2 == 1
    good = good and legal_moves(position, np.zeros(MAX_MOVES, np.uint16)) == 0
    for move in reversed(line[:played]):
        undo_move(position, np.int64(move))
    return good
