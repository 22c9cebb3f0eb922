"""Statistics of moves learnt during the search: which cut, which were tried in vain, which improve the evaluation.

Statistics are int16. Each update moves them toward their limit by a share of the distance, so that they never overflow
and forget slowly (Stockfish's "history gravity"). A quiet move has statistics by its squares, by piece and square after
each of the moves 1, 2, 3, 4 and 6 plies before (continuation history), by the pawn structure, and near the root by ply.
Ideas and proportions are those of Stockfish and YaneuraOu.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.moves import is_tactical, move_row, taken_kind
from search.alphabeta.thread import LOW_PLIES, NO_CONTINUATION, PAWN_STRUCTURES
from search.compiling.jit import jit
from search.rules.position import PAWNS
from search.rules.shogi import KINDS, PAWN, SQUARES

QUIET_LIMIT, PAWN_LIMIT, CONTINUATION_LIMIT, CAPTURE_LIMIT, TABLE_MOVE_LIMIT = 7200, 8192, 30000, 10700, 8192


@jit
def reward(value, bonus, limit):
    """Return an int16 statistic after a bonus or malus, which moves it toward its limit."""
    bonus = min(max(np.int64(bonus), -limit), limit)
    return np.int64(value) + bonus - np.int64(value) * abs(bonus) // limit


@jit
def pawn_structure(pos):
    """Row (int64) of the pawn history; positions with the same pawns share it."""
    return np.int64(pos.part_keys[pos.ply, PAWNS]) & (PAWN_STRUCTURES - 1)


@jit
def row_before(thread, ply, back):
    """Row (int64) of the continuation history for the move `back` plies before the node's own."""
    return np.int64(thread.continuation[max(ply + 1 - back, np.int64(0))])


@jit
def capture_history(pos, thread, move):
    """History (int64) of a tactical move."""
    row = move_row(pos, move)
    return np.int64(thread.capture_history[row // SQUARES, row % SQUARES, taken_kind(pos, move)])


@jit
def _learn_capture(thread, row, kind, bonus):
    piece, target = row // SQUARES, row % SQUARES
    value = thread.capture_history[piece, target, kind]
    thread.capture_history[piece, target, kind] = reward(value, bonus, np.int64(CAPTURE_LIMIT))


@jit
def learn_continuation(thread, ply, row, bonus):
    """Update the continuation history of a move at `ply`, given by the `row` of its piece and target, after earlier
    moves.

    After the directly preceding move it also gets a constant for being searched.
    """
    tuned = thread.parameters
    for back in range(1, 7):
        if (back > 2 and thread.checked[ply]) or ply < back:
            break
        before = row_before(thread, ply, back)
        if before != NO_CONTINUATION:
            share = bonus * tuned.continuation_shares[back] // 1024 + (tuned.continuation_always if back == 1 else 0)
            value = thread.continuation_history[before, row]
            thread.continuation_history[before, row] = reward(value, share, np.int64(CONTINUATION_LIMIT))


@jit
def _learn_squares(thread, colour, move, bonus):
    target, origin = move & 127, (move >> 7) & 127
    value = thread.history[colour, origin, target]
    thread.history[colour, origin, target] = reward(value, bonus, np.int64(QUIET_LIMIT))


@jit
def _learn_pawns(pos, thread, row, bonus):
    structure = pawn_structure(pos)
    value = thread.pawn_history[structure, row]
    thread.pawn_history[structure, row] = reward(value, bonus, np.int64(PAWN_LIMIT))


@jit
def learn_quiet(pos, thread, ply, move, bonus):
    """Update all statistics of a quiet move of the node by a bonus or malus."""
    tuned = thread.parameters
    target, origin = move & 127, (move >> 7) & 127
    _learn_squares(thread, np.int64(pos.turn), move, bonus)
    if ply < LOW_PLIES:
        value = thread.low_ply_history[ply, origin, target]
        near = bonus * tuned.low_ply_share // 1024
        thread.low_ply_history[ply, origin, target] = reward(value, near, np.int64(QUIET_LIMIT))
    row = move_row(pos, move)
    learn_continuation(thread, ply, row, bonus * tuned.continuation_share // 1024)
    _learn_pawns(pos, thread, row, bonus * (tuned.pawn_share_gain if bonus > 0 else tuned.pawn_share_loss) // 1024)


@jit
def learn_best(pos, thread, ply, depth, best_move, table_move, quiets, tacticals):
    """Reward the best move of a node and penalise the moves tried before it (counts of the node's lists)."""
    tuned = thread.parameters
    bonus = min(tuned.best_slope * depth - 77, np.int64(tuned.best_most))
    bonus += tuned.best_table_move if best_move == table_move else 0
    bonus += np.int64(thread.statistic[ply - 1]) // 32
    malus = min(tuned.malus_slope * depth - 204, np.int64(tuned.malus_most))
    if is_tactical(pos, best_move):
        gain = bonus * tuned.capture_gain_share // 1024
        _learn_capture(thread, move_row(pos, best_move), taken_kind(pos, best_move), gain)
    else:
        learn_quiet(pos, thread, ply, best_move, bonus * tuned.history_bonus // 1024)
        less = malus * tuned.history_malus // 1024
        for index in range(quiets):
            move = np.int64(thread.tried_quiet[ply, index])
            less = less * tuned.malus_fade // 1024  # late moves were expected to fail anyway
            if move != best_move:
                learn_quiet(pos, thread, ply, move, -less)
    for index in range(tacticals):
        move = np.int64(thread.tried_tactical[ply, index])
        if move != best_move:
            loss = -malus * tuned.capture_loss_share // 1024
            _learn_capture(thread, move_row(pos, move), taken_kind(pos, move), loss)
    # The opponent's first quiet move is refuted.
    if led_here_quietly(thread, ply) and thread.move_count[ply - 1] == 1 + thread.table_hit[ply - 1]:
        learn_continuation(thread, ply - 1, np.int64(thread.continuation[ply]), -malus * tuned.refuted_first // 1024)


@jit
def led_here_quietly(thread, ply):
    """Whether a move without a capture, not a null move, led to the node."""
    return thread.played[ply - 1] != 0 and thread.taken[ply - 1] == 0


@jit
def learn_unanswered(pos, thread, ply, depth, best):
    """Reward the move that led to a node where nothing reached alpha."""
    before = np.int64(thread.played[ply - 1])
    if before == 0 or ply < 2:
        return
    tuned = thread.parameters
    row = np.int64(thread.continuation[ply])
    if thread.taken[ply - 1]:
        _learn_capture(thread, row, np.int64(thread.taken[ply - 1]) - 1, np.int64(tuned.unanswered_capture))
        return
    scale = min(59 * depth, np.int64(454)) - np.int64(thread.statistic[ply - 1]) // 108 - tuned.unanswered_base
    if thread.move_count[ply - 1] > 8:
        scale += 169
    if not thread.checked[ply] and best <= thread.evaluation[ply] - 110:
        scale += 145
    if not thread.checked[ply - 1] and best <= -thread.evaluation[ply - 1] - 73:
        scale += 154
    bonus = min(135 * depth - 80, np.int64(1400)) * max(scale, np.int64(0))
    learn_continuation(thread, ply - 1, row, bonus * tuned.unanswered_continuation // 16384)
    _learn_squares(thread, 1 - np.int64(pos.turn), before, bonus * tuned.unanswered_main // 32768)
    if (row // SQUARES) % KINDS != PAWN:
        _learn_pawns(pos, thread, row, bonus * tuned.unanswered_pawn // 8192)


@jit
def learn_table_move(thread, bonus):
    """Update how often table moves prove best."""
    value = thread.table_move_history
    thread.table_move_history = reward(value, bonus, np.int64(TABLE_MOVE_LIMIT))


@jit
def learn_table_cut(pos, thread, ply, depth, move):
    """Reward a move by which the table's result cut the node."""
    tuned = thread.parameters
    if not is_tactical(pos, move):
        learn_quiet(pos, thread, ply, move, min(tuned.table_cut_bonus * depth - 71, np.int64(1043)))
    if led_here_quietly(thread, ply) and thread.move_count[ply - 1] <= 4:
        learn_continuation(thread, ply - 1, np.int64(thread.continuation[ply]), -np.int64(tuned.table_cut_malus))
