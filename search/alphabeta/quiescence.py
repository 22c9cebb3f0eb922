"""Quiescence: captures and pawn promotions (all evasions in check) until the static evaluation is reliable."""

from __future__ import annotations

import numpy as np

from search.alphabeta.correction import correct, note_likenesses
from search.alphabeta.game_end import PATH_SCORE_FREE, enter_node, find_mate_here
from search.alphabeta.moves import is_tactical, move_row
from search.alphabeta.parameters import DELTA_PRUNING
from search.alphabeta.picker import next_move, start_picking
from search.alphabeta.sampling import QUIESCENCE, keep_sample
from search.alphabeta.see import capture_gain, exchange_wins
from search.alphabeta.thread import copy_pv, count_node
from search.alphabeta.transposition import (
    EXACT,
    LOWER,
    NO_EVALUATION,
    UPPER,
    betters,
    data_bound,
    data_move,
    data_pv,
    data_score,
    prefetch_cluster,
    probe,
    settles,
    store,
)
from search.compiling.jit import jit
from search.evaluation.accumulator import evaluate
from search.rules.movegen import is_legal
from search.rules.position import do_move, gives_check, in_check, key_after, undo_move
from search.score import INFINITE, MATE, MATE_BOUND, MAX_PLY


@jit
def quiesce(pos, thread, accumulators, network, ply, alpha, beta):
    """Search only the tactical moves of a position and return its score (int64)."""
    score = enter_node(pos, thread, accumulators, network, ply)
    if score != PATH_SCORE_FREE:
        return score
    checked = in_check(pos)
    key = pos.key
    is_pv = beta - alpha > 1
    thread.checked[ply] = checked
    thread.played[ply] = 0
    best = np.int64(-INFINITE)
    raw, evaluation = np.int64(NO_EVALUATION), np.int64(NO_EVALUATION)
    # Standing pat: a side that may decline every capture has at least its evaluation.
    if not checked:
        note_likenesses(pos, thread, ply)
        raw = evaluate(pos, accumulators, network)
        if thread.nodes >= thread.sample_at:
            keep_sample(pos, thread, np.int64(QUIESCENCE))
        evaluation = correct(pos, thread, ply, raw)
        best = evaluation
        if best >= beta and not is_pv:
            return best if abs(best) > MATE_BOUND else (best + beta) // 2
    data = probe(thread.table, key)
    table_move, pv = np.int64(0), np.int64(0)
    if data != np.uint64(0):
        table_move, pv = data_move(data), data_pv(data)
        if table_move and not is_legal(pos, table_move):
            table_move = np.int64(0)
        bound = data_bound(data)
        if bound:
            table_score = data_score(data, ply)
            if not is_pv and settles(bound, table_score, alpha, beta):
                return table_score
            if not checked and abs(table_score) < MATE_BOUND and betters(bound, table_score, best):
                best = table_score
    if not checked and best >= beta:
        return (best + beta) // 2
    if not checked and data == np.uint64(0):
        move = find_mate_here(pos, thread, ply)
        if move:
            score = MATE - ply - 1
            store(thread.table, key, move, score, raw, np.int64(MAX_PLY), np.int64(EXACT), ply, pv)
            return score
    if best > alpha:
        alpha = best
    best_move = np.int64(0)
    tactical_only = np.int64(1)
    start_picking(pos, thread, ply, table_move, tactical_only)
    tried = np.int64(0)
    base = evaluation + thread.parameters.delta_margin
    last_target = np.int64(thread.played[ply - 1]) & 127 if thread.played[ply - 1] else np.int64(-1)
    while True:
        move = next_move(pos, thread, ply, tactical_only)
        if move == 0:
            break
        tried += 1
        if best > -MATE_BOUND:
            if not checked and move & 127 != last_target and not gives_check(pos, move):
                if tried > thread.parameters.quiescence_captures:
                    continue
                # Delta pruning: even the captured piece and a margin do not bring the score near alpha.
                if thread.steps & DELTA_PRUNING:
                    optimistic = base + capture_gain(pos, move)
                    if optimistic <= alpha:
                        best = max(best, optimistic)
                        continue
                    if not exchange_wins(pos, move, alpha - base):
                        best = max(best, min(alpha, base))
                        continue
            if checked and tried > thread.parameters.quiescence_evasions and not is_tactical(pos, move):
                continue
            if not exchange_wins(pos, move, -np.int64(thread.parameters.quiescence_exchange)):
                continue
        prefetch_cluster(thread.table, key_after(pos, move))
        thread.continuation[ply + 1] = move_row(pos, move)
        thread.played[ply] = move
        do_move(pos, move)
        count_node(thread)
        score = -quiesce(pos, thread, accumulators, network, ply + 1, -beta, -alpha)
        undo_move(pos, move)
        if thread.stop:
            return np.int64(0)
        if score > best:
            best = score
            if score > alpha:
                best_move = move
                alpha = score
                if is_pv:
                    copy_pv(thread, ply, move)
                if score >= beta:
                    break
    if checked and tried == 0:
        return np.int64(ply - MATE)
    if abs(best) < MATE_BOUND and best > beta:
        best = (best + beta) // 2
    bound = np.int64(LOWER if best >= beta else UPPER)
    store(thread.table, key, best_move, best, raw, np.int64(0), bound, ply, pv)
    return best
