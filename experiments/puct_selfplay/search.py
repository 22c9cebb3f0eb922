"""Many PUCT searches side by side: each has one playout in flight, and all their leaves form one batch.

Within a tree no two playouts are in flight, so no search has to guess the result of another playout, which is the cost
of a batch from a single tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from experiments.jobs.protocol import Stopped
from search.puct.leaves import Leaves, PolicyValueFunction
from search.puct.playout import FULL
from search.puct.tree import UNPROVED
from search.puct.tree_memory import Tree

SETTLED_AT_ONCE = 8
"""Most playouts of a tree that may end without the network before the other trees continue."""


class Rooted(Protocol):
    """A position with a search tree."""

    position: np.void
    """Position at the tree's root."""

    @property
    def tree(self) -> Tree:
        """The search tree."""


def search_together(
    searches: Sequence[Rooted],
    playouts: int,
    model: PolicyValueFunction,
    leaves: Leaves,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Search each tree until its root has `playouts` visits or is proved; `leaves` has room for one leaf per tree.
    Raises Stopped."""
    waiting = list(searches)
    while waiting := [one for one in waiting if _is_open(one.tree, playouts)]:
        if stop():
            raise Stopped
        sent: list[Tree] = []
        for one in waiting:
            tree = one.tree
            most = min(SETTLED_AT_ONCE, playouts - int(tree.root["visits"]))
            count, outcome = leaves.gather(tree, one.position, len(sent), 1, most)
            if count:
                sent.append(tree)
            elif outcome == FULL:
                tree.shrink()
        if sent:
            leaves.evaluate(model, len(sent))
        for row, tree in enumerate(sent):
            leaves.absorb(tree, row, 1)


def _is_open(tree: Tree, playouts: int) -> bool:
    root = tree.root
    return bool(root["visits"] < playouts and root["proof"] == UNPROVED)
