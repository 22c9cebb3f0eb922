"""Count the plies of a mate problem as tsume shogi does: without futile interpositions (無駄合).

An interposition is a drop between a sliding checker and the king. It is futile if the checker captures the dropped
piece with check, and the mate then takes no longer than against the best reply that is no interposition, even with the
piece back in the defender's hand, so that the attacker does not use it. A futile interposition and its capture count no
plies. Interpositions by a piece on the board always count.

The search is an AND/OR search with an increasing limit; the mate solver removes attacks that do not mate.
"""

from __future__ import annotations

import time

import numpy as np

from search.mate.problems import set_problem
from search.mate.solver import MateSolver, MateStatus
from search.rules.movegen import list_moves
from search.rules.position import do_move, in_check, new_position, undo_move
from search.rules.sfen import get_sfen, move_to_usi, square_from_usi

LONGEST = 31
"""Largest counted length that is searched."""


class _OutOfTimeError(Exception):
    """The time limit was reached."""


def tsume_plies_of(solver: MateSolver, sfen: str, milliseconds: int) -> int | None:
    """Return the plies of the shortest mate without futile interpositions.

    Returns None if the position is not proved a mate within the time. Raises ValueError for an SFEN that cannot be read
    and for an illegal move.
    """
    solver.prepare()
    pos = new_position()
    set_problem(pos, sfen)
    counting = _Counting(solver, time.perf_counter() + milliseconds / 1000)
    try:
        if not counting.mates(pos):
            return None
        return next((plies for plies in range(1, LONGEST + 1, 2) if counting.attack(pos, plies)), None)
    except _OutOfTimeError:
        return None


class _Counting:
    """One search, with the results of positions that occur again."""

    def __init__(self, solver: MateSolver, deadline: float) -> None:
        self._solver = solver
        self._deadline = deadline
        self._mates: dict[str, bool] = {}
        self._attacks: dict[tuple[str, int], bool] = {}
        self._defences: dict[tuple[str, int], bool] = {}

    def mates(self, pos: np.void) -> bool:
        """Return whether the side to move has a mate of any length."""
        key = _key(pos)
        if key not in self._mates:
            remaining = 1000 * (self._deadline - time.perf_counter())
            result = self._solver.solve(pos, milliseconds=max(0.0, remaining), shorten=False)
            if result.status is MateStatus.UNKNOWN:
                raise _OutOfTimeError
            self._mates[key] = result.status is MateStatus.MATE
        return self._mates[key]

    def attack(self, pos: np.void, plies: int) -> bool:
        """Return whether the side to move mates within `plies` counted plies."""
        if plies < 1:
            return False
        key = _key(pos), plies
        if key not in self._attacks:
            self._attacks[key] = self.mates(pos) and any(
                self._check_mates(pos, move, plies) for move in list_moves(pos)
            )
        return self._attacks[key]

    def _check_mates(self, pos: np.void, move: int, plies: int) -> bool:
        do_move(pos, np.int64(move))
        found = bool(in_check(pos)) and self.defend(pos, plies - 1)
        undo_move(pos, np.int64(move))
        return found

    def defend(self, pos: np.void, plies: int) -> bool:
        """Return whether the side to move, which is in check, is mated within `plies` counted plies."""
        if time.perf_counter() > self._deadline:
            raise _OutOfTimeError
        key = _key(pos), plies
        if key not in self._defences:
            self._defences[key] = self._is_mated(pos, plies)
        return self._defences[key]

    def _is_mated(self, pos: np.void, plies: int) -> bool:
        replies = list_moves(pos)
        drops = [move for move in replies if "*" in move_to_usi(move)]
        others = [move for move in replies if move not in drops]
        # Plies against the best reply that is no drop.
        base = next((n for n in range(0, plies + 1, 2) if all(self._reply_loses(pos, one, n) for one in others)), None)
        if base is None:
            return False
        return all(self._is_futile(pos, drop, base) or self._reply_loses(pos, drop, plies) for drop in drops)

    def _reply_loses(self, pos: np.void, move: int, plies: int) -> bool:
        do_move(pos, np.int64(move))
        found = self.attack(pos, plies - 1)
        undo_move(pos, np.int64(move))
        return found

    def _is_futile(self, pos: np.void, drop: int, plies: int) -> bool:
        """Return whether a drop is futile against a mate in `plies` counted plies."""
        defender = int(pos["turn"])
        king, target = int(pos["king"][defender]), move_to_usi(drop)[2:4]
        kind = int(np.flatnonzero(_after(pos, drop)["hands"][defender] != pos["hands"][defender])[0])
        dropped = _after(pos, drop)
        for capture in list_moves(dropped):
            usi = move_to_usi(capture)
            if (
                "*" in usi
                or usi[2:4] != target
                or not _aligned(square_from_usi(usi[:2]), square_from_usi(target), king)
            ):
                continue
            captured = _after(dropped, capture)
            if not in_check(captured):
                continue
            captured["hands"][1 - defender][kind] -= 1
            captured["hands"][defender][kind] += 1
            without = new_position()
            set_problem(without, get_sfen(captured))
            if self.defend(without, plies):
                return True
        return False


def _after(pos: np.void, move: int) -> np.void:
    """Return a copy of a position after a move."""
    copy = new_position()
    set_problem(copy, get_sfen(pos))
    do_move(copy, np.int64(move))
    return copy


def _key(pos: np.void) -> str:
    """Return the position without its move number."""
    return get_sfen(pos).rsplit(" ", 1)[0]


def _aligned(origin: int, middle: int, end: int) -> bool:
    """Return whether three squares stand on a line in this order."""
    (files, ranks), (more_files, more_ranks) = (
        (b // 9 - a // 9, b % 9 - a % 9) for a, b in ((origin, middle), (middle, end))
    )
    straight = files * more_ranks == ranks * more_files and (0 in (files, ranks) or abs(files) == abs(ranks))
    return straight and files * more_files + ranks * more_ranks > 0
