"""What the search learns while it runs: which moves cut, and how far the static evaluation is off in like positions."""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import CORRECTION
from search.alphabeta.picker import moved_piece
from search.alphabeta.thread import CORRECTION_SIZE, NO_CONTINUATION, reward
from search.machine.jit import jit
from search.rules.shogi import EMPTY, KINDS, SQUARES
from search.score import MAX_EVALUATION

CORRECTION_GRAIN = 64
"""Correction entries count in 1/64 centipawns."""
CORRECTION_LIMIT = 8000


@jit
def _bonus(depth):
    return min(170 * depth - 90, np.int64(1800))


@jit
def _reward_tactical(pos, thread, move, bonus):
    taken = np.int64(pos.board[move & 127])
    kind = taken % KINDS if taken != EMPTY else KINDS
    piece, target = moved_piece(pos, move), move & 127
    thread.capture_history[piece, target, kind] = reward(thread.capture_history[piece, target, kind], bonus)


@jit
def _reward_quiet(pos, thread, ply, move, bonus):
    target, origin, us = move & 127, (move >> 7) & 127, np.int64(pos.turn)
    thread.history[us, origin, target] = reward(thread.history[us, origin, target], bonus)
    row = moved_piece(pos, move) * SQUARES + target
    before = np.int64(thread.continuation[ply])
    if before != NO_CONTINUATION:
        thread.continuation_history[before, row] = reward(thread.continuation_history[before, row], bonus)
    if ply > 0:
        before = np.int64(thread.continuation[ply - 1])
        if before != NO_CONTINUATION:
            thread.continuation_history[before, row] = reward(thread.continuation_history[before, row], bonus)


@jit
def _blame_tacticals(pos, thread, ply, best_move, bonus, count):
    for index in range(count):
        move = np.int64(thread.tried_tactical[ply, index])
        if move != best_move:
            _reward_tactical(pos, thread, move, -bonus)


@jit
def learn_tactical_cut(pos, thread, ply, depth, best_move, count):
    """A tactical move cut: it gains, the tactical moves tried before it (`count` with it) lose."""
    bonus = _bonus(depth)
    _reward_tactical(pos, thread, best_move, bonus)
    _blame_tacticals(pos, thread, ply, best_move, bonus, count)


@jit
def learn_quiet_cut(pos, thread, ply, depth, best_move, quiets, tacticals):
    """A quiet move cut: it becomes killer and counter move and gains history; what was tried in vain loses."""
    bonus = _bonus(depth)
    if thread.killers[ply, 0] != best_move:
        thread.killers[ply, 1] = thread.killers[ply, 0]
        thread.killers[ply, 0] = best_move
    thread.counter_moves[thread.continuation[ply]] = best_move
    _reward_quiet(pos, thread, ply, best_move, bonus)
    for index in range(quiets):
        move = np.int64(thread.tried_quiet[ply, index])
        if move != best_move:
            _reward_quiet(pos, thread, ply, move, -bonus)
    _blame_tacticals(pos, thread, ply, best_move, bonus, tacticals)


@jit
def _correction_index(pos):
    """Like positions share their pawns' squares (Stockfish's pawn correction history)."""
    words = pos.groups[0, 0] * np.uint64(0x9E3779B97F4A7C15) ^ (
        (pos.groups[0, 1] ^ (pos.colours[0, 0] & pos.groups[0, 0])) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    return np.int64(words >> np.uint64(50)) & (CORRECTION_SIZE - 1)


@jit
def correct(pos, thread, evaluation):
    """The static evaluation plus what its errors with these pawns have averaged."""
    if thread.steps & CORRECTION == 0:
        return evaluation
    corrected = evaluation + thread.correction[pos.turn, _correction_index(pos)] // CORRECTION_GRAIN
    return min(max(corrected, np.int64(-MAX_EVALUATION)), np.int64(MAX_EVALUATION))


@jit
def learn_correction(pos, thread, depth, error):
    """Move the correction toward an observed error (centipawns), deeper searches further."""
    index = _correction_index(pos)
    weight = min(depth + 1, np.int64(thread.parameters.correction_share))
    error = min(max(error, np.int64(-120)), np.int64(120)) * CORRECTION_GRAIN
    value = np.int64(thread.correction[pos.turn, index])
    value += (error - value) * weight // 256
    thread.correction[pos.turn, index] = min(max(value, np.int64(-CORRECTION_LIMIT)), np.int64(CORRECTION_LIMIT))
