"""Depth reductions of late moves in 1024ths of a ply. Form and proportions are those of Stockfish and YaneuraOu."""

from __future__ import annotations

import numpy as np

from search.alphabeta.history import capture_history, row_before
from search.alphabeta.moves import move_row, taken_value
from search.compiling.jit import jit


@jit
def late_move_reduction(thread, depth, number, window, improving, on_pv):
    """Return the reduction by depth, move number and width of the window.

    `improving` says whether the side to move improves its evaluation, `on_pv` whether the node is or was on a principal
    variation.
    """
    tuned = thread.parameters
    scale = np.int64(tuned.reductions[min(depth, np.int64(63)), min(number, np.int64(63))])
    narrow = tuned.reduction_window * window // max(np.int64(thread.root_window), np.int64(1))
    reduction = scale + tuned.reduction_base - narrow
    if not improving:
        reduction += scale * tuned.reduction_not_improving // 512
    if on_pv:
        reduction += tuned.reduction_on_pv
    return reduction


@jit
def move_statistic(pos, thread, ply, move, tactical):
    """Sum of the histories of a move about to be played (int64)."""
    if tactical:
        return thread.parameters.statistic_taken * taken_value(pos, move) // 128 + capture_history(pos, thread, move)
    row = move_row(pos, move)
    near = np.int64(thread.continuation_history[row_before(thread, ply, 1), row])
    far = np.int64(thread.continuation_history[row_before(thread, ply, 2), row])
    return 2 * np.int64(thread.history[pos.turn, (move >> 7) & 127, move & 127]) + near + far


@jit
def weigh_move(thread, ply, reduction, number, is_pv, cut_node):
    """Adjust a reduction by the move's number and histories; used at every node, including the root."""
    tuned = thread.parameters
    if thread.table_pv[ply]:
        reduction -= tuned.reduction_was_pv + (tuned.reduction_pv if is_pv else 0)
    before = min(number, np.int64(tuned.reduction_counted))
    reduction += 691 - tuned.reduction_number * before
    reduction -= abs(np.int64(thread.correction_value[ply])) * tuned.reduction_correction // 1024000
    if cut_node:
        reduction += np.int64(tuned.reduction_cut_node)
    cuts = np.int64(thread.cut_count[ply + 1])
    if cuts > 1:
        reduction += tuned.reduction_some_cuts + (tuned.reduction_cuts if cuts > 2 else 0)
        if not is_pv and not cut_node:
            reduction += tuned.reduction_many_cuts
    return reduction - np.int64(thread.statistic[ply]) * tuned.reduction_history // 4096


@jit
def may_grow(thread):
    """Whether late moves may be searched deeper than the first: not in an iteration that threatens never to end."""
    return thread.nodes < thread.grow_until


@jit
def reduced_depth(thread, reduction, next_depth, is_pv):
    """Return the depth (int64) at which a late move is tried: at least one, at most two plies more than unreduced."""
    most = next_depth + (2 if may_grow(thread) else 0)
    reduced = max(np.int64(1), min(next_depth - (reduction >> 10), most))
    return reduced + 1 if is_pv else reduced
