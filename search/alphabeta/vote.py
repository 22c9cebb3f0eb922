"""Vote among threads that searched the same position: the move that most of them prefer.

Lazy SMP's threads search at different depths and times, so their errors differ. Stockfish weighs the votes by score and
depth; in shogi, where scores change more from depth to depth, equal votes lose no more games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from search.alphabeta.deepening import cut_found_better
from search.score import MATE_BOUND


def best_move(thread: np.void) -> int:
    """Return the best move of a thread (a record of `thread_dtype`), 0 if it has finished no depth: no score yet."""
    if not thread["line_length"]:
        return 0
    return int(thread["pv"][0][0] if cut_found_better(thread) else thread["line"][0])


def best_score(thread: np.void) -> int:
    """Return the score of a thread's best move; it means nothing if the thread has finished no depth."""
    return int(thread["pv_score"] if cut_found_better(thread) else thread["score"])


def believed(threads: Sequence[np.void]) -> int:
    """Return the index of the thread whose result is used, among records of `thread_dtype`.

    A mate found by any thread wins, the shortest first. If several moves have equally many votes, the first thread's
    move wins, else the one with the highest score.
    """
    moves = [best_move(thread) for thread in threads]
    voters = [place for place, move in enumerate(moves) if move or place == 0]
    votes = Counter(moves[place] for place in voters)

    def worth(place: int) -> tuple[int, int, bool, int]:
        score = best_score(threads[place])
        return (max(score, MATE_BOUND), votes[moves[place]], moves[place] == moves[0], score)

    best = max(voters, key=worth)
    return 0 if moves[best] == moves[0] and worth(best)[0] == worth(0)[0] else best
