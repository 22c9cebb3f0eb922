"""Records of the PUCT search: nodes and edges of the tree, and the path of a playout.

A node holds the sums of its mover's win rates and of the probabilities of a draw. The win rates count a draw as half a
win, as the network was trained. The value of a draw to the side enters only where moves are compared: value = win +
draw * (draw_value - 0.5) (T. Yamaoka, "Predicting sennichite", the origin of the draw head). So one tree serves every
value of a draw. A draw by repetition is win 0.5, draw 1.

A node's edges follow an edge that names their owner, in the order of falling priors. Unvisited moves differ in nothing
else, so they are tried in that order, and `choose` looks no further than the first of them. Children come after their
parents; compaction relies on it.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.movegen import MAX_MOVES
from search.score import MAX_PLY

FRESH, WAITING, EXPANDED, DRAWN, WON, LOST = range(6)
"""States of a node: unvisited, sent to the network, with edges; drawn, won or lost for its mover by the rules."""
UNPROVED, PROVED_WIN, PROVED_LOSS = range(3)
"""Proof of a node, for its mover."""
NONE = -1

node_dtype = np.dtype(
    [
        ("win", np.float64),  # sum over the visits of the mover's win rate, a draw counting half
        ("draw", np.float64),  # sum of the probabilities of a draw
        ("first_edge", np.int32),  # index of the edge that names the owner; the moves follow it
        ("visits", np.int32),
        ("own", np.int32),  # visits that ended here and not at a child
        ("in_flight", np.int32),  # playouts under way through here
        ("edge_count", np.uint16),
        ("plies", np.uint16),  # to the proved mate
        ("state", np.uint8),
        ("proof", np.uint8),
    ],
    align=True,
)
edge_dtype = np.dtype(
    [
        ("move", np.uint16),
        ("count", np.uint16),  # number of edges that follow, in an edge that names an owner
        ("prior", np.float32),
        ("child", np.int32),  # node, or NONE; in an edge that names an owner, the owner
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
        ("visits", np.int64),  # finished playouts since the search began
        ("base", np.float64, 2),  # constants of U: [inner nodes, root]
        ("initial", np.float64, 2),
        ("reduction", np.float64, 2),
        ("temperature", np.float64),
        ("draw_value", np.float64, 2),  # value of a draw to black and to white, 0..1
        ("rule", np.int64),  # rule of declarations
        ("max_moves", np.int64),  # game_ply after which the game is drawn; 0: never
        ("analysis", np.int64),  # whether positions before the root recur by the game's rule only
        ("mate_nodes", np.int64),  # nodes of a mate search at a leaf; 0: mates in one only
        ("salt", np.uint64, 2),  # separate both colours' mates in the solver's table
        ("allowed", np.uint8, MAX_MOVES),  # whether the root's moves may be played, by edge
    ],
    align=True,
)


@jit
def new_node(tree, nodes):
    """Allocate a node and return its index (int64)."""
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
