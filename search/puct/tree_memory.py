"""A PUCT tree: its memory, its reuse from move to move, and reading its results.

The jitted steps are in playout.py and compaction.py. The caller of a method here holds the tree's lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from search.primitives.memory import aligned_zeros
from search.puct.compaction import compact, mark
from search.puct.new_root import forget_repetitions
from search.puct.playout import prove
from search.puct.tree import (
    DRAWN,
    EXPANDED,
    NONE,
    PROVED_LOSS,
    PROVED_WIN,
    UNPROVED,
    edge_dtype,
    node_dtype,
    tree_dtype,
)
from search.system.bounds import check_megabytes

NODE_SHARE = 12
"""One part in NODE_SHARE of the memory is for nodes, the rest for edges: a node has about 90 moves."""
KEPT_SHARE = 0.5
"""A full tree is cut until at most this share of it is used."""
SOME_VISITS = 0.1
"""Share of the first move's visits from which on a move's value counts."""
MOST_VISITS = 1 << 30
"""Largest number of playouts through a root."""
MOST = (1 << 31) - 1
"""Largest number of nodes and of edges: an index is a signed 32-bit integer."""
_MATE_RANK = 1 << 40


class Tree:
    """A tree of `megabytes` MiB, whose memory is touched as it grows; jitted code takes `record`, `nodes` and
    `edges`."""

    def __init__(self, megabytes: int) -> None:
        """Allocate the tree. Raises MemoryError if it does not fit, ValueError for an impossible size."""
        check_megabytes("a tree", megabytes)
        size = megabytes << 20
        nodes, edges = size // NODE_SHARE, size - size // NODE_SHARE
        try:
            self.nodes = aligned_zeros(min(nodes // node_dtype.itemsize, MOST), node_dtype)
            self.edges = aligned_zeros(min(edges // edge_dtype.itemsize, MOST), edge_dtype)
            self._places = np.empty(len(self.nodes), np.int32)
        except (MemoryError, ValueError, OverflowError):
            raise MemoryError(f"a tree of {megabytes} MB does not fit into memory") from None
        self.megabytes = megabytes
        self.record = np.zeros(1, tree_dtype)[0]
        self.clear()

    def clear(self) -> None:
        """Clear the tree: a root without edges remains."""
        self.nodes[0] = 0
        self.nodes[0]["first_edge"] = NONE
        self.record["nodes_used"], self.record["edges_used"], self.record["root"] = 1, 0, 0

    @property
    def root(self) -> np.void:
        """The root's node."""
        node: np.void = self.nodes[self.record["root"]]
        return node

    def filled(self) -> int:
        """Return the share of edges in use, in thousandths."""
        return int(self.record["edges_used"]) * 1000 // len(self.edges)

    def advance(self, moves: Sequence[int]) -> bool:
        """Make the position after these moves (16 bits) the root; return False if it is not expanded (then call
        `clear`)."""
        for move in moves:
            children = [child for known, _, child in self.moves_from(int(self.record["root"])) if known == move]
            if not children or children[0] < 0:
                return False
            self.record["root"] = children[0]
        if moves:
            self.forget_repetitions()
        return bool(self.root["state"] == EXPANDED)

    def forget_repetitions(self) -> None:
        """Forget the values by repetition that may not hold from this root. No playout may be in flight."""
        forget_repetitions(self.record, self.nodes, self.edges, self._places)

    def allow(self, moves: set[int]) -> None:
        """Restrict the root to these moves, or to none of them if it has none of them, and update its proof."""
        index = int(self.record["root"])
        node = self.nodes[index]
        allowed = self.record["allowed"]
        first, count = int(node["first_edge"]) + 1, int(node["edge_count"])
        allowed[:] = 1
        if moves and count:
            chosen = np.isin(self.edges["move"][first : first + count], list(moves))
            if chosen.any():
                allowed[:count] = chosen
        node["proof"] = UNPROVED
        if node["state"] == EXPANDED:
            prove(self.record, self.nodes, self.edges, np.int64(index))

    def root_edges(self) -> np.ndarray:
        """Return a view of the root's edges; none before it is expanded."""
        node = self.root
        first = int(node["first_edge"]) + 1
        return self.edges[first : first + int(node["edge_count"]) * (node["state"] == EXPANDED)]

    def set_root_priors(self, priors: np.ndarray) -> None:
        """Set the priors f4 (edges,) of the root's edges, all of which must be allowed."""
        edges = self.root_edges()
        edges["prior"] = priors
        # `choose` looks no further than the first edge without a node.
        edges[:] = edges[np.lexsort((-edges["prior"], edges["child"] < 0))]

    def shrink(self) -> None:
        """Make room: remove nodes beside the root, then subtrees of rarely visited nodes. No playout may be in
        flight."""
        least, excess = np.int64(0), np.int64(0)
        while True:
            kept, bound = mark(self.record, self.nodes, self.edges, least, excess, self._places)
            nodes_kept = int((self._places[: self.record["nodes_used"]] != NONE).sum())
            # Nodes and edges may each run out first; removing edges removes nodes, too.
            used = max(kept / len(self.edges), nodes_kept / len(self.nodes))
            if used <= KEPT_SHARE or least > MOST_VISITS:
                break
            least = 2 * least + 1
            excess = max(excess, np.int64(kept * (1 - KEPT_SHARE / used)) + 1)
        compact(self.record, self.nodes, self.edges, least, np.int64(bound), self._places)

    def moves_from(self, index: int) -> Iterator[tuple[int, float, int]]:
        """Yield (move, prior, child or NONE) of a node's edges."""
        node = self.nodes[index]
        first, count = int(node["first_edge"]) + 1, int(node["edge_count"])
        if node["state"] == EXPANDED:
            for edge in self.edges[first : first + count]:
                yield int(edge["move"]), float(edge["prior"]), int(edge["child"])

    def line(self, first: int | None = None) -> list[int]:
        """Return the best moves from the root on, or those that begin with the move `first`."""
        index, moves = int(self.record["root"]), []
        if first is not None:
            index = next(child for move, _, child in self.moves_from(index) if move == first)
            moves.append(first)
        while index >= 0:
            move, index = self._best(index)
            if index >= 0:
                moves.append(move)
        return moves

    def depth(self) -> int:
        """Return the plies of the best line.

        At a decided end, where the line gets no longer, each further visit counts as a ply: a line of that length would
        have been visited as often there.
        """
        index, plies = int(self.record["root"]), 0
        while (child := self._best(index)[1]) >= 0:
            index, plies = child, plies + 1
        end = self.nodes[index]
        decided = end["state"] >= DRAWN or end["proof"] != UNPROVED
        return plies + (int(end["visits"]) - 1 if plies and decided else 0)

    def _best(self, index: int) -> tuple[int, int]:
        """Return the (move, child) that is best by proofs, then by visits; (0, NONE) if none has been visited."""
        moves, children = self._children(index)
        ranks = self._ranks(children)
        if not len(ranks) or not self.nodes["visits"][children].any():
            return 0, NONE
        best = int(np.argmax(ranks))
        return int(moves[best]), int(children[best])

    def _children(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return moves and nodes of the children that exist; at the root of those that are allowed."""
        node = self.nodes[index]
        first, count = int(node["first_edge"]) + 1, int(node["edge_count"])
        edges = self.edges[first : first + count] if node["state"] == EXPANDED else self.edges[:0]
        present = edges["child"] >= 0
        if index == self.record["root"]:
            present = present & (self.record["allowed"][: len(edges)] != 0)
        return edges["move"][present], edges["child"][present]

    def _ranks(self, children: np.ndarray) -> np.ndarray:
        """Return a number for each child, larger for a better move of the parent."""
        nodes = self.nodes
        proofs, plies = nodes["proof"][children], nodes["plies"][children].astype(np.int64)
        ranks = nodes["visits"][children].astype(np.int64)
        ranks = np.where(proofs == PROVED_LOSS, _MATE_RANK - plies, ranks)
        return np.where(proofs == PROVED_WIN, plies - _MATE_RANK, ranks)

    def leaders(self) -> tuple[int, int, bool]:
        """Return the visits of the root's best and second move, and whether another move has a better value than the
        best."""
        _, children = self._children(int(self.record["root"]))
        if len(children) == 0:
            return 0, 0, False
        visits = np.where(self.nodes["proof"][children] == PROVED_WIN, 0, self.nodes["visits"][children])
        order = np.argsort(-visits, kind="stable")
        first = int(visits[order[0]])
        second = int(visits[order[1]]) if len(order) > 1 else 0
        serious = visits > max(SOME_VISITS * first, 1)
        losses = np.where(serious, self.nodes["win"][children] / np.maximum(visits, 1), np.inf)
        return first, second, bool(serious.any() and losses.min() < losses[order[0]])
