"""Principal variation search with the pruning, reductions and extensions of a modern shogi engine.

The steps of a node are numbered in `search_node`. Scores are centipawns of the side to move, fail-soft; a pawn counts
about 90. The techniques and most of their proportions are those of Stockfish and YaneuraOu. Numbers in
`search.alphabeta.parameters` are tuned by games.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.correction import note_likenesses
from search.alphabeta.forward_pruning import KEPT, UNKNOWN, enough_moves, prune_quiet, prune_tactical
from search.alphabeta.game_end import PATH_SCORE_FREE, enter_node
from search.alphabeta.history import (
    learn_best,
    learn_continuation,
    learn_table_cut,
    learn_table_move,
    learn_unanswered,
)
from search.alphabeta.moves import is_tactical, move_row, taken_kind
from search.alphabeta.node import extension_of_singular, find_mate, keep_result, stands_above, static_evaluation
from search.alphabeta.parameters import (
    INTERNAL_REDUCTION,
    LATE_MOVE_REDUCTION,
    MULTI_CUT,
    NULL_MOVE,
    PROBCUT,
    RAZORING,
    SINGULAR,
    TABLE_CUT,
)
from search.alphabeta.picker import next_move, skip_quiets, start_picking
from search.alphabeta.quiescence import quiesce
from search.alphabeta.reductions import (
    late_move_reduction,
    may_grow,
    move_statistic,
    reduced_depth,
    weigh_move,
)
from search.alphabeta.see import exchange_wins
from search.alphabeta.thread import NO_CONTINUATION, copy_pv, count_node
from search.alphabeta.transposition import (
    EXACT,
    LOWER,
    NO_BOUND,
    NO_EVALUATION,
    UPPER,
    betters,
    data_bound,
    data_depth,
    data_evaluation,
    data_move,
    data_pv,
    data_score,
    prefetch_cluster,
    probe,
    settles,
    store,
)
from search.compiling.jit import jit
from search.evaluation.accumulator import bring_up
from search.rules.movegen import is_legal
from search.rules.position import do_move, do_null_move, gives_check, in_check, key_after, undo_move, undo_null_move
from search.rules.shogi import KINDS
from search.score import INFINITE, MATE, MATE_BOUND, MAX_PLY

REDUCTION_DEPTH = 2
"""Least depth at which a move is reduced."""
TRIED_LIMIT = 64
"""Most quiet and most tactical moves that are remembered as tried before a cut."""


@jit
def play(pos, thread, ply, move):
    """Play a move of the tree: count it and record it for the histories."""
    prefetch_cluster(thread.table, key_after(pos, move))
    kind = taken_kind(pos, move)
    thread.played[ply] = move
    thread.taken[ply] = kind + 1 if kind < KINDS else 0
    thread.continuation[ply + 1] = move_row(pos, move)
    do_move(pos, move)
    count_node(thread)


@jit
def play_nothing(pos, thread, ply):
    """Play a null move of the tree."""
    thread.played[ply] = thread.taken[ply] = 0
    thread.continuation[ply + 1] = NO_CONTINUATION
    do_null_move(pos)
    prefetch_cluster(thread.table, pos.key)
    count_node(thread)


@jit
def search_node(pos, thread, accumulators, network, ply, depth, alpha, beta, cut_node):
    """Search a position to `depth` and return its score (int64); all arguments after the records are int64.

    `cut_node` is 1 where a fail-high is expected, else 0.
    """
    # 1. Horizon: continue with quiescence.
    if depth <= 0:
        return quiesce(pos, thread, accumulators, network, ply, alpha, beta)

    # 2. Repetition, the move limit and declarations end the line. Mate distance pruning narrows the window: a mate
    #    found nearer to the root cannot be improved here.
    score = enter_node(pos, thread, accumulators, network, ply)
    if score != PATH_SCORE_FREE:
        return score
    alpha = max(alpha, ply - MATE)
    beta = min(beta, MATE - ply - 1)
    if alpha >= beta:
        return alpha
    steps, tuned = np.int64(thread.steps), thread.parameters
    is_pv = beta - alpha > 1
    all_node = not is_pv and not cut_node
    excluded = np.int64(thread.excluded[ply])
    checked = in_check(pos)
    depth = min(depth, np.int64(MAX_PLY - 1))
    saved_plies = np.int64(thread.reduction[ply - 1])
    thread.reduction[ply - 1] = 0
    thread.statistic[ply] = 0
    thread.move_count[ply] = 0
    thread.cut_count[ply + 2] = 0
    thread.checked[ply] = checked

    # 3. Transposition table: a result of sufficient depth ends the node; other results improve the estimate below.
    key = pos.key
    if not checked:
        note_likenesses(pos, thread, ply)
        bring_up(pos, accumulators, network)
    data = probe(thread.table, key)
    hit = data != np.uint64(0)
    thread.table_hit[ply] = hit
    table_move, table_score, table_depth, table_bound = np.int64(0), np.int64(0), np.int64(0), np.int64(NO_BOUND)
    raw_evaluation = np.int64(NO_EVALUATION)
    if hit:
        table_move, table_score = data_move(data), data_score(data, ply)
        table_depth, table_bound = data_depth(data), data_bound(data)
        raw_evaluation = data_evaluation(data)
        if table_move and not is_legal(pos, table_move):
            table_move = np.int64(0)
    if excluded == 0:
        thread.table_pv[ply] = is_pv or (hit and data_pv(data) != 0)
    table_tactical = table_move != 0 and is_tactical(pos, table_move)
    if (
        not is_pv
        and excluded == 0
        and table_bound != NO_BOUND
        and table_depth > depth - (1 if table_score <= beta else 0)
        and steps & TABLE_CUT
        and settles(table_bound, table_score, alpha, beta)
        and ((cut_node != 0) == (table_score >= beta) or depth > tuned.table_cut_depth)
    ):
        if table_move and table_score >= beta:
            learn_table_cut(pos, thread, ply, depth, table_move)
        return table_score

    improving = False
    # The evaluation two plies before. After a root move only the opponent's at the root is known.
    static = np.int64(thread.evaluation[ply - 2] if ply > 1 else -thread.evaluation[0])
    if checked:
        thread.evaluation[ply] = static
        thread.correction_value[ply] = 0
    else:
        # 4. Static evaluation, corrected by its errors in similar positions.
        improving = ply < 2
        two_before = static
        raw_evaluation, static = static_evaluation(pos, thread, accumulators, network, ply, raw_evaluation, hit)
        estimate = static
        if table_bound != NO_BOUND and betters(table_bound, table_score, static):
            estimate = table_score
        improving = improving or static > two_before
        worsening = static > -np.int64(thread.evaluation[ply - 1])

        # 5. Reverse futility pruning. A quiet table move says that there is something to search for.
        if (table_move == 0 or table_tactical) and stands_above(
            thread, ply, depth, estimate, beta, hit, improving, worsening
        ):
            return (2 * beta + estimate) // 3

        # 6. Mate in one, and at sufficient depth mate in three.
        if excluded == 0:
            score, move = find_mate(pos, thread, ply, depth, hit, table_depth)
            if move:
                on_pv = np.int64(thread.table_pv[ply])
                store(thread.table, key, move, score, raw_evaluation, np.int64(MAX_PLY), np.int64(EXACT), ply, on_pv)
                return score

        # 7. Razoring: far below alpha only tactical moves could help.
        if not is_pv and steps & RAZORING and estimate < alpha - tuned.razor_base - tuned.razor_margin * depth * depth:
            return quiesce(pos, thread, accumulators, network, ply, alpha, beta)

        # 8. Null move: if even passing holds beta, a move will (shogi has hardly any zugzwang). At great depth the
        #    fail-high is verified by a search in which this side does not pass again.
        margin = (
            tuned.null_move_margin - tuned.null_move_depth * depth - (tuned.null_move_improving if improving else 0)
        )
        if (
            cut_node
            and steps & NULL_MOVE
            and excluded == 0
            and static >= beta + margin
            and ply >= thread.null_until
            and beta > -MATE_BOUND
            and thread.played[ply - 1] != 0
        ):
            less = depth - (np.int64(tuned.null_move_base) + depth // tuned.null_move_divisor)
            play_nothing(pos, thread, ply)
            score = -search_node(pos, thread, accumulators, network, ply + 1, less, -beta, -beta + 1, np.int64(0))
            undo_null_move(pos)
            if thread.stop:
                return np.int64(0)
            if score >= beta and score < MATE_BOUND:
                if thread.null_until or depth < 16:
                    return score
                thread.null_until = ply + 3 * less // 4
                verified = search_node(pos, thread, accumulators, network, ply, less, beta - 1, beta, np.int64(0))
                thread.null_until = 0
                if verified >= beta:
                    return score
        improving = improving or static >= beta

        # 9. Internal iterative reduction: without a table move the node does not deserve its full depth yet.
        if (
            steps & INTERNAL_REDUCTION
            and depth >= tuned.internal_depth
            and not all_node
            and table_move == 0
            and saved_plies <= 3
        ):
            depth -= 1

        # 10. Probcut: a good capture that exceeds beta by a margin at reduced depth will exceed beta at full depth.
        probcut_beta = beta + tuned.probcut_margin - (tuned.probcut_improving if improving else 0)
        if (
            depth >= tuned.probcut_depth
            and steps & PROBCUT
            and abs(beta) < MATE_BOUND
            and not (table_bound != NO_BOUND and table_score < probcut_beta)
        ):
            tactical_only = np.int64(1)
            start_picking(pos, thread, ply, table_move, tactical_only)
            while True:
                move = next_move(pos, thread, ply, tactical_only)
                if move == 0:
                    break
                if move == excluded or not exchange_wins(pos, move, probcut_beta - static):
                    continue
                play(pos, thread, ply, move)
                low, high = -probcut_beta, -probcut_beta + 1
                score = -quiesce(pos, thread, accumulators, network, ply + 1, low, high)
                if score >= probcut_beta and depth > 4 and not thread.stop:
                    score = -search_node(
                        pos, thread, accumulators, network, ply + 1, depth - 4, low, high, 1 - cut_node
                    )
                undo_move(pos, move)
                if thread.stop:
                    return np.int64(0)
                if score >= probcut_beta:
                    on_pv = np.int64(thread.table_pv[ply])
                    store(thread.table, key, move, score, raw_evaluation, depth - 3, np.int64(LOWER), ply, on_pv)
                    if abs(score) < MATE_BOUND:
                        return score - (probcut_beta - beta)

    # 11. A table entry slightly too shallow whose score is far above beta.
    if (
        table_bound & LOWER
        and excluded == 0
        and table_depth >= depth - 4
        and table_score >= beta + tuned.table_cut_margin
        and abs(beta) < MATE_BOUND
        and abs(table_score) < MATE_BOUND
    ):
        return np.int64(beta + tuned.table_cut_margin)

    # 12. Loop over the moves.
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
        thread.move_count[ply] = number
        next_depth = depth - 1
        on_pv = thread.table_pv[ply] != 0
        reduction = late_move_reduction(thread, depth, number, beta - alpha, improving, on_pv)

        # 13. Pruning, once some move is known not to lose at once.
        if best > -MATE_BOUND:
            if enough_moves(thread, depth, number, improving):
                skip_quiets(thread, ply)
            left = next_depth - (reduction >> 10)
            if tactical or checking:
                if prune_tactical(pos, thread, move, tactical, checking, checked, depth, left, static, alpha):
                    continue
            else:
                promise = prune_quiet(pos, thread, ply, move, checked, depth, left, static, alpha, best_move != 0)
                if promise != KEPT:
                    if promise != UNKNOWN and promise > best and promise < MATE_BOUND:
                        best = promise
                    continue

        # 14. Extensions. Singular: if all other moves fail well below the table's score, this move is forced and
        #     searched deeper. If instead another move also exceeds beta, the node is cut (multi-cut).
        extension = np.int64(0)
        if (
            move == table_move
            and excluded == 0
            and depth >= tuned.singular_depth + (1 if on_pv else 0)
            and steps & SINGULAR
            and table_bound & LOWER
            and table_depth >= depth - 3
            and abs(table_score) < MATE_BOUND
            and ply < 2 * thread.root_depth
        ):
            margin = np.int64(tuned.singular_margin) + (tuned.singular_was_pv if on_pv and not is_pv else 0)
            singular_beta = table_score - margin * depth // 55
            thread.excluded[ply] = move
            others = next_depth * tuned.singular_search // 16
            score = search_node(
                pos, thread, accumulators, network, ply, others, singular_beta - 1, singular_beta, cut_node
            )
            thread.excluded[ply] = 0
            if thread.stop:
                return np.int64(0)
            # The inner search used this ply's fields. The table move comes first, so picking restarts after it.
            start_picking(pos, thread, ply, table_move, np.int64(0))
            thread.pick_stage[ply] += 1
            thread.move_count[ply] = number
            if score < singular_beta:
                extension = extension_of_singular(thread, ply, singular_beta - score, is_pv, on_pv, table_tactical)
                depth += 1
            elif score >= beta and abs(score) < MATE_BOUND and steps & MULTI_CUT:
                learn_table_move(thread, max(-424 - 107 * depth, np.int64(-3375)))
                return score
            elif table_score >= beta:
                extension = -np.int64(tuned.singular_above)
            elif cut_node:
                extension = -np.int64(tuned.singular_cut_node)

        if tactical:
            if tacticals < TRIED_LIMIT:
                thread.tried_tactical[ply, tacticals] = move
                tacticals += 1
        elif quiets < TRIED_LIMIT:
            thread.tried_quiet[ply, quiets] = move
            quiets += 1
        thread.statistic[ply] = move_statistic(pos, thread, ply, move, tactical)
        row = move_row(pos, move)
        play(pos, thread, ply, move)
        next_depth += extension

        # 15. Late-move reductions: search late moves to a reduced depth, and again if one exceeds alpha.
        reduction = weigh_move(thread, ply, reduction, number, is_pv, cut_node)
        if on_pv and table_bound != NO_BOUND:
            reduction -= tuned.reduction_table_above if table_score > alpha else 0
            if table_depth >= depth:
                reduction -= tuned.reduction_table_deep + (tuned.reduction_table_deep_cut if cut_node else 0)
        if cut_node and table_move == 0:
            reduction += tuned.reduction_no_table_move
        if table_tactical:
            reduction += tuned.reduction_table_tactical
        if move == table_move:
            reduction -= tuned.reduction_table_move
        if all_node:
            reduction += reduction * tuned.reduction_all_node // (256 * depth + 260)
        score = np.int64(0)
        if depth >= REDUCTION_DEPTH and number > 1 and steps & LATE_MOVE_REDUCTION:
            reduced = reduced_depth(thread, reduction, next_depth, is_pv)
            thread.reduction[ply] = next_depth - reduced
            score = -search_node(pos, thread, accumulators, network, ply + 1, reduced, -alpha - 1, -alpha, np.int64(1))
            thread.reduction[ply] = 0
            if score > alpha and not thread.stop:
                deeper = reduced < next_depth and score > best + tuned.deeper_margin and may_grow(thread)
                next_depth += 1 if deeper else 0
                next_depth -= 1 if score < best + tuned.shallower_margin else 0
                if next_depth > reduced:
                    score = -search_node(
                        pos, thread, accumulators, network, ply + 1, next_depth, -alpha - 1, -alpha, 1 - cut_node
                    )
                if not thread.stop:
                    learn_continuation(thread, ply, row, np.int64(tuned.surprise_bonus))
        elif not is_pv or number > 1:
            if table_move == 0:
                reduction += tuned.reduction_first
            less = 1 if reduction > tuned.one_ply_less else 0
            less += 1 if reduction > tuned.two_plies_less and next_depth > 2 else 0
            score = -search_node(
                pos, thread, accumulators, network, ply + 1, next_depth - less, -alpha - 1, -alpha, 1 - cut_node
            )
        # 16. The first move of a PV node, and any move there that exceeds alpha, gets the full window.
        if is_pv and (number == 1 or score > alpha) and not thread.stop:
            if move == table_move and table_bound != NO_BOUND and table_depth > 1:
                next_depth = max(next_depth, np.int64(1))
            score = -search_node(pos, thread, accumulators, network, ply + 1, next_depth, -beta, -alpha, np.int64(0))
        undo_move(pos, move)
        if thread.stop:
            return np.int64(0)

        # 17. A better move; the moves after it need less depth.
        if score > best:
            best = score
            if score > alpha:
                best_move = move
                if is_pv:
                    copy_pv(thread, ply, move)
                if score >= beta:
                    if extension < 2 or is_pv:
                        thread.cut_count[ply] += 1
                    break
                alpha = score
                if depth > 2 and depth < tuned.better_depth and abs(score) < MATE_BOUND:
                    depth -= tuned.better_reduction

    # 18. No legal move: mate (shogi has no stalemate; a side that cannot move has lost).
    if number == 0:
        return alpha if excluded else np.int64(ply - MATE)
    # The fail-high of a shallow search exaggerates.
    if best >= beta and abs(best) < MATE_BOUND and abs(alpha) < MATE_BOUND:
        best = (best * depth + beta) // (depth + 1)

    # 19. Update the histories, correct the evaluation, and store the result.
    if best_move:
        learn_best(pos, thread, ply, depth, best_move, table_move, quiets, tacticals)
        if not is_pv:
            learn_table_move(thread, np.int64(805 if best_move == table_move else -787))
    else:
        learn_unanswered(pos, thread, ply, depth, best)
    if best <= first_alpha and thread.table_pv[ply - 1]:
        thread.table_pv[ply] = 1
    if excluded == 0:
        bound = np.int64(LOWER if best >= beta else EXACT if is_pv and best_move else UPPER)
        keep_result(pos, thread, ply, depth, raw_evaluation, best, best_move, bound)
    return best
