"""Making room in a PUCT tree: keep the nodes below its root, and remove the oldest subtrees of rarely visited nodes."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.puct.tree import EXPANDED, FRESH, NONE


@jit
def _stays_open(nodes, index, root, least, bound):
    """Return whether a node keeps its edges when the tree is compacted."""
    node = nodes[index]
    return node.edge_count > 0 and (index == root or index >= bound or node.visits > least)


@jit
def mark(tree, nodes, edges, least, excess, places):
    """Mark the nodes that stay in `places` (i4, one per node); return how many edges stay, and a bound (int64).

    Nodes below the root stay. They keep their edges unless they have `least` visits or fewer; of those the oldest lose
    their edges until `excess` edges are removed. All nodes from the returned bound on keep theirs.
    """
    root, used = np.int64(tree.root), np.int64(tree.nodes_used)
    for index in range(used):
        places[index] = NONE
    places[root] = 0
    kept, gone, bound = np.int64(0), np.int64(0), np.int64(0)
    for index in range(root, used):
        first, count = np.int64(nodes[index].first_edge), np.int64(nodes[index].edge_count)
        if places[index] == NONE or count == 0:
            continue
        if index != root and gone < excess and nodes[index].visits <= least:
            gone += count + 1
            bound = index + 1
            continue
        kept += count + 1
        for place in range(first + 1, first + 1 + count):
            if edges[place].child >= 0:
                places[edges[place].child] = 0
    return kept, bound


@jit
def compact(tree, nodes, edges, least, bound, places):
    """Move the marked nodes and their edges to the front, with the `least` and `bound` of `mark`.

    No playout may be in flight.
    """
    root, used = np.int64(tree.root), np.int64(tree.nodes_used)
    fresh = np.int64(0)
    for index in range(used):
        if places[index] != NONE:
            places[index] = fresh
            fresh += 1
    source, target, end = np.int64(0), np.int64(0), np.int64(tree.edges_used)
    while source < end:
        owner, count = np.int64(edges[source].child), np.int64(edges[source].count)
        # Skip edges that their node has given up, and edges of nodes that are removed.
        if (
            places[owner] != NONE
            and nodes[owner].first_edge == source
            and _stays_open(nodes, owner, root, least, bound)
        ):
            nodes[owner].first_edge = target
            for step in range(count + 1):
                before, after = edges[source + step], edges[target + step]
                child = np.int64(before.child)
                after.move = before.move
                after.count = before.count
                after.prior = before.prior
                after.child = places[child] if child >= 0 else NONE
            target += count + 1
        source += count + 1
    for index in range(used):
        if places[index] == NONE:
            continue
        if not _stays_open(nodes, index, root, least, bound) and nodes[index].state == EXPANDED:
            node = nodes[index]
            node.state = FRESH
            node.edge_count = 0
            node.first_edge = NONE
            node.own = node.visits
        nodes[places[index]] = nodes[index]
    tree.nodes_used = fresh
    tree.edges_used = target
    tree.root = places[root]
