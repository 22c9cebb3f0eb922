"""The mate solver: find a mate by an unbroken series of checks for the side to move, or prove that there is none.

    result = MateSolver().solve("4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", milliseconds=1000)
    result.status, result.moves        # MateStatus.MATE, ("G*5b",)

The search is in dfpn.py, its table in table.py, the reading of lines in lines.py. A mate is reported only with its
line, which is replayed here move by move to a position without a legal move.
"""

from __future__ import annotations

import enum
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from search.mate.dfpn import DEPTHS, mate_dtype, solve_root
from search.mate.lines import proved_line, shortest_line
from search.mate.problems import set_problem, set_problem_game
from search.mate.repeated import refute_repeated, repeated_positions
from search.mate.table import MateTable
from search.rules.movegen import is_legal, list_moves
from search.rules.position import do_move, in_check, new_position, undo_move
from search.rules.sfen import get_sfen, move_to_usi
from search.rules.shogi import KINDS, KING, UNPROMOTED
from search.system.bounds import check_megabytes
from search.system.interrupt import ended_by_interrupt, run_beside
from search.system.threads import started

_SHORTENING_NODES = 20_000
_EXTRACTION_NODES = 200_000
_LONGEST_WAIT = 1e6
_FIRST_PROBLEM = "9/5S2P/7NP/7RN/8k/9/9/9/9 b Gr2b3g3s2n4l16p 1"
"""A mate in nine (tanuki-tsume) for which all compiled functions are called."""


class MateStatus(enum.Enum):
    """Result of a search for mate."""

    MATE = "mate"
    NO_MATE = "no mate"
    UNKNOWN = "unknown"


class StopFlag:
    """A flag that ends the one search that it is given to, from any thread, before or while it runs."""

    def __init__(self) -> None:
        self._word = np.zeros(1, np.uint64)

    def set(self) -> None:
        """End the search; it takes less than a millisecond."""
        self._word[0] = 1

    def is_set(self) -> bool:
        """Return whether the flag is set."""
        return bool(self._word[0])

    @property
    def address(self) -> int:
        """Address of the word that jitted code reads; valid as long as this object exists."""
        return int(self._word.ctypes.data)


@dataclass(frozen=True)
class MateResult:
    """Result of the solver for one position."""

    status: MateStatus
    """MATE and NO_MATE are proved. UNKNOWN means that the search was stopped before, or that it would have to look
    deeper than DEPTHS plies."""
    moves: tuple[str, ...] = ()
    """The mate in USI moves, empty unless `status` is MATE.

    In the shortest mate both sides play their best. In another one the defender plays the replies with the longest
    mates that the proof contains.
    """
    plies: int = 0
    """Length of the mate in plies, 0 unless `status` is MATE. It is exact for the shortest mate, otherwise an upper
    bound."""
    nodes: int = 0
    """Number of positions visited."""
    seconds: float = 0.0
    """Wall time in seconds."""
    shortest: bool = False
    """Whether it is proved that no mate is shorter."""


class MateSolver:
    """A solver with a table of its own, for one thread at a time. Results of earlier searches speed up later ones."""

    _prepared = False

    def __init__(self, megabytes: int = 64) -> None:
        """Allocate a table of `megabytes` MB; about 6 MB of scratch memory are added. Raises MemoryError if it does
        not fit."""
        check_megabytes("a mate table", megabytes)
        self.table = MateTable(megabytes)
        self._memory = np.zeros(1, mate_dtype)
        self._record = self._memory[0]
        self._position = new_position()
        self._repeated = repeated_positions(self._position)
        self._line = np.zeros(DEPTHS, np.uint16)
        self._never = StopFlag()

    def clear(self) -> None:
        """Clear the results of earlier searches."""
        self.table.clear()

    def prepare(self) -> None:
        """Compile or load the code of the solver, once per process; `solve` does it before its clock starts."""
        if not MateSolver._prepared:
            MateSolver._prepared = True
            for shorten in (True, False):
                self.solve(_FIRST_PROBLEM, shorten=shorten)

    def solve(
        self,
        position: str | np.void,
        *,
        milliseconds: float | None = None,
        nodes: int | None = None,
        stop: StopFlag | None = None,
        shorten: bool = True,
    ) -> MateResult:
        """Search for a mate by checks for the side to move, until it is proved or refuted or a limit is reached.

        `position` is `startpos` or an SFEN, optionally with `moves ...` in USI, or a record of `position_dtype`, which
        is not changed. No mate leads through a position that has occurred three times in these moves or in the record's
        game, because its fourth occurrence ends the game. `shorten` searches again for shorter mates, with about as
        much work as the first search.

        `milliseconds`, `nodes` and `stop` each may end the search; 0 or None `nodes` means no limit. If the system
        cannot start a thread for a timer, `milliseconds` ends the search at once. Raises ValueError for an SFEN that
        cannot be read and for an illegal move.
        """
        self.prepare()
        begun = time.perf_counter()
        if isinstance(position, str):
            game = new_position()
            set_problem_game(game, position)
        else:
            game = position
        self._repeated = repeated_positions(game)
        set_problem(self._position, get_sfen(game))  # without the moves before it: the search may need their room
        flag = StopFlag() if stop is None else stop
        found: list[MateResult] = []
        timer = None
        if milliseconds is not None:
            timer = started(threading.Timer(min(max(milliseconds / 1000, 0.0), _LONGEST_WAIT), flag.set))
            if timer is None:  # better no answer than one too late
                flag.set()
        try:
            with ended_by_interrupt(flag.set):
                run_beside(lambda: found.append(self._search(flag, nodes, shorten)), flag.set)
        finally:
            if timer is not None:
                timer.cancel()
        return replace(found[0], nodes=int(self._record["nodes"]), seconds=time.perf_counter() - begun)

    def _search(self, flag: StopFlag, nodes: int | None, shorten: bool) -> MateResult:
        """Run the searches and return their result without effort and time."""
        record, pos = self._record, self._position
        self.table.new_search()
        record["table"] = self.table.record
        record["stop_address"] = flag.address
        record["salt"] = _salt(pos, self._repeated["key"].tolist())
        record["nodes"] = 0
        record["node_limit"] = nodes or 0
        verdict = self._solve_within(0)
        if verdict <= 0:
            return MateResult(MateStatus.UNKNOWN if verdict < 0 else MateStatus.NO_MATE)
        spent = int(record["nodes"])
        limit, plies = 0, int(record["result_length"][0])
        shortest = plies == 1
        while shorten and not shortest:
            budget = int(record["nodes"]) + max(2 * spent, _SHORTENING_NODES)
            record["node_limit"] = min(budget, nodes) if nodes else budget
            verdict = self._solve_within(plies - 2)
            if verdict <= 0:
                shortest = verdict == 0
                break
            limit, plies = plies - 2, int(record["result_length"][0])
            shortest = plies == 1
        line = self._shortest_line(plies) if shortest else []
        if not line:
            line = self._proved_line(limit)
            # If the mate is not the shortest, or its line was not found again, the table may hold a longer line.
            shortest, plies = shortest and len(line) == plies, max(plies, len(line))
        if not line:
            return MateResult(MateStatus.UNKNOWN)
        return MateResult(MateStatus.MATE, tuple(move_to_usi(move) for move in line), plies, shortest=shortest)

    def _solve_within(self, limit: int) -> int:
        """Search for a mate within `limit` plies (0: any number): 1 mate, 0 no mate, -1 unknown."""
        self._record["limit"] = limit
        refute_repeated(self._repeated, self._record)
        return int(solve_root(self._position, self._record))

    def _shortest_line(self, plies: int) -> list[int]:
        """Return the line of the shortest mate, in `plies` plies; empty if the table has lost too much of it."""
        self._allow_extraction()
        return self._replayed(plies if shortest_line(self._position, self._record, self._line, np.int64(plies)) else 0)

    def _proved_line(self, limit: int) -> list[int]:
        """Return the line of a mate that was proved within `limit` plies (0: any number); empty if too much of it is
        lost."""
        self._allow_extraction()
        self._record["limit"] = limit
        return self._replayed(int(proved_line(self._position, self._record, self._line)))

    def _allow_extraction(self) -> None:
        """Replace the limits by one for reading a line, which is quick, and without which a mate is not reported."""
        self._record["stop_address"] = self._never.address
        self._record["node_limit"] = int(self._record["nodes"]) + _EXTRACTION_NODES

    def _replayed(self, length: int) -> list[int]:
        line = self._line[: max(length, 0)].tolist()
        return line if line and is_mating_line(self._position, line, self._repeated["key"].tolist()) else []


def _salt(pos: np.void, repeated: list[int]) -> int:
    """Return a word that separates, in one table, positions of different attackers, sets of pieces, and keys of
    repeated positions."""
    counts = pos["hands"].sum(axis=0).astype(int).tolist()
    for piece in pos["board"].tolist():
        kind = piece % KINDS
        if piece < 2 * KINDS and kind != KING:
            counts[UNPROMOTED[kind]] += 1
    word = int(pos["turn"])
    for count in (*counts, *repeated):
        word = (word * 0x9E3779B97F4A7C15 + count + 1) & 0xFFFFFFFFFFFFFFFF
    return word


def is_mating_line(position: np.void, line: list[int], repeated: list[int]) -> bool:
    """Return whether moves (16 bits) are legal, every attacker's move gives check, the last move mates, and no move
    leads to a position with one of the keys `repeated`."""
    played = 0
    good = bool(line) and len(line) % 2 == 1
    for index, move in enumerate(line):
        if not good or not is_legal(position, np.int64(move)):
            good = False
            break
        do_move(position, np.int64(move))
        played += 1
        good = (bool(in_check(position)) or index % 2 == 1) and int(position["key"]) not in repeated
    good = good and not list_moves(position)
    for move in reversed(line[:played]):
        undo_move(position, np.int64(move))
    return good
