"""How much of its time a move deserves: less where the search has settled on it, more where it still wavers.

Three signs, as in Stockfish's time management: how often and how lately the best move has changed, how far the score
has fallen, and how much of the last depth's work went into the best move. Each is a factor of the optimum.
"""

from __future__ import annotations

import numpy as np

REMEMBERED = 8
"""Depths whose changes of the best move still count, each half as much as the one after it."""
CALM, CHANGE = 0.68, 0.49
"""Share of the optimum for a move that has never changed, and what a change in the last depth adds."""
COMPARED = 3
"""Depths whose mean score the last one's is held against."""
FALL = 0.49
"""What a fall of 100 centipawns adds, and a rise takes away."""
BY_SCORE = (0.68, 1.76)
"""Between these the score's factor stays."""
EFFORT, USUAL_EFFORT = 0.78, 0.6
"""What all of a depth's nodes on other moves than the best add, and the best move's share that adds nothing."""


def settling(thread: np.void) -> float:
    """Factor of the optimum after the last depth that `thread` (of `thread_dtype`, searching one line) has finished."""
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
