"""The mate solver beside the search: a thread that looks for a mate at the root and ends the search when it has one.

Alpha-beta finds a long mate late, because most of its checks look like losing captures; df-pn looks at checks only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from search.engine import Analysis
from search.mate.solver import MateResult, MateSolver, MateStatus, StopFlag
from search.score import MATE, is_mate
from search.system.threads import started

MEGABYTES = 16


class RootMate:
    """Looks for a mate in one position at a time, from `begin` to `end`."""

    def __init__(self) -> None:
        """Load the solver, so that nothing is compiled or loaded during a game."""
        self._solver = MateSolver(MEGABYTES)
        self._solver.prepare()
        self._flag = StopFlag()
        self._thread: threading.Thread | None = None
        self._result: MateResult | None = None

    def begin(self, position: np.void, nodes: int, on_mate: Callable[[], None], max_moves: int = 0) -> None:
        """Look for a mate in a copy of a position for at most `nodes` nodes; call `on_mate` when a mate is proved.

        A mate that ends after move number `max_moves` (0: no limit) does not count.
        """
        self._flag, self._result = StopFlag(), None
        arguments = (position.copy(), nodes, on_mate, max_moves)
        self._thread = started(threading.Thread(target=self._work, args=arguments))

    def _work(self, position: np.void, nodes: int, on_mate: Callable[[], None], max_moves: int) -> None:
        result = self._solver.solve(position, nodes=nodes, stop=self._flag)
        in_time = not max_moves or int(position["game_ply"]) + result.plies - 1 <= max_moves
        if result.status is MateStatus.MATE and in_time:
            self._result = result
            on_mate()

    def end(self) -> MateResult | None:
        """Stop the solver, and return the mate that it has proved, if any."""
        self._flag.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self._result


def with_mate(best: Analysis, mate: MateResult) -> Analysis:
    """Return the search's result with a proved mate in it, unless the search knows a mate that is as short."""
    score = MATE - mate.plies
    if is_mate(best.score) and best.score >= score:
        return best
    return replace(
        best,
        best_move=mate.moves[0],
        ponder_move=mate.moves[1] if len(mate.moves) > 1 else None,
        score=score,
        nodes=best.nodes + mate.nodes,
        pv=mate.moves,
        win_rate=1.0,
    )
