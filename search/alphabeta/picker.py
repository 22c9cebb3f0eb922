"""Moves of a node in the order worth trying, made only as far as they are asked for.

1. the table's move   2. captures and pawn promotions that lose nothing, the most valuable victim and history first
3. killers and the counter move   4. quiet moves by history   5. captures that lose material
In check all evasions come at once. Most nodes end at stage 1 or 2, so their quiet moves are never generated.
State lies in the thread's record (`pick_...`), one entry a ply.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import CAPTURE_HISTORY, CONTINUATION_HISTORY, QUIET_HISTORY, REFUTATIONS
from search.alphabeta.see import EXCHANGE_VALUE, exchange_wins
from search.machine.jit import jit
from search.rules.movegen import QUIET, TACTICAL, generate, is_legal
from search.rules.position import in_check
from search.rules.shogi import DROP_ORIGIN, EMPTY, KINDS, PROMOTE, SQUARES

TABLE_MOVE, MAKE_TACTICAL, GOOD_TACTICAL, KNOWN_GOOD, MAKE_QUIET, QUIET_MOVES, BAD_TACTICAL = range(7)
EVASION_TABLE_MOVE, MAKE_EVASIONS, EVASIONS = 7, 8, 9
"""Stages, in order."""
_REFUTATION_COUNT = 3
TAKEN = -(1 << 62)
"""Key of a move that was handed out."""


@jit
def moved_piece(pos, move):
    """The piece that a move moves or drops, as it stands before promotion (int64)."""
    origin = (move >> 7) & 127
    if origin >= DROP_ORIGIN:
        return np.int64(pos.turn) * KINDS + origin - DROP_ORIGIN
    return np.int64(pos.board[origin])


@jit
def is_tactical(pos, move):
    """Whether the generator counts a move as tactical: it captures, or promotes a pawn."""
    if pos.board[move & 127] != EMPTY:
        return True
    return (move & PROMOTE) != 0 and pos.board[(move >> 7) & 127] % KINDS == 0


@jit
def start_picking(pos, thread, ply, table_move, tactical_only):
    """Prepare a node; the table's move (int64, 0: none) may be illegal here or anything at all."""
    if table_move and (not is_legal(pos, table_move) or (tactical_only and not is_tactical(pos, table_move))):
        table_move = np.int64(0)
    stage = EVASION_TABLE_MOVE if in_check(pos) else TABLE_MOVE
    thread.pick_stage[ply] = stage if table_move else stage + 1
    thread.pick_table_move[ply] = table_move
    thread.pick_cursor[ply] = 0
    thread.pick_count[ply] = 0
    thread.pick_bad[ply] = 0


@jit
def _score_tactical(pos, thread, ply, count):
    for index in range(count):
        move = np.int64(thread.moves[ply, index])
        taken = np.int64(pos.board[move & 127])
        kind = taken % KINDS if taken != EMPTY else KINDS
        value = EXCHANGE_VALUE[kind] if taken != EMPTY else 0
        if move & PROMOTE:
            value += 300
        history = np.int64(0)
        if thread.steps & CAPTURE_HISTORY:
            history = np.int64(thread.capture_history[moved_piece(pos, move), move & 127, kind])
        _rank(thread, ply, index, 8 * value + history // 4)


@jit
def quiet_history(pos, thread, ply, move):
    """Sum of the histories of a quiet move (int64)."""
    row = moved_piece(pos, move) * SQUARES + (move & 127)
    total = np.int64(0)
    if thread.steps & QUIET_HISTORY:
        total += thread.history[pos.turn, (move >> 7) & 127, move & 127]
    if thread.steps & CONTINUATION_HISTORY:
        total += thread.continuation_history[thread.continuation[ply], row]
        if ply > 0:
            total += thread.continuation_history[thread.continuation[ply - 1], row]
    return total


@jit
def _score_quiets(pos, thread, ply, count):
    if (thread.steps & QUIET_HISTORY) == 0 or (thread.steps & CONTINUATION_HISTORY) == 0:
        for index in range(count):
            _rank(thread, ply, index, quiet_history(pos, thread, ply, np.int64(thread.moves[ply, index])))
        return
    # `quiet_history` of every move, with what all moves share looked up once.
    history = thread.history[pos.turn]
    near = thread.continuation_history[thread.continuation[ply]]
    far = thread.continuation_history[thread.continuation[max(ply - 1, np.int64(0))]]
    moves, keys = thread.moves[ply], thread.keys[ply]
    for index in range(np.uint64(count)):
        move = np.int64(moves[index])
        row = moved_piece(pos, move) * SQUARES + (move & 127)
        score = np.int64(history[(move >> 7) & 127, move & 127]) + near[row]
        if ply > 0:
            score += far[row]
        keys[index] = score << 16 | index


@jit
def _score_evasions(pos, thread, ply, count):
    for index in range(count):
        move = np.int64(thread.moves[ply, index])
        taken = np.int64(pos.board[move & 127])
        if taken != EMPTY:
            moved = EXCHANGE_VALUE[moved_piece(pos, move) % KINDS]
            _rank(thread, ply, index, (1 << 20) + 16 * EXCHANGE_VALUE[taken % KINDS] - min(moved, np.int64(2000)))
        else:
            _rank(thread, ply, index, quiet_history(pos, thread, ply, move))


@jit
def _rank(thread, ply, index, score):
    """Note a move's score in its key: score above, index below, so that the largest key names the best move."""
    thread.keys[ply, index] = score << 16 | index


@jit
def _take_best(thread, ply):
    """The best move (int64) not taken yet and not the table's, and mark it taken; 0 if none is left.

    A scan for the largest key is one vector instruction for eight moves: cheaper than sorting what is never asked for.
    """
    keys, table_move = thread.keys[ply], np.int64(thread.pick_table_move[ply])
    count = np.uint64(thread.pick_count[ply])
    while True:
        best = np.int64(TAKEN)
        for index in range(np.uint64(0), count):  # unsigned: spares Numba's wraparound test
            best = max(best, keys[index])
        if best == TAKEN:
            return np.int64(0)
        index = best & 0xFFFF
        keys[index] = TAKEN
        move = np.int64(thread.moves[ply, index])
        if move != table_move:
            return move


@jit
def _refutation(pos, thread, ply, number):
    """Killer 0, killer 1 or the counter move, if it is a legal quiet move here and no repeat; else 0."""
    if number < 2:
        move = np.int64(thread.killers[ply, number])
    else:
        move = np.int64(thread.counter_moves[thread.continuation[ply]])
        if move == thread.killers[ply, 0] or move == thread.killers[ply, 1]:
            return np.int64(0)
    if move == 0 or move == thread.pick_table_move[ply] or not is_legal(pos, move) or is_tactical(pos, move):
        return np.int64(0)
    return move


@jit
def _was_refutation(thread, ply, move):
    return (thread.steps & REFUTATIONS) != 0 and (
        move == thread.killers[ply, 0]
        or move == thread.killers[ply, 1]
        or move == thread.counter_moves[thread.continuation[ply]]
    )


@jit
def skip_quiets(thread, ply):
    """Hand out no further quiet moves of the node; losing captures still follow. Not for nodes in check."""
    if thread.pick_stage[ply] >= KNOWN_GOOD and thread.pick_stage[ply] <= QUIET_MOVES:
        thread.pick_stage[ply] = BAD_TACTICAL
        thread.pick_cursor[ply] = 0


@jit
def next_move(pos, thread, ply, tactical_only):
    """The next move (int64) of the node, 0 when there are no more. All are legal.

    `tactical_only` (int64 flag) leaves out quiet moves and losing captures, except in check.
    """
    table_move = np.int64(thread.pick_table_move[ply])
    while True:
        stage = np.int64(thread.pick_stage[ply])
        if stage == TABLE_MOVE or stage == EVASION_TABLE_MOVE:
            thread.pick_stage[ply] = stage + 1
            return table_move
        if stage == MAKE_TACTICAL:
            count = generate(pos, thread.moves[ply], np.int64(0), np.int64(TACTICAL))
            _score_tactical(pos, thread, ply, count)
            thread.pick_count[ply] = count
            thread.pick_stage[ply] = GOOD_TACTICAL
        elif stage == GOOD_TACTICAL:
            move = _take_best(thread, ply)
            if move == 0:
                thread.pick_stage[ply] = KNOWN_GOOD
                if tactical_only:
                    return np.int64(0)
                continue
            if exchange_wins(pos, move, np.int64(0)):
                return move
            bad = np.int64(thread.pick_bad[ply])
            thread.bad_moves[ply, bad] = move
            thread.pick_bad[ply] = bad + 1
        elif stage == KNOWN_GOOD:
            number = np.int64(thread.pick_cursor[ply])
            if number == _REFUTATION_COUNT or thread.steps & REFUTATIONS == 0:
                thread.pick_stage[ply] = MAKE_QUIET
                continue
            thread.pick_cursor[ply] = number + 1
            move = _refutation(pos, thread, ply, number)
            if move:
                return move
        elif stage == MAKE_QUIET:
            count = generate(pos, thread.moves[ply], np.int64(0), np.int64(QUIET))
            _score_quiets(pos, thread, ply, count)
            thread.pick_count[ply] = count
            thread.pick_stage[ply] = QUIET_MOVES
        elif stage == QUIET_MOVES:
            move = _take_best(thread, ply)
            if move == 0:
                thread.pick_stage[ply] = BAD_TACTICAL
                thread.pick_cursor[ply] = 0
                continue
            if not _was_refutation(thread, ply, move):
                return move
        elif stage == BAD_TACTICAL:
            cursor = np.int64(thread.pick_cursor[ply])
            if cursor == thread.pick_bad[ply]:
                return np.int64(0)
            thread.pick_cursor[ply] = cursor + 1
            return np.int64(thread.bad_moves[ply, cursor])
        elif stage == MAKE_EVASIONS:
            count = generate(pos, thread.moves[ply], np.int64(0), np.int64(TACTICAL | QUIET))
            _score_evasions(pos, thread, ply, count)
            thread.pick_count[ply] = count
            thread.pick_stage[ply] = EVASIONS
        else:
            return _take_best(thread, ply)
