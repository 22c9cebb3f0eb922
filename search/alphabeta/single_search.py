"""A search from one position in compiled code, for what plays and labels by the million: no Python in between."""

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
    """The thread, made ready for `search_once` and `search_on`: they call the engine's own machine code."""
    sums = thread.accumulators
    given = thread.position, thread.record, sums.record, sums.network, np.int64(1)
    thread.record["search"] = address_of(deepen, *given)
    return thread


@jit
def search_on(pos, thread, accumulators, network, last):
    """`deepen`, for compiled code, of a thread that `share_search` was given; RuntimeError of another."""
    if thread.search == 0:
        raise RuntimeError("the thread's search is not shared")
    call_address(thread.search, pos, thread, accumulators, network, last)


@jit
def begin_search(pos, thread, node_limit):
    """Make the thread's record ready to search the position: all its moves but needless non-promotions, at most so many
    nodes (int64, 0: no limit). Returns the number of moves (int64); a position without one is not to be searched."""
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
    """Search a position to a depth or a number of nodes (int64, 0: no limit), which it has a move in, by a thread that
    `share_search` was given.

    Returns the best move and its score (int64, the mover's); its line is in `thread.pv[0]`, `thread.pv_length[0]`. A
    search that was cut before it had looked at any move leaves `thread.depth` 0, and its score says nothing.
    """
    if begin_search(pos, thread, node_limit) == 0:
        return np.int64(0), np.int64(0)
    search_on(pos, thread, accumulators, network, min(depth, np.int64(MAX_PLY - 1)) if depth else np.int64(MAX_PLY - 1))
    score = np.int64(thread.pv_score if cut_found_better(thread) else thread.score)
    return best_found(thread), score


@jit
def best_found(thread):
    """The best move of the search that has ended, and its line in `thread.pv[0]`.

    Where the first iteration was cut before it had looked at any, in a quiescence that outran it, it is the first move
    of the root.
    """
    if thread.line_length == 0 and thread.pv_length[0] == 0:
        thread.pv[0, 0] = thread.root_moves[0]
        thread.pv_length[0] = 1
    elif thread.line_length != 0 and not cut_found_better(thread):
        for place in range(np.int64(thread.line_length)):
            thread.pv[0, place] = thread.line[place]
        thread.pv_length[0] = thread.line_length
    return np.int64(thread.pv[0, 0])
