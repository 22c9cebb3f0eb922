"""Which of the threads that searched one position is believed: one whose move most of them would play.

Lazy SMP's threads search the same position at other depths and in other windows, so each errs on its own. Stockfish
weighs their votes by score and depth; in shogi, whose scores swing more from depth to depth, equal votes lose less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from search.score import MATE_BOUND


def believed(threads: Sequence[np.void], move: int) -> int:
    """Place of the thread that is believed among records of `thread_dtype`, of which the first would play `move`.

    Threads that have finished no depth do not vote. A mate that one has found is played, the shortest first. Where
    several moves have as many votes it is the first thread's, or else the one with the highest score.
    """
    voters = [place for place, thread in enumerate(threads) if place == 0 or thread["line_length"]]
    moves = {place: int(threads[place]["line"][0]) if place else move for place in voters}
    votes = Counter(moves.values())

    def worth(place: int) -> tuple[int, int, bool, int]:
        score = int(threads[place]["score"])
        return (max(score, MATE_BOUND), votes[moves[place]], moves[place] == move, score)

    best = max(voters, key=worth)
    return 0 if moves[best] == move and worth(best)[0] == worth(0)[0] else best
