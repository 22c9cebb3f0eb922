"""Which of the threads that searched one position is believed: one whose move most of them would play.

Lazy SMP's threads search the same position at other depths and times, so each errs on its own. Stockfish weighs their
votes by score and depth; in shogi, whose scores swing more from depth to depth, equal votes lose no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from search.alphabeta.deepening import cut_found_better
from search.score import MATE_BOUND


def best_move(thread: np.void) -> int:
    """What a thread, a record of `thread_dtype`, would play; 0 if it has finished no depth: it has no score yet."""
    if not thread["line_length"]:
        return 0
    return int(thread["pv"][0][0] if cut_found_better(thread) else thread["line"][0])


def believed(threads: Sequence[np.void]) -> int:
    """Place of the thread that is believed, among records of `thread_dtype`.

    A mate that one has found is played, the shortest first. Where several moves have as many votes it is the first
    thread's, or else the one with the highest score.
    """
    moves = [best_move(thread) for thread in threads]
    voters = [place for place, move in enumerate(moves) if move or place == 0]
    votes = Counter(moves[place] for place in voters)

    def worth(place: int) -> tuple[int, int, bool, int]:
        score = int(threads[place]["score"])
        return (max(score, MATE_BOUND), votes[moves[place]], moves[place] == moves[0], score)

    best = max(voters, key=worth)
    return 0 if moves[best] == moves[0] and worth(best)[0] == worth(0)[0] else best
