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
from search.score import INFINITE, MATE_BOUND

ASPIRATION_MARGIN = 22
"""Half width of the first window around the last score, centipawns."""
WIDEST_MARGIN = 1500
"""Beyond, the window is open."""
FIRST_NODES = 20_000
"""Nodes that the first iteration may take although the search has been stopped; a few milliseconds."""


@jit
def deepen(pos, thread, accumulators, network, last):
    """Search from the depth after `thread.depth` to `last` (int64), or until `thread.stop` is set.

    Each depth is searched in a window around the last score, `thread.score`, that is widened on the side where it
    fails. With `thread.root_first` (MultiPV) the best of the moves from that place on is looked for.

    It is one function, for whatever calls the search is compiled together with all of it.
    """
    for depth in range(np.int64(thread.depth) + 1, last + 1):
        thread.pv_length[0] = 0
        low, high = np.int64(-INFINITE), np.int64(INFINITE)
        margin, before = np.int64(ASPIRATION_MARGIN), np.int64(thread.score)
        if depth >= 4 and abs(before) <= MATE_BOUND and thread.steps & ASPIRATION:
            low, high = max(before - margin, low), min(before + margin, high)
        limit, looked = np.int64(thread.node_limit), False
        while True:
            score = search_root(pos, thread, accumulators, network, np.int64(depth), low, high)
            if thread.stop:
                if depth > 1 or thread.root_first > 0 or looked:
                    break
                # However short the time, the move is not the first that comes along: the first depth to its end.
                looked = True
                thread.stop, thread.node_limit = 0, thread.nodes + FIRST_NODES
                continue
            if low < score < high or (low == -INFINITE and high == INFINITE):
                break
            if score <= low:
                high, low = (low + high) // 2, max(score - margin, np.int64(-INFINITE))
            else:
                high = min(score + margin, np.int64(INFINITE))
            margin *= 3
            if margin > WIDEST_MARGIN:
                low, high = np.int64(-INFINITE), np.int64(INFINITE)
        if looked:
            thread.stop, thread.node_limit = 1, limit
        if thread.stop and (not looked or thread.pv_length[0] == 0):
            return
        thread.depth = depth
        thread.score = score
        thread.line_length = thread.pv_length[0]
        for place in range(np.int64(thread.pv_length[0])):
            thread.line[place] = thread.pv[0, place]
        if thread.stop:
            return


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
