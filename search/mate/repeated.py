"""Positions that have occurred three times in the game: it ends when one recurs, so no mate may lead through them.

The end is a draw, or lost for the attacker whose checks were perpetual. The table of proofs gets these positions as
refuted before each search, so that the search itself needs no test.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.mate.dfpn import board_table_key
from search.mate.table import INDEPENDENT, INFINITE_NUMBER, keep

repeated_dtype = np.dtype(
    [
        ("key", np.uint64),
        ("board_key", np.uint64),
        ("hand", np.uint64),  # the attacker's packed hand
        ("attacking", np.uint8),  # whether the attacker is to move
    ],
    align=True,
)
_OCCURRENCES = 3
_MOST_WORK = 1 << 30
"""Work of an entry that no search replaces."""


def repeated_positions(game: np.void) -> np.ndarray:
    """Return the positions (`repeated_dtype`) of a game that have occurred three times; the side to move attacks.

    The current position is left out: the mate search itself never returns to it.
    """
    last = int(game["ply"])
    first = last - int(game["plies_from_null"])
    keys = game["keys"][first : last + 1]
    found, plies, occurrences = np.unique(keys, return_index=True, return_counts=True)
    plies = first + plies[(occurrences >= _OCCURRENCES) & (found != keys[-1])]
    repeated = np.zeros(len(plies), repeated_dtype)
    repeated["key"], repeated["board_key"] = game["keys"][plies], game["board_keys"][plies]
    repeated["hand"] = game["packed_hands"][plies, int(game["turn"])]
    repeated["attacking"] = (last - plies) % 2 == 0
    return repeated


@jit
def refute_repeated(repeated, solver):
    """Store in the table that these positions have no mate, with each number of plies that the solver's limit leaves.

    An entry also refutes the position with less in the attacker's hand, although it may not have occurred: a mate
    through it may be missed.
    """
    infinite, nothing = np.int64(INFINITE_NUMBER), np.int64(0)
    for index in range(len(repeated)):
        one = repeated[index]
        depth = np.int64(2) if one.attacking else np.int64(1)
        while True:
            key = board_table_key(one.board_key, solver, depth)
            back, work = np.int64(INDEPENDENT), np.int64(_MOST_WORK)
            keep(solver.table, key, one.hand, infinite, nothing, nothing, nothing, back, np.uint64(0), work)
            depth += 2
            if depth >= solver.limit:
                break
