"""Many PUCT searches side by side: each sends one playout at a time, and all their leaves are one batch.

Within a tree nothing is in flight beside a playout, so no search has to guess what another playout will find, which a
batch from a single tree costs.
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
"""So many playouts of a tree may end without the network before the others get their turn."""


class Rooted(Protocol):
    """What is searched."""

    position: np.void
    """At the tree's root."""

    @property
    def tree(self) -> Tree:
        """What is known of it."""


def search_together(
    searches: Sequence[Rooted],
    playouts: int,
    model: PolicyValueFunction,
    leaves: Leaves,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Search each until its root has so many visits or is proved; `leaves` has room for one of each. Raises Stopped."""
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
