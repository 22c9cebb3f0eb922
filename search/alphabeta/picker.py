"""Moves of a node, the most promising first, generated only as far as they are needed.

1. the table move   2. captures and pawn promotions that lose nothing, most valuable victim and history first
3. quiet moves by history, with a premium for safe checks   4. captures that lose material
5. quiet moves with a bad history

In check all evasions come at once. Most nodes end at stage 1 or 2, so that their quiet moves are never generated. The
state is in the thread's record (`pick_...`), one entry per ply.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.history import capture_history, pawn_structure, row_before
from search.alphabeta.moves import is_tactical, move_row, taken_value
from search.alphabeta.parameters import QUIET_CHECKS
from search.alphabeta.see import EXCHANGE_VALUE, exchange_wins
from search.alphabeta.thread import LOW_PLIES
from search.compiling.jit import jit
from search.primitives.lanes import LANES, add_rows, fill_block, largest
from search.rules.bitboard import BIT, NONE
from search.rules.checks import write_check_squares
from search.rules.movegen import KING_UNTESTED, QUIET, TACTICAL, generate, king_may_go
from search.rules.position import in_check
from search.rules.shogi import DROP_ORIGIN, EMPTY, KINDS, PROMOTE, PROMOTION, SQUARES

TABLE_MOVE, MAKE_TACTICAL, GOOD_TACTICAL, MAKE_QUIET, QUIET_MOVES, BAD_TACTICAL, BAD_QUIETS = range(7)
EVASION_TABLE_MOVE, MAKE_EVASIONS, EVASIONS = 7, 8, 9
"""Stages, in order."""
TAKEN = -(1 << 31)
"""Key of a move already returned, and of the entries after the last move."""
INDEX_BITS, INDEX = 10, 1023
"""A key (int32) is a move's score and, in the low bits, its index in the list."""
EVASION_CAPTURE = 1 << 19
"""Scores from here on are evasions that capture."""


@jit
def start_picking(pos, thread, ply, table_move, tactical_only):
    """Prepare a node; `table_move` (int64, 0 means none) is legal here."""
    if tactical_only and table_move and not is_tactical(pos, table_move):
        table_move = np.int64(0)
    stage = EVASION_TABLE_MOVE if in_check(pos) else TABLE_MOVE
    thread.pick_stage[ply] = stage if table_move else stage + 1
    thread.pick_table_move[ply] = table_move
    thread.pick_cursor[ply] = 0
    thread.pick_count[ply] = 0
    thread.pick_bad[ply] = 0
    thread.pick_skip[ply] = 0


@jit
def _score_tactical(pos, thread, ply, count):
    tuned = thread.parameters
    for index in range(count):
        move = np.int64(thread.moves[ply, index])
        value = taken_value(pos, move) + (tuned.promotion_value if move & PROMOTE else 0)
        _rank(thread, ply, index, tuned.capture_value * value // 4 + capture_history(pos, thread, move))


@jit
def _score_quiets(pos, thread, ply, count):
    history = thread.history[pos.turn]
    pawns = thread.pawn_history[pawn_structure(pos)]
    one = thread.continuation_history[row_before(thread, ply, 1)]
    two = thread.continuation_history[row_before(thread, ply, 2)]
    three = thread.continuation_history[row_before(thread, ply, 3)]
    four = thread.continuation_history[row_before(thread, ply, 4)]
    six = thread.continuation_history[row_before(thread, ply, 6)]
    moves, keys, checks = thread.moves[ply], thread.keys[ply], thread.check_squares
    write_check_squares(pos, checks)
    premium = np.int64(thread.parameters.check_premium) if thread.steps & QUIET_CHECKS else 0
    first_piece = (np.int64(pos.turn) & 1) * KINDS
    drops = thread.drop_scores
    scored = np.int64(-1)  # the drops of a kind are adjacent and scored together
    for index in range(np.uint64(count)):
        move = np.int64(moves[index])
        target, origin = move & 127, (move >> 7) & 127
        if origin >= DROP_ORIGIN:
            kind = origin - DROP_ORIGIN
            if kind != scored:
                scored = kind
                first = np.uint64(2 * (first_piece + kind) * SQUARES)
                add_rows(
                    np.uint64(drops.ctypes.data),
                    np.uint64(history[origin].ctypes.data),
                    np.uint64(pawns.ctypes.data) + first,
                    np.uint64(one.ctypes.data) + first,
                    np.uint64(two.ctypes.data) + first,
                    np.uint64(three.ctypes.data) + first,
                    np.uint64(four.ctypes.data) + first,
                    np.uint64(six.ctypes.data) + first,
                )
            score = np.int64(drops[target])
        else:
            kind = np.int64(pos.board[origin]) - first_piece
            row = (first_piece + kind) * SQUARES + target
            score = 2 * (np.int64(history[origin, target]) + pawns[row])
            score += np.int64(one[row]) + two[row] + three[row] + four[row] + six[row]
        comes_as = (kind + PROMOTION if move & PROMOTE else kind) & 15
        checking = (checks[comes_as, 0] & BIT[target, 0]) | (checks[comes_as, 1] & BIT[target, 1])
        if checking != NONE and exchange_wins(pos, move, -np.int64(thread.parameters.check_loss)):
            score += premium
        if ply < LOW_PLIES:
            score += (
                thread.parameters.low_ply_weight * np.int64(thread.low_ply_history[ply, origin, target]) // (1 + ply)
            )
        keys[index] = score << INDEX_BITS | index


@jit
def _score_evasions(pos, thread, ply, count):
    for index in range(count):
        move = np.int64(thread.moves[ply, index])
        row = move_row(pos, move)
        if pos.board[move & 127] != EMPTY:
            moved = EXCHANGE_VALUE[row // SQUARES % KINDS]
            _rank(thread, ply, index, EVASION_CAPTURE + 16 * taken_value(pos, move) - min(moved, np.int64(2000)))
        else:
            behind = np.int64(thread.continuation_history[row_before(thread, ply, 1), row])
            _rank(thread, ply, index, np.int64(thread.history[pos.turn, (move >> 7) & 127, move & 127]) + behind)


@jit
def _rank(thread, ply, index, score):
    """Store a move's score in its key: score above, index below, so that the largest key belongs to the best move."""
    thread.keys[ply, index] = score << INDEX_BITS | index


@jit
def _close_list(thread, ply, count):
    """Store the number of moves and fill the keys after them, at least one vector."""
    thread.pick_count[ply] = count
    fill_block(np.uint64(thread.keys[ply].ctypes.data) + np.uint64(4 * count), np.int32(TAKEN))


@jit
def _take_best(pos, thread, ply):
    """Return the key and the move (int64) of the best legal move left, except the table move, and mark it; 0, 0 if none
    is left.

    Finding the largest key takes one vector instruction per 16 moves, cheaper than sorting moves that are never needed.
    """
    keys, table_move = thread.keys[ply], np.int64(thread.pick_table_move[ply])
    address = np.uint64(keys.ctypes.data)
    blocks = (np.int64(thread.pick_count[ply]) + LANES - 1) // LANES
    while True:
        best = largest(address, blocks)
        if best == TAKEN:
            return np.int64(0), np.int64(0)
        index = best & INDEX
        keys[index] = TAKEN
        move = np.int64(thread.moves[ply, index])
        if move != table_move and king_may_go(pos, move):
            return best, move


@jit
def skip_quiets(thread, ply):
    """Return no further quiet moves of the node; losing captures still follow. Not for nodes in check."""
    if thread.pick_stage[ply] <= BAD_QUIETS:
        thread.pick_skip[ply] = 1


@jit
def next_move(pos, thread, ply, tactical_only):
    """Return the next legal move (int64) of the node, 0 after the last.

    `tactical_only` (int64 flag) leaves out quiet moves and losing captures, except in check.
    """
    table_move = np.int64(thread.pick_table_move[ply])
    while True:
        stage = np.int64(thread.pick_stage[ply])
        if stage == TABLE_MOVE or stage == EVASION_TABLE_MOVE:
            thread.pick_stage[ply] = stage + 1
            return table_move
        if stage == MAKE_TACTICAL:
            count = generate(pos, thread.moves[ply], np.int64(0), np.int64(TACTICAL | KING_UNTESTED))
            _score_tactical(pos, thread, ply, count)
            _close_list(thread, ply, count)
            thread.pick_stage[ply] = GOOD_TACTICAL
        elif stage == GOOD_TACTICAL:
            best, move = _take_best(pos, thread, ply)
            if move == 0:
                thread.pick_stage[ply] = MAKE_QUIET
                if tactical_only:
                    return np.int64(0)
            elif exchange_wins(pos, move, -(best >> INDEX_BITS) // np.int64(thread.parameters.good_capture)):
                return move
            elif not tactical_only:
                thread.bad_moves[ply, thread.pick_bad[ply]] = move
                thread.pick_bad[ply] += 1
        elif stage == MAKE_QUIET:
            if tactical_only:
                return np.int64(0)
            thread.pick_count[ply] = 0
            if not thread.pick_skip[ply]:
                count = generate(pos, thread.moves[ply], np.int64(0), np.int64(QUIET | KING_UNTESTED))
                _score_quiets(pos, thread, ply, count)
                _close_list(thread, ply, count)
            thread.pick_stage[ply] = QUIET_MOVES
            thread.pick_cursor[ply] = 0
        elif stage == QUIET_MOVES:
            if not thread.pick_skip[ply]:
                best, move = _take_best(pos, thread, ply)
                if move != 0:
                    if best >> INDEX_BITS > -thread.parameters.bad_quiet:
                        return move
                    thread.keys[ply, best & INDEX] = best  # for stage 5
            thread.pick_stage[ply] = BAD_TACTICAL
        elif stage == BAD_TACTICAL:
            cursor = np.int64(thread.pick_cursor[ply])
            if cursor == thread.pick_bad[ply]:
                thread.pick_stage[ply] = BAD_QUIETS
                continue
            thread.pick_cursor[ply] = cursor + 1
            return np.int64(thread.bad_moves[ply, cursor])
        elif stage == BAD_QUIETS:
            if thread.pick_skip[ply]:
                return np.int64(0)
            return _take_best(pos, thread, ply)[1]
        elif stage == MAKE_EVASIONS:
            count = generate(pos, thread.moves[ply], np.int64(0), np.int64(TACTICAL | QUIET | KING_UNTESTED))
            _score_evasions(pos, thread, ply, count)
            _close_list(thread, ply, count)
            thread.pick_stage[ply] = EVASIONS
        else:
            return _take_best(pos, thread, ply)[1]
