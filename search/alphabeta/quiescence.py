"""Quiescence: captures and pawn promotions (all evasions in check) until the static evaluation can be trusted."""

from __future__ import annotations

import numpy as np

from search.alphabeta.game_end import PATH_SCORE_FREE, enter_node
from search.alphabeta.parameters import DELTA_PRUNING
from search.alphabeta.picker import next_move, start_picking
from search.alphabeta.sampling import QUIESCENCE, keep_sample
from search.alphabeta.see import capture_gain
from search.alphabeta.thread import NO_CONTINUATION, copy_pv
from search.alphabeta.transposition import (
    EXACT,
    LOWER,
    NO_EVALUATION,
    UPPER,
    betters,
    data_bound,
    data_move,
    data_score,
    prefetch_cluster,
    probe,
    settles,
    store,
)
from search.evaluation.accumulator import evaluate
from search.machine.jit import jit
from search.rules.position import do_move, in_check, undo_move
from search.score import INFINITE, MATE, MATE_BOUND

EVASION_DEPTH = -6
"""Deeper checks are not followed: the position counts as quiet."""


@jit
def quiesce(pos, thread, accumulators, network, ply, depth, alpha, beta):
    """Score (int64) of a position in which only tactical moves are tried; depth is 0 and falls."""
    score = enter_node(pos, thread, accumulators, network, ply)
    if score != PATH_SCORE_FREE:
        return score
    checked = in_check(pos)
    key = pos.key
    prefetch_cluster(thread.table, key)
    best = np.int64(-INFINITE)
    first_alpha = alpha
    evaluation = np.int64(NO_EVALUATION)
    # Doing nothing is the first choice; a side that may pass up every capture has at least its evaluation.
    if not checked:
        evaluation = evaluate(pos, accumulators, network)
        if thread.nodes >= thread.sample_at:
            keep_sample(pos, thread, np.int64(QUIESCENCE))
        best = evaluation
        if best >= beta:
            return best
    data = probe(thread.table, key)
    table_move = np.int64(0)
    if data != np.uint64(0):
        table_move = data_move(data)
        table_score = data_score(data, ply)
        bound = data_bound(data)
        if beta - alpha == 1 and settles(bound, table_score, alpha, beta):
            return table_score
        if not checked and abs(table_score) < MATE_BOUND and betters(bound, table_score, best):
            best = table_score
            if best >= beta:
                return best
    if best > alpha:
        alpha = best
    best_move = np.int64(0)
    tactical_only = np.int64(1)
    start_picking(pos, thread, ply, table_move, tactical_only)
    moves_tried = np.int64(0)
    while True:
        move = next_move(pos, thread, ply, tactical_only)
        if move == 0:
            break
        moves_tried += 1
        if not checked and abs(beta) < MATE_BOUND:
            # Delta: even the piece it takes and a margin do not bring the score near alpha.
            optimistic = evaluation + capture_gain(pos, move) + thread.parameters.delta_margin
            if optimistic <= alpha and thread.steps & DELTA_PRUNING:
                if optimistic > best:
                    best = optimistic
                continue
        elif checked and best > -MATE_BOUND and moves_tried > 3:
            break
        do_move(pos, move)
        thread.nodes += 1
        thread.continuation[ply + 1] = NO_CONTINUATION
        score = -quiesce(pos, thread, accumulators, network, ply + 1, depth - 1, -beta, -alpha)
        undo_move(pos, move)
        if thread.stop:
            return np.int64(0)
        if score > best:
            best = score
            if score > alpha:
                best_move = move
                alpha = score
                if beta - first_alpha > 1:
                    copy_pv(thread, ply, move)
                if score >= beta:
                    break
    if checked and moves_tried == 0:
        return np.int64(ply - MATE)
    bound = np.int64(LOWER if best >= beta else EXACT if best > first_alpha and beta - first_alpha > 1 else UPPER)
    store(thread.table, key, best_move, best, evaluation, np.int64(0), bound, ply)
    return best
