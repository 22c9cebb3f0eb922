"""Iterative deepening in compiled code, which returns to Python after each depth that took long enough.

`thread` holds the result of the last finished depth in `depth`, `score` and `line`, and the result of each depth in
`found`. An interrupted iteration leaves its best move so far at the front of the root's moves and its line in `pv[0]`;
`cut_found_better` says whether that result counts.
"""

from __future__ import annotations

import numpy as np

from search.alphabeta.parameters import ASPIRATION, SHORT_NODES
from search.alphabeta.quiescence import quiesce
from search.alphabeta.root import search_root
from search.compiling.jit import jit, program
from search.rules.play import play_line
from search.rules.position import undo_move
from search.score import INFINITE, MATE_BOUND

WIDEST_MARGIN = 1500
"""Largest margin of the window, in centipawns; beyond it the window is open."""
FIRST_NODES = 20_000
"""Nodes that the first iteration may use although the search has been stopped."""
GROWTH = 16
GROWTH_NODES = 3_000
"""An iteration that takes GROWTH times the sum of all earlier nodes and GROWTH_NODES is assumed not to end by itself;
from there on no late move is searched deeper than the first. With a weak network the histories may extend one late move
after another while pieces move to and fro: lines of 128 plies, too many for any time limit. With trained networks 2,395
iterations took at most 5.4 times the earlier nodes."""


@program
def deepen(pos, thread, accumulators, network, last):
    """Search from the depth after `thread.depth` to `last` (int64), or until `thread.stop` is set.

    With `thread.pause`, return after the first finished depth that ends at least this number of nodes after the start:
    the first depths take no longer than the return to Python.

    Each depth is searched in a window around the last score, `thread.score`; the window grows on the side where the
    search fails. With `thread.root_first` (MultiPV) the search looks for the best of the root moves from that index on.

    A `last` of 0 means quiescence only: the score goes to `thread.score`, the line to `pv[0]`, and no depth is
    finished.

    This function is a program of its own. Compiled games and labels call it by its address (single_search.py), because
    a direct caller would be compiled together with the whole search.
    """
    is_short = 0 < thread.node_limit <= SHORT_NODES
    thread.parameters = thread.numbers.short if is_short else thread.numbers.long
    if last == 0:
        open_low, open_high = np.int64(-INFINITE), np.int64(INFINITE)
        thread.score = quiesce(pos, thread, accumulators, network, np.int64(0), open_low, open_high)
        return
    begun = np.int64(thread.nodes)
    if thread.nodes == 0:  # a new search; of several threads some begin at depth 1
        for index in range(thread.root_count):
            thread.root_nodes[thread.root_moves[index]] = 0
    for depth in range(np.int64(thread.depth) + 1, last + 1):
        thread.pv_length[0] = thread.seldepth = 0
        thread.grow_until = thread.nodes + GROWTH * (thread.nodes + GROWTH_NODES)
        low, high = np.int64(-INFINITE), np.int64(INFINITE)
        margin, before = np.int64(thread.parameters.aspiration_margin), np.int64(thread.score)
        if depth >= 4 and abs(before) <= MATE_BOUND and thread.steps & ASPIRATION:
            low, high = max(before - margin, low), min(before + margin, high)
        limit, looked = np.int64(thread.node_limit), False
        while True:
            score = search_root(pos, thread, accumulators, network, np.int64(depth), low, high)
            if thread.stop:
                if depth > 1 or thread.root_first > 0 or looked:
                    break
                # Even with no time left the move should not be an arbitrary one: finish the first depth.
                looked = True
                thread.stop, thread.node_limit, thread.deadline = 0, thread.nodes + FIRST_NODES, 0
                continue
            if low < score < high or (low == -INFINITE and high == INFINITE):
                break
            if score <= low:
                high, low = (low + high) // 2, max(score - margin, np.int64(-INFINITE))
            else:
                high = min(score + margin, np.int64(INFINITE))
            margin = margin * thread.parameters.aspiration_growth // 4
            if margin > WIDEST_MARGIN:
                low, high = np.int64(-INFINITE), np.int64(INFINITE)
        if looked:
            thread.stop, thread.node_limit = 1, limit
        if thread.stop and (not looked or thread.pv_length[0] == 0):
            return
        thread.depth = depth
        thread.score = score
        length = legal_length(pos, thread.pv[0], np.int64(thread.pv_length[0]))
        thread.line_length = length
        found = thread.found[depth]
        found.nodes, found.score, found.seldepth, found.line_length = thread.nodes, score, thread.seldepth, length
        for place in range(length):
            thread.line[place] = thread.pv[0, place]
            found.line[place] = thread.pv[0, place]
        if thread.stop or (thread.pause and thread.nodes - begun >= thread.pause):
            return


@jit
def cut_found_better(thread):
    """Whether an interrupted iteration found a better first move than the last finished depth, or that the same move
    mates sooner.

    If so, the result of the search is `pv[0]`, `pv_score` and `root_depth`, else `line`, `score` and `depth`. If no
    depth was finished the answer is False, because there is no score yet.
    """
    if thread.line_length == 0 or thread.pv_length[0] == 0:
        return False
    return thread.pv[0, 0] != thread.line[0] or thread.pv_score > max(thread.score, MATE_BOUND)


@jit
def legal_length(pos, line, length):
    """Number of leading moves of a line that are legal; later ones may belong to another position (a table entry)."""
    done = play_line(pos, line[:length])
    for place in range(done - 1, -1, -1):
        undo_move(pos, np.int64(line[place]))
    return done
