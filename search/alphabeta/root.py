"""The root of the search: one iteration over the root's moves, the best of them brought to the front."""

from __future__ import annotations

import numpy as np

from search.alphabeta.picker import is_tactical
from search.alphabeta.search import late_move_reduction, play, search_node
from search.alphabeta.thread import NO_CONTINUATION, copy_pv
from search.alphabeta.transposition import EXACT, LOWER, NO_EVALUATION, UPPER, store
from search.evaluation.accumulator import evaluate
from search.machine.jit import inlined
from search.rules.position import in_check, undo_move
from search.score import INFINITE


@inlined
def search_root(pos, thread, accumulators, network, depth, alpha, beta):
    """One iteration over `thread.root_moves[root_first:root_count]`: the score (int64) of the best, moved to the front.

    All numbers are int64. If `thread.stop` was set the score is void, but the front move and pv[0] are the best so far.
    """
    thread.root_depth = depth
    thread.root_ply = pos.ply
    thread.null_until = 0
    thread.seldepth = 0
    thread.continuation[0] = NO_CONTINUATION
    for place in range(len(thread.excluded)):
        thread.excluded[place] = 0
    first, count = np.int64(thread.root_first), np.int64(thread.root_count)
    thread.evaluation[0] = NO_EVALUATION if in_check(pos) else evaluate(pos, accumulators, network)
    best = np.int64(-INFINITE)
    first_alpha = alpha
    for index in range(first, count):
        move = np.int64(thread.root_moves[index])
        number = index - first + 1
        thread.root_current = index
        tactical = is_tactical(pos, move)
        play(pos, thread, np.int64(0), move)
        next_depth = depth - 1
        score = np.int64(0)
        if number > 1:
            reduced = next_depth
            if depth >= 3 and number > 3 and not tactical and not in_check(pos):
                reduction = late_move_reduction(thread, depth, number) - 1
                reduced = min(max(next_depth - max(reduction, np.int64(0)), np.int64(1)), next_depth)
            score = -search_node(
                pos, thread, accumulators, network, np.int64(1), reduced, -alpha - 1, -alpha, np.int64(1)
            )
            if score > alpha and reduced < next_depth and not thread.stop:
                score = -search_node(
                    pos, thread, accumulators, network, np.int64(1), next_depth, -alpha - 1, -alpha, np.int64(0)
                )
        if (number == 1 or score > alpha) and not thread.stop:
            score = -search_node(
                pos, thread, accumulators, network, np.int64(1), next_depth, -beta, -alpha, np.int64(0)
            )
        undo_move(pos, move)
        if thread.stop:
            return best
        if score > best:
            best = score
            if score > alpha or number == 1:
                copy_pv(thread, np.int64(0), move)
                for place in range(index, first, -1):
                    thread.root_moves[place] = thread.root_moves[place - 1]
                thread.root_moves[first] = move
            if score > alpha:
                alpha = score
                if score >= beta:
                    break
    if not thread.stop:
        bound = np.int64(LOWER if best >= beta else EXACT if best > first_alpha else UPPER)
        front = np.int64(thread.root_moves[first])
        if first == 0:
            store(thread.table, pos.key, front, best, np.int64(NO_EVALUATION), depth, bound, np.int64(0))
    return best
