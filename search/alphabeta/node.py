"""Parts of a node besides its move loop: evaluation, mates, bounds, extensions, and storing the result."""

from __future__ import annotations

import numpy as np

from search.alphabeta.correction import correct, learn_correction
from search.alphabeta.game_end import find_mate_here
from search.alphabeta.mate_in_three import find_mate_in_three
from search.alphabeta.moves import is_tactical
from search.alphabeta.parameters import MATE_IN_ONE, MATE_IN_THREE, REVERSE_FUTILITY
from search.alphabeta.sampling import MAIN, keep_sample
from search.alphabeta.transposition import NO_BOUND, NO_EVALUATION, store
from search.compiling.jit import jit
from search.evaluation.accumulator import evaluate
from search.rules.declaration import TRY_RULE
from search.score import MATE, MATE_BOUND, MAX_PLY


@jit
def static_evaluation(pos, thread, accumulators, network, ply, raw, hit):
    """Return (raw, corrected) static evaluation of a node that is not in check.

    `raw` may be known from the table; `hit` says whether the table has the position.
    """
    if thread.excluded[ply]:
        return raw, np.int64(thread.evaluation[ply])
    if raw == NO_EVALUATION:
        raw = evaluate(pos, accumulators, network)
        if thread.nodes >= thread.sample_at:
            keep_sample(pos, thread, np.int64(MAIN))
    static = correct(pos, thread, ply, raw)
    thread.evaluation[ply] = static
    if not hit:
        nothing, on_pv = np.int64(0), np.int64(thread.table_pv[ply])
        store(thread.table, pos.key, nothing, nothing, raw, nothing, np.int64(NO_BOUND), ply, on_pv)
    return raw, static


@jit
def find_mate(pos, thread, ply, depth, hit, table_depth):
    """Return the score (int64) and first move of a mate in one or, at sufficient depth, in three; (0, 0) if there is
    none.

    Skips what an earlier visit of the node would have found.
    """
    deep = thread.parameters.mate_three_depth
    in_three = table_depth < deep <= depth and ply + 3 < MAX_PLY
    if thread.steps & MATE_IN_ONE == 0 or (hit and not in_three):
        return np.int64(0), np.int64(0)
    move = find_mate_here(pos, thread, ply)
    if move:
        return MATE - ply - 1, move
    # The third move must be within the move limit, and by the try rule a check may be answered by a win.
    in_three = in_three and thread.steps & MATE_IN_THREE != 0 and thread.declaration_rule != TRY_RULE
    if in_three and (thread.max_moves == 0 or pos.game_ply + 2 <= thread.max_moves):
        move = find_mate_in_three(pos, thread, ply)
        if move:
            return MATE - ply - 3, move
    return np.int64(0), np.int64(0)


@jit
def stands_above(thread, ply, depth, estimate, beta, hit, improving, worsening):
    """Whether the estimate exceeds beta by so much that the opponent's moves will not make up for it."""
    tuned = thread.parameters
    if (
        thread.steps & REVERSE_FUTILITY == 0
        or depth > tuned.reverse_futility_depth
        or thread.table_pv[ply]
        or thread.excluded[ply]
        or beta <= -MATE_BOUND
        or abs(estimate) >= MATE_BOUND
    ):
        return False
    unit = np.int64(tuned.reverse_futility_margin) - (0 if hit else tuned.reverse_futility_unknown)
    less = tuned.reverse_futility_improving if improving else 0
    less += tuned.reverse_futility_worsening if worsening else 0
    margin = unit * depth - less * unit // 1024
    margin += abs(np.int64(thread.correction_value[ply])) * tuned.reverse_futility_correction // 10294200
    return estimate >= beta and estimate - margin >= beta


@jit
def extension_of_singular(thread, ply, below, is_pv, was_pv, table_tactical):
    """Return the extension in plies (int64) of a singular move: all others are `below` centipawns under the bound."""
    tuned = thread.parameters
    beyond = abs(np.int64(thread.correction_value[ply])) // 210590
    beyond += tuned.singular_far if ply > thread.root_depth else 0
    double = tuned.singular_double + (tuned.singular_double_pv if is_pv else 0) - beyond
    double -= 0 if table_tactical else tuned.singular_double_quiet
    double -= tuned.singular_table_history * np.int64(thread.table_move_history) // 116517
    triple = tuned.singular_triple + (tuned.singular_triple_pv if is_pv else 0) - beyond
    triple += (tuned.singular_triple_was_pv if was_pv else 0) - (0 if table_tactical else tuned.singular_triple_quiet)
    return np.int64(1) + (1 if below > double else 0) + (1 if below > triple else 0)


@jit
def keep_result(pos, thread, ply, depth, raw, best, best_move, bound):
    """Store a node's result and learn the error of its static evaluation."""
    store(thread.table, pos.key, best_move, best, raw, depth, bound, ply, np.int64(thread.table_pv[ply]))
    error = best - np.int64(thread.evaluation[ply])
    if (
        not thread.checked[ply]
        and abs(best) < MATE_BOUND
        and not (best_move and is_tactical(pos, best_move))
        and (error > 0) == (best_move != 0)
    ):
        learn_correction(pos, thread, ply, depth, error, best_move != 0)
