"""Leaves for a network: gathered from one tree or several, evaluated together, and added back to their trees.

The caller of `gather`, `absorb` or `abandon` holds the tree's lock; `evaluate` needs none.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from search.mate.dfpn import mate_dtype
from search.mate.solver import StopFlag
from search.mate.table import MateTable
from search.puct.planes import LABELS, PLANES1, PLANES2, move_labels, write_planes
from search.puct.playout import abandon, absorb, gather_leaves
from search.puct.tree import slot_dtype
from search.puct.tree_memory import Tree
from search.rules.movegen import MAX_MOVES
from search.rules.shogi import HAND_KINDS, SQUARES

MATE_MEGABYTES = 8
"""Size of the table of the mate searches at leaves."""


class PolicyValueFunction(Protocol):
    """A policy-value network: from dlshogi's planes to (policy logits f4 (B, 2187), win rates f4 (B,), draw rates f4
    (B,) or None)."""

    def __call__(self, input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...


class Leaves:
    """The memory of one thread for up to `size` leaves and their mate searches."""

    def __init__(self, size: int) -> None:
        self._slots = np.zeros(size, slot_dtype)
        self._pieces = np.zeros((size, SQUARES), np.uint8)
        self._hands = np.zeros((size, 2 * HAND_KINDS), np.uint8)
        self._in_check = np.zeros(size, np.bool_)
        self._input1 = np.zeros((size, PLANES1, 9, 9), np.float32)
        self._input2 = np.zeros((size, PLANES2, 9, 9), np.float32)
        self._labels = np.zeros((size, MAX_MOVES), np.int64)
        self._policy = np.zeros((size, LABELS), np.float32)
        self._wins, self._draws = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self._flag = StopFlag()
        self.table = MateTable(MATE_MEGABYTES)
        self.solver = np.zeros(1, mate_dtype)[0]
        self.solver["table"] = self.table.record
        self.solver["stop_address"] = self._flag.address

    def begin_search(self) -> None:
        """Begin a search: mate results of earlier searches are replaced first."""
        self.table.new_search()
        self.solver["table"] = self.table.record

    def gather(self, tree: Tree, position: np.void, first: int, size: int, most: int) -> tuple[int, int]:
        """Gather up to `size` leaves of a tree into the rows from `first` on, with at most `most` playouts.

        `position` is the position at the tree's root. Returns (number of leaves, end of the last playout), see
        `gather_leaves`.
        """
        count, outcome = gather_leaves(
            tree.record,
            tree.nodes,
            tree.edges,
            position,
            self.solver,
            self._slots,
            np.int64(first),
            np.int64(size),
            np.int64(most),
            self._pieces,
            self._hands,
            self._in_check,
        )
        return int(count), int(outcome)

    def evaluate(self, model: PolicyValueFunction, count: int) -> None:
        """Evaluate the first `count` rows with the network."""
        input1, input2 = self._input1[:count], self._input2[:count]
        views = (self._pieces[:count], self._hands[:count], self._in_check[:count])
        write_planes(*views, input1.reshape(-1), input2.reshape(-1))
        policy, wins, draws = model(input1, input2)
        slots = self._slots[:count]
        labels = move_labels(slots["moves"].reshape(-1), np.repeat(slots["turn"], MAX_MOVES))
        self._labels[:count] = labels.reshape(count, MAX_MOVES)
        self._policy[:count], self._wins[:count] = policy, wins
        self._draws[:count] = 0 if draws is None else draws

    def absorb(self, tree: Tree, first: int, count: int) -> None:
        """Add the network's results of these rows to their tree."""
        rows = slice(first, first + count)
        absorb(
            tree.record,
            tree.nodes,
            tree.edges,
            self._slots[rows],
            np.int64(count),
            self._labels[rows],
            self._policy[rows],
            self._wins[rows],
            self._draws[rows],
        )

    def abandon(self, tree: Tree, first: int, count: int) -> None:
        """Undo the playouts of rows that the network failed to evaluate."""
        abandon(tree.nodes, self._slots[first : first + count], np.int64(count))
