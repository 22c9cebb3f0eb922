"""The search: principal variation search with everything a modern shogi engine prunes and extends by.

The steps of a node are numbered in `search_node`. Scores are centipawns of the mover, fail-soft. Literature: the
techniques are those of Stockfish and YaneuraOu as their authors describe them; margins are this engine's own, in
centipawns of its own evaluation (a pawn is worth about 90), and lie in `search.alphabeta.parameters`, where games tune
them.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.game_end import PATH_SCORE_FREE, enter_node, find_mate_here
from search.alphabeta.history import correct, learn_correction, learn_quiet_cut, learn_tactical_cut
from search.alphabeta.mate_in_three import find_mate_in_three
from search.alphabeta.parameters import (
    CHECK_EXTENSION,
    EXCHANGE_PRUNING,
    FUTILITY,
    HISTORY_PRUNING,
    IMPROVING,
    INTERNAL_REDUCTION,
    LATE_MOVE_PRUNING,
    LATE_MOVE_REDUCTION,
    MATE_IN_ONE,
    MATE_IN_THREE,
    MULTI_CUT,
    NULL_MOVE,
    PROBCUT,
    RAZORING,
    REVERSE_FUTILITY,
    SINGULAR,
    TABLE_CUT,
)
from search.alphabeta.picker import is_tactical, moved_piece, next_move, quiet_history, skip_quiets, start_picking
from search.alphabeta.quiescence import quiesce
from search.alphabeta.sampling import MAIN, keep_sample
from search.alphabeta.see import exchange_wins
from search.alphabeta.thread import NO_CONTINUATION, copy_pv
from search.alphabeta.transposition import (
    EXACT,
    LOWER,
    NO_EVALUATION,
    UPPER,
    betters,
    data_bound,
    data_depth,
    data_evaluation,
    data_move,
    data_score,
    prefetch_cluster,
    probe,
    settles,
    store,
)
from search.evaluation.accumulator import bring_up, evaluate
from search.machine.jit import jit
from search.rules.position import do_move, do_null_move, gives_check, in_check, undo_move, undo_null_move
from search.rules.shogi import SQUARES
from search.score import INFINITE, MATE, MATE_BOUND, MAX_EVALUATION, MAX_PLY

NULL_MOVE_DEPTH, PROBCUT_DEPTH, SINGULAR_DEPTH, MATE_IN_THREE_DEPTH = 3, 5, 7, 6
TRIED_LIMIT = 64
"""Quiet and tactical moves that a cut remembers as tried in vain."""


@jit
def late_move_reduction(thread, depth, number):
    """Plies (int64) by which the move of this number at a node of this depth is to be searched less deeply."""
    return np.int64(thread.parameters.reductions[min(depth, np.int64(63)), min(number, np.int64(63))])


@jit
def play(pos, thread, ply, move):
    """Do a move of the tree: count it and remember it for the continuation histories."""
    thread.continuation[ply + 1] = moved_piece(pos, move) * SQUARES + (move & 127)
    do_move(pos, move)
    thread.nodes += 1
    if thread.node_limit and thread.nodes >= thread.node_limit:
        thread.stop = 1


@jit
def _static_evaluation(pos, thread, accumulators, network, ply, raw):
    """(raw evaluation, corrected evaluation, whether the mover's prospects improve) of a node not in check.

    The correction is how wrong the evaluation was in like positions; `raw` may be known already.
    """
    if raw == NO_EVALUATION:
        raw = evaluate(pos, accumulators, network)
        if thread.nodes >= thread.sample_at:
            keep_sample(pos, thread, np.int64(MAIN))
    static = correct(pos, thread, raw)
    improving = False
    if ply >= 2 and thread.steps & IMPROVING:
        before = np.int64(thread.evaluation[ply - 2])
        if before == NO_EVALUATION and ply >= 4:
            before = np.int64(thread.evaluation[ply - 4])
        improving = before == NO_EVALUATION or static > before
    return raw, static, improving


@jit
def _is_pruned(pos, thread, move, tactical, checked, checking, depth, left, history, static, alpha):
    """Whether a move of a shallow node is not worth playing; `left` is the depth that reductions would leave it."""
    steps, tuned = np.int64(thread.steps), thread.parameters
    if tactical:
        margin = np.int64(tuned.capture_exchange_margin) * depth
        return depth <= 7 and (steps & EXCHANGE_PRUNING) != 0 and not exchange_wins(pos, move, -margin)
    if depth <= 5 and not checking and steps & HISTORY_PRUNING and history < -tuned.history_pruning * depth:
        return True
    # Futility: the evaluation is too far below alpha for a quiet move to reach it.
    within_reach = static + tuned.futility_base + tuned.futility_margin * left + history // 128 > alpha
    if not checked and not checking and left <= 7 and steps & FUTILITY and not within_reach:
        return True
    margin = np.int64(tuned.quiet_exchange_margin) * left * left
    return left <= 8 and (steps & EXCHANGE_PRUNING) != 0 and not exchange_wins(pos, move, -margin)


@jit
def _reduced(thread, reduction, next_depth, improving, cut_node, is_pv, in_checks, tactical, history):
    """The depth (int64) that a late move is tried with: what speaks for it makes the table's reduction smaller."""
    if not improving:
        reduction += 1
    if cut_node:
        reduction += 1
    if is_pv:
        reduction -= 1
    if in_checks:
        reduction -= 1
    if tactical:
        reduction -= 1
    else:
        reduction -= (history * thread.parameters.reduction_history) >> 20
    return min(max(next_depth - max(reduction, np.int64(0)), np.int64(1)), next_depth)


@jit
def _keep(pos, thread, ply, depth, key, raw, best, best_move, bound):
    """Store a node's result, and learn from it how far the static evaluation was off."""
    store(thread.table, key, best_move, best, raw, depth, bound, ply)
    static = np.int64(thread.evaluation[ply])
    if (
        static != NO_EVALUATION
        and abs(best) < MATE_BOUND
        and not (best_move and is_tactical(pos, best_move))
        and betters(bound, best, static)
    ):
        learn_correction(pos, thread, depth, best - static)


@jit
def search_node(pos, thread, accumulators, network, ply, depth, alpha, beta, cut_node):
    """Score (int64) of a position searched to `depth`; all arguments after the records are int64.

    `cut_node` is 1 where a fail-high is expected, 0 elsewhere.
    """
    # 1. The horizon.
    if depth <= 0:
        return quiesce(pos, thread, accumulators, network, ply, np.int64(0), alpha, beta)

    # 2. Repetition, move limit and declaration end the line; mate distance narrows the window: a mate already found
    #    nearer to the root cannot be bettered here.
    score = enter_node(pos, thread, accumulators, network, ply)
    if score != PATH_SCORE_FREE:
        return score
    steps, tuned = np.int64(thread.steps), thread.parameters
    is_pv = beta - alpha > 1
    excluded = np.int64(thread.excluded[ply])
    checked = in_check(pos)
    alpha = max(alpha, ply - MATE)
    beta = min(beta, MATE - ply - 1)
    if alpha >= beta:
        return alpha

    # 3. Near the horizon the static evaluation comes first and the transposition table's entry from memory meanwhile,
    #    unless the mover's loss of a moment ago promises that step 4 will not want it. Elsewhere the entry comes first,
    #    as it may hold the evaluation.
    key = pos.key
    prunable = not checked and excluded == 0 and not is_pv and abs(beta) < MATE_BOUND
    shallow = prunable and depth <= 3 and (steps & REVERSE_FUTILITY) != 0
    before = np.int64(thread.evaluation[ply - 1])
    if not shallow or before == NO_EVALUATION or -before - tuned.reverse_futility_margin * depth < beta:
        prefetch_cluster(thread.table, key)
    data = np.uint64(0)
    if not shallow:
        if not checked:
            bring_up(pos, accumulators, network)
        data = probe(thread.table, key)

    # 4. Static evaluation, corrected by how wrong it was in like positions. Reverse futility: it may be so far above
    #    beta that the opponent's moves will not make up for it. Half of all nodes end here.
    raw_evaluation = data_evaluation(data) if data != np.uint64(0) else np.int64(NO_EVALUATION)
    static = np.int64(NO_EVALUATION)
    improving = False
    if not checked:
        raw_evaluation, static, improving = _static_evaluation(pos, thread, accumulators, network, ply, raw_evaluation)
    thread.evaluation[ply] = static
    reverse_margin = tuned.reverse_futility_margin * (depth - (1 if improving else 0))
    if shallow:
        if static - reverse_margin >= beta and abs(static) < MAX_EVALUATION:
            return static
        data = probe(thread.table, key)

    # 5. The transposition table: a result as deep as wanted ends the node; others better the estimate.
    table_move, table_score, table_depth, table_bound = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    estimate = static
    if data != np.uint64(0):
        table_move, table_score = data_move(data), data_score(data, ply)
        table_depth, table_bound = data_depth(data), data_bound(data)
        if (
            not is_pv
            and excluded == 0
            and table_depth >= depth
            and steps & TABLE_CUT
            and settles(table_bound, table_score, alpha, beta)
        ):
            return table_score
        if not checked and abs(table_score) < MATE_BOUND and betters(table_bound, table_score, static):
            estimate = table_score
    if (
        prunable
        and steps & REVERSE_FUTILITY
        and depth <= tuned.reverse_futility_depth
        and estimate - reverse_margin >= beta
        and abs(estimate) < MAX_EVALUATION
    ):
        return estimate
    thread.killers[ply + 1, 0] = 0
    thread.killers[ply + 1, 1] = 0

    # 6. Mate in one, and where the node is worth it in three: what a table entry would have told is not asked again.
    if not checked and excluded == 0 and data == np.uint64(0) and steps & MATE_IN_ONE:
        move = find_mate_here(pos, thread, ply)
        score = MATE - ply - 1
        if move == 0 and depth >= MATE_IN_THREE_DEPTH and steps & MATE_IN_THREE and ply + 3 < MAX_PLY:
            move = find_mate_in_three(pos, thread, ply)
            score = MATE - ply - 3
        if move:
            store(thread.table, key, move, score, raw_evaluation, np.int64(MAX_PLY), np.int64(EXACT), ply)
            return score

    if prunable:
        # 7. Razoring: far below alpha near the horizon, only tactics could help.
        if steps & RAZORING and depth <= 3 and estimate + tuned.razor_margin * depth <= alpha:
            score = quiesce(pos, thread, accumulators, network, ply, np.int64(0), alpha, alpha + 1)
            if score <= alpha or thread.stop:
                return score
        # 8. Null move: if even passing holds beta, a move will (shogi has hardly any zugzwang). At great depth the
        #    fail-high is verified by a search in which this side does not pass again.
        if (
            steps & NULL_MOVE
            and depth >= NULL_MOVE_DEPTH
            and estimate >= beta
            and thread.evaluation[ply] >= beta - 18 * depth + 150
            and thread.continuation[ply] != NO_CONTINUATION
            and ply >= thread.null_until
        ):
            reduction = np.int64(tuned.null_move_base) + depth // tuned.null_move_divisor
            reduction += min((estimate - beta) // tuned.null_move_gain, np.int64(3))
            thread.continuation[ply + 1] = NO_CONTINUATION
            do_null_move(pos)
            thread.nodes += 1
            score = -search_node(
                pos, thread, accumulators, network, ply + 1, depth - reduction, -beta, -beta + 1, 1 - cut_node
            )
            undo_null_move(pos)
            if thread.stop:
                return np.int64(0)
            if score >= beta:
                if score > MATE_BOUND:
                    score = beta
                if depth < 12 or thread.null_until:
                    return score
                thread.null_until = ply + 3 * (depth - reduction) // 4
                verified = search_node(
                    pos, thread, accumulators, network, ply, depth - reduction, beta - 1, beta, np.int64(0)
                )
                thread.null_until = 0
                if verified >= beta:
                    return score

    # 9. Internal iterative reduction: without a move from the table the node is not worth its full depth yet.
    if steps & INTERNAL_REDUCTION and depth >= 4 and table_move == 0 and (is_pv or cut_node):
        depth -= 1

    # 10. Probcut: a good capture that beats beta by a margin at reduced depth will beat beta at full depth.
    probcut_beta = beta + tuned.probcut_margin - (40 if improving else 0)
    if (
        not is_pv
        and not checked
        and excluded == 0
        and steps & PROBCUT
        and depth >= PROBCUT_DEPTH
        and abs(beta) < MATE_BOUND
        and not (table_bound != 0 and table_depth >= depth - 3 and table_score < probcut_beta)
    ):
        tactical_only = np.int64(1)
        start_picking(pos, thread, ply, table_move, tactical_only)
        while True:
            move = next_move(pos, thread, ply, tactical_only)
            if move == 0:
                break
            if not exchange_wins(pos, move, probcut_beta - thread.evaluation[ply]):
                continue
            play(pos, thread, ply, move)
            score = -quiesce(pos, thread, accumulators, network, ply + 1, np.int64(0), -probcut_beta, -probcut_beta + 1)
            if score >= probcut_beta and not thread.stop:
                score = -search_node(
                    pos,
                    thread,
                    accumulators,
                    network,
                    ply + 1,
                    depth - 4,
                    -probcut_beta,
                    -probcut_beta + 1,
                    1 - cut_node,
                )
            undo_move(pos, move)
            if thread.stop:
                return np.int64(0)
            if score >= probcut_beta:
                store(thread.table, key, move, score, raw_evaluation, depth - 3, np.int64(LOWER), ply)
                return score

    # 11. The moves.
    start_picking(pos, thread, ply, table_move, np.int64(0))
    best, best_move = np.int64(-INFINITE), np.int64(0)
    first_alpha = alpha
    number = np.int64(0)
    quiets, tacticals = np.int64(0), np.int64(0)
    while True:
        move = next_move(pos, thread, ply, np.int64(0))
        if move == 0:
            break
        if move == excluded:
            continue
        tactical = is_tactical(pos, move)
        checking = gives_check(pos, move)
        number += 1
        history = np.int64(0) if tactical else quiet_history(pos, thread, ply, move)
        reduction = late_move_reduction(thread, depth, number)

        # 12. Pruning at shallow depth, once some move is known not to lose at once.
        if best > -MATE_BOUND and ply > 0:
            # After so many quiet moves, the rest by history are not tried.
            if (
                not tactical
                and not checked
                and steps & LATE_MOVE_PRUNING
                and number >= (tuned.late_move_base + depth * depth) >> (0 if improving else 1)
            ):
                skip_quiets(thread, ply)
            left = max(depth - reduction, np.int64(0))
            if _is_pruned(pos, thread, move, tactical, checked, checking, depth, left, history, static, alpha):
                continue

        # 13. Extensions. Singular: if all other moves fail well below the table's score, this move is forced and looked
        #     at deeper; if instead another also beats beta, the node is cut (multi-cut).
        extension = np.int64(0)
        if (
            ply > 0
            and move == table_move
            and excluded == 0
            and depth >= SINGULAR_DEPTH
            and steps & SINGULAR
            and table_bound & LOWER
            and table_depth >= depth - 3
            and abs(table_score) < MATE_BOUND
            and ply < 2 * thread.root_depth
        ):
            singular_beta = table_score - tuned.singular_margin * depth // 8
            thread.excluded[ply] = move
            saved_stage, saved_table = np.int64(thread.pick_stage[ply]), np.int64(thread.pick_table_move[ply])
            score = search_node(
                pos, thread, accumulators, network, ply, (depth - 1) // 2, singular_beta - 1, singular_beta, cut_node
            )
            thread.excluded[ply] = 0
            if thread.stop:
                return np.int64(0)
            # The inner search used this ply's picker; the table's move is the first, so it begins again behind it.
            thread.pick_stage[ply], thread.pick_table_move[ply] = saved_stage, saved_table
            thread.pick_cursor[ply] = 0
            thread.pick_count[ply] = 0
            thread.pick_bad[ply] = 0
            if score < singular_beta:
                extension = np.int64(2 if not is_pv and score < singular_beta - tuned.double_extension else 1)
            elif singular_beta >= beta and steps & MULTI_CUT:
                return singular_beta
            elif table_score >= beta:
                extension = np.int64(-2)
            elif cut_node:
                extension = np.int64(-1)

        # Statistics of the ply are read after the inner search, which wrote the same fields.
        if tactical:
            if tacticals < TRIED_LIMIT:
                thread.tried_tactical[ply, tacticals] = move
                tacticals += 1
        elif quiets < TRIED_LIMIT:
            thread.tried_quiet[ply, quiets] = move
            quiets += 1
        play(pos, thread, ply, move)
        if checking and extension == 0 and steps & CHECK_EXTENSION and depth < 10 and ply < 2 * thread.root_depth:
            extension = np.int64(1)
        next_depth = depth - 1 + extension

        # 14. Late-move reductions: search late moves less deeply, and again if one surprises.
        reduced, late_cut = next_depth, 1 - cut_node
        if (
            depth >= 2
            and steps & LATE_MOVE_REDUCTION
            and number > 1 + (1 if is_pv else 0)
            and not (tactical and number < 4)
        ):
            late_cut = np.int64(1)
            reduced = _reduced(
                thread, reduction, next_depth, improving, cut_node, is_pv, checking or checked, tactical, history
            )
        if not is_pv or number > 1:
            score = -search_node(pos, thread, accumulators, network, ply + 1, reduced, -alpha - 1, -alpha, late_cut)
            if score > alpha and reduced < next_depth and not thread.stop:
                score = -search_node(
                    pos, thread, accumulators, network, ply + 1, next_depth, -alpha - 1, -alpha, 1 - cut_node
                )
        # 15. The first move of a PV node, and any that beats alpha there, get the full window.
        if is_pv and (number == 1 or score > alpha) and not thread.stop:
            score = -search_node(pos, thread, accumulators, network, ply + 1, next_depth, -beta, -alpha, np.int64(0))
        undo_move(pos, move)
        if thread.stop:
            return np.int64(0)

        # 16. A better move.
        if score > best:
            best = score
            if score > alpha:
                best_move = move
                if is_pv:
                    copy_pv(thread, ply, move)
                if score >= beta:
                    break
                alpha = score

    # 17. No move at all: mate (there is no stalemate in shogi; a side that cannot move has lost).
    if number == 0:
        return alpha if excluded else np.int64(ply - MATE)
    if best == -INFINITE:
        best = first_alpha  # every move was pruned

    # 18. Learn from a cut, correct the evaluation, and keep the result.
    if best >= beta:
        if is_tactical(pos, best_move):
            learn_tactical_cut(pos, thread, ply, depth, best_move, tacticals)
        else:
            learn_quiet_cut(pos, thread, ply, depth, best_move, quiets, tacticals)
    if excluded == 0:
        bound = np.int64(LOWER if best >= beta else EXACT if is_pv and best > first_alpha else UPPER)
        _keep(pos, thread, ply, depth, key, raw_evaluation, best, best_move, bound)
    return best
