"""The tree of the PUCT player: nodes and edges in two arrays, and what a playout carries along.

A node keeps the sums of its mover's win rates and of the probabilities of a draw. The win rates count a draw as half a
win, as the network was trained; what a draw is really worth to the side enters only where moves are compared:
value = win + draw * (worth - 0.5) (T. Yamaoka, "Predicting sennichite", the seed of the draw head), so that a tree
serves every worth. A draw by repetition is win 0.5, draw 1.

A node's edges lie together behind one that names their owner, by falling prior. As moves without a visit differ in
nothing else, they are tried in that order, and choosing looks no further than the first of them. Children lie behind
their parents: that is what compaction relies on.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.movegen import MAX_MOVES
from search.score import MAX_PLY

FRESH, WAITING, EXPANDED, DRAWN, WON, LOST = range(6)
"""States of a node: not looked at, sent to the network, has edges; drawn, won or lost for its mover by the rules."""
UNPROVED, PROVED_WIN, PROVED_LOSS = range(3)
"""What is proved of a node, for its mover."""
NONE = -1

node_dtype = np.dtype(
    [
        ("win", np.float64),  # sum over the visits of the mover's win rate, a draw counting half
        ("draw", np.float64),  # sum of the probabilities of a draw
        ("first_edge", np.int32),  # index of the edge that names the owner; the moves follow it
        ("visits", np.int32),
        ("own", np.int32),  # visits that ended here; the others went on to children
        ("in_flight", np.int32),  # playouts under way through here
        ("edge_count", np.uint16),
        ("plies", np.uint16),  # to the mate that is proved
        ("state", np.uint8),
        ("proof", np.uint8),
    ],
    align=True,
)
edge_dtype = np.dtype(
    [
        ("move", np.uint16),
        ("count", np.uint16),  # of the edges that follow an edge that names an owner
        ("prior", np.float32),
        ("child", np.int32),  # node, or NONE; the owner
    ],
    align=True,
)
slot_dtype = np.dtype(
    [
        ("path", np.int32, MAX_PLY + 2),  # nodes from the root to the leaf
        ("length", np.int32),
        ("turn", np.uint8),
        ("moves", np.uint16, MAX_MOVES),
    ],
    align=True,
)
tree_dtype = np.dtype(
    [
        ("nodes_used", np.int64),
        ("edges_used", np.int64),
        ("root", np.int64),
        ("deepest", np.int64),
        ("visits", np.int64),  # playouts that came to an end since somebody set it to 0
        ("base", np.float64, 2),  # constants of U: [inner nodes, root]
        ("initial", np.float64, 2),
        ("reduction", np.float64, 2),
        ("temperature", np.float64),
        ("draw_worth", np.float64, 2),  # of a draw to black and to white, 0..1
        ("rule", np.int64),  # of declarations
        ("max_moves", np.int64),  # game_ply after which the game is drawn; 0: never
        ("analysis", np.int64),  # whether nothing before the root recurs but by the rule
        ("mate_nodes", np.int64),  # of a mate search at a leaf; 0: mates in one alone
        ("salt", np.uint64, 2),  # that keep apart both colours' mates in the solver's table
        ("allowed", np.uint8, MAX_MOVES),  # the root's moves that may be played, by edge
    ],
    align=True,
)


@jit
def new_node(tree, nodes):
    """Take a node; its index (int64)."""
    index = np.int64(tree.nodes_used)
    tree.nodes_used += 1
    node = nodes[index]
    node.win = 0.0
    node.draw = 0.0
    node.first_edge = NONE
    node.visits = 0
    node.own = 0
    node.in_flight = 0
    node.edge_count = 0
    node.plies = 0
    node.state = FRESH
    node.proof = UNPROVED
    return index
