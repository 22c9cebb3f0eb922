"""One iteration over the root's moves, which moves the best of them to the front."""

from __future__ import annotations

import numpy as np

from search.alphabeta.moves import is_tactical
from search.alphabeta.parameters import LATE_MOVE_REDUCTION
from search.alphabeta.reductions import late_move_reduction, move_statistic, reduced_depth, weigh_move
from search.alphabeta.search import REDUCTION_DEPTH, play, search_node
from search.alphabeta.thread import NO_CONTINUATION, copy_pv
from search.alphabeta.transposition import EXACT, LOWER, NO_EVALUATION, UPPER, store
from search.compiling.jit import inlined, jit
from search.evaluation.accumulator import evaluate
from search.rules.position import in_check, undo_move
from search.score import INFINITE

_MOST_NODES = (1 << 31) - 1


@jit
def _order(thread, first, count):
    """Keep the first move and sort the others by their nodes in the last iteration, most first."""
    for index in range(first + 2, count):
        move = thread.root_moves[index]
        nodes = thread.root_nodes[move]
        place = index
        while place > first + 1 and thread.root_nodes[thread.root_moves[place - 1]] < nodes:
            thread.root_moves[place] = thread.root_moves[place - 1]
            place -= 1
        thread.root_moves[place] = move


@inlined
def search_root(pos, thread, accumulators, network, depth, alpha, beta):
    """Search `thread.root_moves[root_first:root_count]` once and return the best score (int64); the best move goes to
    the front.

    All numbers are int64. If `thread.stop` was set the score is invalid, but the front move, pv[0] and pv_score are the
    best so far.
    """
    thread.root_depth = depth
    thread.null_until = 0
    thread.continuation[0] = NO_CONTINUATION
    thread.root_window = max(beta - alpha, np.int64(1))
    thread.table_pv[0] = 1
    thread.checked[0] = in_check(pos)
    thread.correction_value[0] = thread.reduction[0] = 0
    thread.cut_count[:3] = 0
    for place in range(len(thread.excluded)):
        thread.excluded[place] = 0
    first, count = np.int64(thread.root_first), np.int64(thread.root_count)
    thread.evaluation[0] = NO_EVALUATION if in_check(pos) else evaluate(pos, accumulators, network)
    _order(thread, first, count)
    best = np.int64(-INFINITE)
    first_alpha = alpha
    for index in range(first, count):
        move = np.int64(thread.root_moves[index])
        number = index - first + 1
        thread.move_count[0] = number
        thread.statistic[0] = move_statistic(pos, thread, np.int64(0), move, is_tactical(pos, move))
        nodes_before = np.int64(thread.nodes)
        play(pos, thread, np.int64(0), move)
        next_depth = depth - 1
        score = np.int64(0)
        if number > 1:
            reduced = next_depth
            if depth >= REDUCTION_DEPTH and thread.steps & LATE_MOVE_REDUCTION:
                reduction = late_move_reduction(thread, depth, number, beta - alpha, False, True)
                reduction = weigh_move(thread, np.int64(0), reduction, number, True, False)
                reduced = reduced_depth(thread, reduction, next_depth, True)
            thread.reduction[0] = next_depth - reduced
            score = -search_node(
                pos, thread, accumulators, network, np.int64(1), reduced, -alpha - 1, -alpha, np.int64(1)
            )
            thread.reduction[0] = 0
            if score > alpha and reduced < next_depth and not thread.stop:
                score = -search_node(
                    pos, thread, accumulators, network, np.int64(1), next_depth, -alpha - 1, -alpha, np.int64(1)
                )
        if (number == 1 or score > alpha) and not thread.stop:
            score = -search_node(
                pos, thread, accumulators, network, np.int64(1), next_depth, -beta, -alpha, np.int64(0)
            )
        undo_move(pos, move)
        thread.root_nodes[move] = min(thread.nodes - nodes_before, np.int64(_MOST_NODES))
        if thread.stop:
            return best
        if score > best:
            best = score
            if score > alpha or number == 1:
                copy_pv(thread, np.int64(0), move)
                thread.pv_score = score
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
        if first == 0 and not thread.root_partial:
            store(thread.table, pos.key, front, best, np.int64(NO_EVALUATION), depth, bound, np.int64(0), np.int64(1))
    return best
