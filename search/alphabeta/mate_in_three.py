"""Mate in three at a node of the search: a check whose every answer allows a mate in one.

It is cheap because it skips nodes with many checks and checks with many answers, which the search handles.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.mate.in_one import find_likely_mate
from search.rules.movegen import EVERY, generate
from search.rules.position import do_move, undo_move
from search.rules.repetition import NO_REPETITION, fourfold

MOST_CHECKS, MOST_ANSWERS = 12, 4


@jit
def find_mate_in_three(pos, thread, ply):
    """Return the first move (int64) of a mate in three and record its line, or return 0.

    `thread.checks[ply]` holds the node's checks, none of which mates (see `game_end.find_mate_here`). The move lists of
    the next two plies are overwritten; no node uses them yet.
    """
    count = np.int64(thread.check_count[ply])
    if count > MOST_CHECKS:
        return np.int64(0)
    answers = thread.moves[ply + 1]
    for index in range(count):
        check = np.int64(thread.checks[ply, index])
        do_move(pos, check)
        answer_count = generate(pos, answers, np.int64(0), np.int64(EVERY))
        mated = answer_count <= MOST_ANSWERS
        if mated:
            for place in range(answer_count):
                answer = np.int64(answers[place])
                do_move(pos, answer)
                mate, _ = find_likely_mate(pos, thread.checks[ply + 2])
                undo_move(pos, answer)
                if mate == 0:
                    mated = False
                    break
                thread.pv[ply, 1], thread.pv[ply, 2] = answer, mate
        # A check into the fourth occurrence of a position ends the game.
        mated = mated and fourfold(pos) == NO_REPETITION
        undo_move(pos, check)
        if mated:
            thread.pv[ply, 0] = check
            thread.pv_length[ply] = 3
            return check
    return np.int64(0)
