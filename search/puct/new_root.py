"""Forget the values by repetition of a kept tree that hold only from the root it had before.

A line that returns to one of its own positions with more pieces in hand, or by checks all the way round, has won. If
the root has moved past the earlier occurrence, the line no longer chose it, and the repetition decides nothing (see
`search.rules.repetition`). In an analysis this holds for draws, too.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.puct.tree import DRAWN, EXPANDED, FRESH, NONE, UNPROVED


@jit
def _depends_on_root(tree, node):
    """Return whether a repetition has decided a node in a way that may not hold from another root."""
    return node.proof == UNPROVED and (node.state > DRAWN or (node.state == DRAWN and tree.analysis != 0))


@jit
def forget_repetitions(tree, nodes, edges, parents):
    """Make the nodes below the root that a repetition has decided unvisited again, and take their visits from the nodes
    above them.

    `parents` (i4, one per node) is overwritten. No playout may be in flight.
    """
    root, used = np.int64(tree.root), np.int64(tree.nodes_used)
    decided = False
    for index in range(root, used):
        parents[index] = NONE
        decided = decided or _depends_on_root(tree, nodes[index])
    if not decided:
        return
    for index in range(root, used):
        node = nodes[index]
        if index != root and parents[index] == NONE:
            continue
        if node.state == EXPANDED:
            first = np.int64(node.first_edge) + 1
            for place in range(first, first + np.int64(node.edge_count)):
                if edges[place].child >= 0:
                    parents[edges[place].child] = index
        elif index != root and _depends_on_root(tree, node):
            visits, win, draw = np.int64(node.visits), node.win, node.draw
            node.state = FRESH
            node.visits, node.own, node.win, node.draw = 0, 0, 0.0, 0.0
            above = np.int64(parents[index])
            while above != NONE:
                win = visits - win
                nodes[above].visits -= visits
                nodes[above].win -= win
                nodes[above].draw -= draw
                above = np.int64(parents[above])
