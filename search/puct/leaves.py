"""Leaves on their way through a network: gathered from a tree, or from many, evaluated together, and taken up again.

Whoever calls `gather`, `absorb` or `abandon` holds the tree's lock; `evaluate` needs none.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from search.mate.dfpn import mate_dtype
from search.mate.solver import StopFlag
from search.mate.table import MateTable
from search.puct.memory import Tree
from search.puct.planes import LABELS, PLANES1, PLANES2, move_labels, write_planes
from search.puct.playout import abandon, absorb, gather_leaves
from search.puct.tree import slot_dtype
from search.rules.movegen import MAX_MOVES
from search.rules.shogi import HAND_KINDS, SQUARES

MATE_MEGABYTES = 8
"""Of the table of the mate searches at leaves."""


class PolicyValueFunction(Protocol):
    """What a network must do: policy logits f4 (B, 2187), win rates f4 (B,), draw rates f4 (B,) or None; of planes."""

    def __call__(self, input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...


class Leaves:
    """A thread's memory for up to `size` leaves, and for the mate searches there."""

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
        """What the table holds becomes older."""
        self.table.new_search()
        self.solver["table"] = self.table.record

    def gather(self, tree: Tree, position: np.void, first: int, size: int, most: int) -> tuple[int, int]:
        """Up to `size` leaves of a tree, at whose root the position is, into the rows from `first` on; sending at most
        `most` playouts. (How many, the end of the last playout), see `gather_leaves`."""
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
        """Ask the network about the first rows."""
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
        """Take up into their tree what the network has said of these rows."""
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
        """Forget rows that the network failed to evaluate."""
        abandon(tree.nodes, self._slots[first : first + count], np.int64(count))
