"""Making room in a PUCT tree: what lies below its root moves to the front, the oldest of what was little tried goes."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.puct.tree import EXPANDED, FRESH, NONE


@jit
def _stays_open(nodes, index, root, least, bound):
    """Whether a node keeps its edges when the tree is compacted."""
    node = nodes[index]
    return node.edge_count > 0 and (index == root or index >= bound or node.visits > least)


@jit
def mark(tree, nodes, edges, least, excess, places):
    """Mark in places (i4, a node each) what stays: nodes below the root, with their edges unless they have `least`
    visits or fewer. Of those the oldest lose theirs, until `excess` edges are gone. Returns how many edges stay, and
    the node from which on all keep theirs (int64)."""
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
    """Move what `mark` has marked, with this `least` and `bound`, to the front. Nothing may be in flight."""
    root, used = np.int64(tree.root), np.int64(tree.nodes_used)
    fresh = np.int64(0)
    for index in range(used):
        if places[index] != NONE:
            places[index] = fresh
            fresh += 1
    source, target, end = np.int64(0), np.int64(0), np.int64(tree.edges_used)
    while source < end:
        owner, count = np.int64(edges[source].child), np.int64(edges[source].count)
        # What a node has abandoned, or an owner that is gone, is passed over.
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
