"""Pruning of a node's moves before they are played, once some move is known not to lose at once."""

from __future__ import annotations

import numpy as np

from search.alphabeta.history import capture_history, pawn_structure, row_before
from search.alphabeta.moves import move_row, taken_value
from search.alphabeta.parameters import EXCHANGE_PRUNING, FUTILITY, HISTORY_PRUNING, LATE_MOVE_PRUNING
from search.alphabeta.see import exchange_wins
from search.compiling.jit import jit

KEPT = -(1 << 20)
"""Not a score: the move must be searched."""
UNKNOWN = KEPT + 1
"""Not a score: the move is pruned, and its possible score is unknown."""


@jit
def enough_moves(thread, depth, number, improving):
    """Whether the remaining quiet moves, which history ranks last, can be skipped.

    At depth 1 only two moves would remain, too few to include a good answer while the histories know little. So early
    iterations do not skip there; otherwise searches of a few hundred nodes miss one-ply answers.
    """
    tuned = thread.parameters
    if thread.steps & LATE_MOVE_PRUNING == 0 or (depth <= 1 and thread.root_depth < tuned.late_move_iteration):
        return False
    return number >= (tuned.late_move_base + (tuned.late_move_growth * depth * depth >> 3)) >> (0 if improving else 1)


@jit
def prune_tactical(pos, thread, move, tactical, checking, checked, depth, left, static, alpha):
    """Whether a tactical or checking move is pruned; `left` is its depth after reductions."""
    steps, tuned = np.int64(thread.steps), thread.parameters
    history = capture_history(pos, thread, move) if tactical else np.int64(0)
    if not checking and not checked and left < tuned.capture_futility_depth and steps & FUTILITY:
        promise = tuned.capture_futility_base + tuned.capture_futility_margin * left + taken_value(pos, move)
        if static + promise + tuned.capture_futility_history * history // 1024 <= alpha:
            return True
    # A side that is behind keeps its sacrifices.
    if steps & EXCHANGE_PRUNING == 0 or alpha < 0:
        return False
    margin = max(tuned.capture_exchange_margin * depth + tuned.capture_exchange_history * history // 1024, np.int64(0))
    return not exchange_wins(pos, move, -margin)


@jit
def prune_quiet(pos, thread, ply, move, checked, depth, left, static, alpha, reached):
    """Return KEPT, UNKNOWN, or an upper estimate (int64) of the score of a pruned quiet move.

    `left` is the move's depth after reductions; `reached` says whether some move has reached alpha.
    """
    steps, tuned = np.int64(thread.steps), thread.parameters
    row = move_row(pos, move)
    history = np.int64(thread.continuation_history[row_before(thread, ply, 1), row])
    history += thread.continuation_history[row_before(thread, ply, 2), row]
    history += thread.pawn_history[pawn_structure(pos), row]
    if steps & HISTORY_PRUNING and history < -tuned.history_pruning * depth:
        return np.int64(UNKNOWN)
    history += tuned.futility_main_history * np.int64(thread.history[pos.turn, (move >> 7) & 127, move & 127]) // 32
    left += history // tuned.futility_history
    if not checked and left < tuned.futility_depth and steps & FUTILITY:
        futile = static + tuned.futility_base + tuned.futility_margin * left
        futile += (0 if reached else tuned.futility_unreached) + (tuned.futility_above if static > alpha else 0)
        if futile <= alpha:
            return np.int64(futile)
    left = max(left, np.int64(0))
    if steps & EXCHANGE_PRUNING and not exchange_wins(pos, move, -tuned.quiet_exchange_margin * left * left):
        return np.int64(UNKNOWN)
    return np.int64(KEPT)
