"""Share of its time that a move deserves: less where the search has settled on it, more where it still changes.

Three signs, as in Stockfish's time management: how often and how recently the best move changed, how far the score
fell, and what share of the last depth's nodes went into the best move. Each gives a factor of the optimum.
"""

from __future__ import annotations

import numpy as np

REMEMBERED = 8
"""Number of depths whose best-move changes count, each half as much as the next later one."""
CALM, CHANGE = 0.68, 0.49
"""Share of the optimum for a move that never changed, and the share that a change in the last depth adds."""
COMPARED = 3
"""Number of depths whose mean score is compared with the last score."""
FALL = 0.49
"""Added to the score's factor for a fall of 100 centipawns, subtracted for a rise."""
BY_SCORE = (0.68, 1.76)
"""Bounds of the score's factor."""
EFFORT, USUAL_EFFORT = 0.78, 0.6
"""The best move's share of the last depth's nodes gives the factor 1 + EFFORT * (USUAL_EFFORT - share)."""


def settling(thread: np.void) -> float:
    """Return the factor of the optimum after the last finished depth of `thread`, a `thread_dtype` with one line."""
    depth = int(thread["depth"])
    found = thread["found"][max(depth - REMEMBERED, 1) : depth + 1]
    changed = np.diff(found["line"][:, 0].astype(np.int64)) != 0
    changes = float(np.sum(changed[::-1] * 0.5 ** np.arange(len(changed))))
    before = found["score"][-1 - COMPARED : -1]
    fall = float(np.mean(before)) - int(thread["score"]) if len(before) else 0.0
    by_score = min(max(1 + FALL * fall / 100, BY_SCORE[0]), BY_SCORE[1])
    nodes = thread["root_nodes"][thread["root_moves"][: thread["root_count"]]]
    share = int(thread["root_nodes"][thread["line"][0]]) / max(1, int(nodes.sum(dtype=np.int64)))
    return (CALM + CHANGE * changes) * by_score * (1 + EFFORT * (USUAL_EFFORT - share))
