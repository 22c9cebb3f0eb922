"""Iterative deepening in compiled code: depth after depth, without a way back to Python where nobody listens.

`thread` keeps what the last finished depth found: `depth`, `score`, `line`. An iteration that was cut leaves the best
move so far at the front of the root's moves and its line in `pv[0]`.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import ASPIRATION
from search.alphabeta.root import search_root
from search.machine.jit import jit
from search.rules.movegen import is_legal
from search.rules.position import do_move, undo_move
from search.score import INFINITE, MATE_BOUND, MAX_PLY

ASPIRATION_MARGIN = 22
"""Half width of the first window around the last score, centipawns."""
WIDEST_MARGIN = 1500
"""Beyond, the window is open."""
FIRST_NODES = 20_000
"""Nodes that the first iteration may take although the search has been stopped; a few milliseconds."""


@jit
def _aspire(pos, thread, accumulators, network, depth, last):
    """An iteration in a window around the last score, widened on the side where it fails; the score."""
    low, high = np.int64(-INFINITE), np.int64(INFINITE)
    margin = np.int64(ASPIRATION_MARGIN)
    if depth >= 4 and abs(last) <= MATE_BOUND and thread.steps & ASPIRATION:
        low, high = max(last - margin, low), min(last + margin, high)
    while True:
        score = search_root(pos, thread, accumulators, network, depth, low, high)
        if thread.stop or (low == -INFINITE and high == INFINITE):
            return score
        if score <= low:
            high, low = (low + high) // 2, max(score - margin, np.int64(-INFINITE))
        elif score >= high:
            high = min(score + margin, np.int64(INFINITE))
        else:
            return score
        margin *= 3
        if margin > WIDEST_MARGIN:
            low, high = np.int64(-INFINITE), np.int64(INFINITE)


@jit
def _look_once(pos, thread, accumulators, network):
    """The first iteration again and to its end: however short the time, the move is not the first that comes along."""
    limit = thread.node_limit
    thread.stop = 0
    thread.node_limit = thread.nodes + FIRST_NODES
    score = search_root(pos, thread, accumulators, network, np.int64(1), np.int64(-INFINITE), np.int64(INFINITE))
    thread.node_limit = limit
    thread.stop = 1
    return score


@jit
def search_line(pos, thread, accumulators, network, depth, index, last):
    """Search a depth for the best of the root's moves from place `index` on: (score, whether it was cut short).

    All are int64; `last` is the line's score of the depth before. The line found is in `pv[0]`.
    """
    thread.root_first = index
    thread.pv_length[0] = 0
    score = _aspire(pos, thread, accumulators, network, depth, last)
    first = depth == 1 and index == 0
    if thread.stop and first:
        score = _look_once(pos, thread, accumulators, network)
    cut = thread.stop != 0 and (not first or thread.pv_length[0] == 0)
    return score, cut


@jit
def deepen(pos, thread, accumulators, network, last):
    """Search from the depth after `thread.depth` to `last` (int64), or until `thread.stop` is set."""
    for depth in range(np.int64(thread.depth) + 1, last + 1):
        score, cut = search_line(
            pos, thread, accumulators, network, np.int64(depth), np.int64(0), np.int64(thread.score)
        )
        if cut:
            return
        thread.depth = depth
        thread.score = score
        thread.line_length = thread.pv_length[0]
        for place in range(np.int64(thread.pv_length[0])):
            thread.line[place] = thread.pv[0, place]
        if thread.stop:
            return


@jit
def accompany(pos, thread, accumulators, network, first):
    """A further thread's search: depth after depth from `first` (int64) until `thread.stop` is set."""
    for depth in range(first, np.int64(MAX_PLY)):
        if thread.stop:
            return
        search_root(pos, thread, accumulators, network, np.int64(depth), np.int64(-INFINITE), np.int64(INFINITE))


@jit
def legal_length(pos, line, length):
    """How many moves of a line are legal one after the other; beyond may stand another position's (a table entry)."""
    done = np.int64(0)
    while done < length and is_legal(pos, np.int64(line[done])):
        do_move(pos, np.int64(line[done]))
        done += 1
    for place in range(done - 1, -1, -1):
        undo_move(pos, np.int64(line[place]))
    return done
