"""The mate solver beside the search: a thread of its own that looks for a mate at the root, and ends the search at one.

Alpha-beta sees a long mate late, since most of its checks look like losing captures; df-pn sees nothing else.
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
    """Looks for a mate from `begin` to `end`, one position at a time."""

    def __init__(self) -> None:
        """Loads the solver, so that none of it is compiled or loaded during a game."""
        self._solver = MateSolver(MEGABYTES)
        self._solver.prepare()
        self._flag = StopFlag()
        self._thread: threading.Thread | None = None
        self._result: MateResult | None = None

    def begin(self, position: np.void, nodes: int, on_mate: Callable[[], None], max_moves: int = 0) -> None:
        """Look at a position (it is copied) for so many nodes at most; `on_mate` is called when a mate is proved.

        A mate whose last move has a number above `max_moves` (0: any) is none.
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
        """Stop looking; the mate that was proved, if one was."""
        self._flag.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self._result


def with_mate(best: Analysis, mate: MateResult) -> Analysis:
    """What the search found, bettered by a proved mate unless it knows one as short itself."""
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
