"""Tests at the entry of every node: whether the game ends here, or the path decides the score."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.evaluation.accumulator import evaluate
from search.mate.in_one import find_likely_mate, is_mated
from search.rules.declaration import NO_RULE, TRY_RULE, can_declare, try_move
from search.rules.position import in_check
from search.rules.repetition import DRAW, INFERIOR, LOSS, NO_REPETITION, SUPERIOR, WIN, game_repetition, repetition
from search.score import MATE, MAX_PLY

PATH_SCORE_FREE = -(1 << 20)
"""Not a score: the position must be searched."""
SUPERIOR_SCORE = 25000
"""Score of the same board with more pieces in hand than before (side to move): above every evaluation, below every
mate."""
REPETITION_PLIES = 32
"""Plies back within which the tree looks for a repetition."""


@jit
def find_mate_here(pos, thread, ply):
    """Return a mate in one of the side to move, or 0 (int64), and record it as the node's line.

    The node's checks are left in `thread.checks`; none where a mate is unlikely.
    """
    move, count = find_likely_mate(pos, thread.checks[ply])
    thread.check_count[ply] = count
    if move:
        thread.pv[ply, 0] = move
        thread.pv_length[ply] = 1
    return move


@jit
def enter_node(pos, thread, accumulators, network, ply):
    """Enter a node: return its score (int64) if it needs no search, else PATH_SCORE_FREE."""
    thread.pv_length[ply] = 0
    if thread.stop:
        return np.int64(0)
    if ply > thread.seldepth:
        thread.seldepth = ply
    score = path_score(pos, thread, ply)
    if score == PATH_SCORE_FREE and ply >= MAX_PLY:
        return np.int64(0) if in_check(pos) else evaluate(pos, accumulators, network)
    return score


@jit
def path_score(pos, thread, ply):
    """Return the score (int64) of a node decided by repetition, the move limit or a declaration, else PATH_SCORE_FREE.

    After a root move the rule itself is applied: the whole game and four occurrences. In an analysis, where earlier
    positions of the game count only by the rule, it is applied at every node.
    """
    limit = min(np.int64(REPETITION_PLIES), ply) if thread.analysis else np.int64(REPETITION_PLIES)
    by_rule = ply == 1 or thread.analysis != 0
    verdict = game_repetition(pos, limit, ply) if by_rule else repetition(pos, limit, ply)
    if verdict != NO_REPETITION:
        if verdict == DRAW:
            return np.int64(thread.draw_value[pos.turn])
        if verdict == WIN:
            return MATE - ply
        if verdict == LOSS:
            return ply - MATE
        if verdict == SUPERIOR:
            return np.int64(SUPERIOR_SCORE)
        if verdict == INFERIOR:
            return np.int64(-SUPERIOR_SCORE)
    if thread.max_moves and pos.game_ply > thread.max_moves:
        # The last move within the limit may mate; a declaration would be one move more.
        return ply - MATE if is_mated(pos) else np.int64(thread.draw_value[pos.turn])
    rule = np.int64(thread.declaration_rule)
    if rule != NO_RULE:
        king = pos.king[pos.turn]
        rank = king % 9 if pos.turn == 0 else 8 - king % 9
        if rank < 3 and (can_declare(pos, rule) or (rule == TRY_RULE and try_move(pos) != 0)):
            return MATE - ply - 1
    return np.int64(PATH_SCORE_FREE)
