"""Search a single position from compiled code: games and labels by the million, without Python in between."""

from __future__ import annotations

import numpy as np

from search.alphabeta.deepening import cut_found_better, deepen
from search.alphabeta.thread import HISTORIES, LOW_PLY_HISTORY, SearchThread
from search.alphabeta.transposition import AGES
from search.compiling.address import address_of, call_address
from search.compiling.jit import jit
from search.rules.movegen import QUIET, TACTICAL, generate, legal_moves
from search.score import MAX_PLY

_LOW_PLY = np.int16(HISTORIES[LOW_PLY_HISTORY])


def share_search(thread: SearchThread) -> SearchThread:
    """Make a thread ready for `search_once` and `search_on`, which call the engine's own machine code; return it."""
    sums = thread.accumulators
    given = thread.position, thread.record, sums.record, sums.network, np.int64(1)
    thread.record["search"] = address_of(deepen, *given)
    return thread


@jit
def search_on(pos, thread, accumulators, network, last):
    """Call `deepen` from compiled code, for a thread prepared by `share_search`; RuntimeError for any other thread."""
    if thread.search == 0:
        raise RuntimeError("the thread's search is not shared")
    call_address(thread.search, pos, thread, accumulators, network, last)


@jit
def begin_search(pos, thread, node_limit):
    """Prepare the thread's record to search the position with at most `node_limit` nodes (int64, 0 means no limit).

    The root moves are all legal moves except needless non-promotions. Returns their number (int64); a position without
    moves must not be searched.
    """
    found = generate(pos, thread.root_moves, np.int64(0), np.int64(TACTICAL | QUIET))
    if found == 0:
        found = legal_moves(pos, thread.root_moves)
    thread.root_count = found
    thread.root_partial = 0
    thread.root_first = 0
    thread.low_ply_history[:] = _LOW_PLY
    thread.stop = 0
    thread.nodes = 0
    thread.node_limit = node_limit
    thread.depth = 0
    thread.score = 0
    thread.line_length = 0
    thread.pv_length[0] = 0
    thread.table.age = (thread.table.age + 1) % AGES
    return found


@jit
def search_once(pos, thread, accumulators, network, node_limit, depth):
    """Search a position with a thread prepared by `share_search`, to a depth or a number of nodes (int64, 0: no limit).

    Returns the best move and its score (int64, side to move), 0 and 0 without a legal move. The line is in
    `thread.pv[0]` with length `thread.pv_length[0]`. If the search was interrupted before it had searched any move,
    `thread.depth` is 0 and the score means nothing.
    """
    if begin_search(pos, thread, node_limit) == 0:
        return np.int64(0), np.int64(0)
    search_on(pos, thread, accumulators, network, min(depth, np.int64(MAX_PLY - 1)) if depth else np.int64(MAX_PLY - 1))
    score = np.int64(thread.pv_score if cut_found_better(thread) else thread.score)
    return best_found(thread), score


@jit
def best_found(thread):
    """Return the best move of the finished search and leave its line in `thread.pv[0]`.

    If the first iteration was interrupted before it had searched any move, by a quiescence search that used up the
    nodes, this is the first root move.
    """
    if thread.line_length == 0 and thread.pv_length[0] == 0:
        thread.pv[0, 0] = thread.root_moves[0]
        thread.pv_length[0] = 1
    elif thread.line_length != 0 and not cut_found_better(thread):
        for place in range(np.int64(thread.line_length)):
            thread.pv[0, place] = thread.line[place]
        thread.pv_length[0] = thread.line_length
    return np.int64(thread.pv[0, 0])
