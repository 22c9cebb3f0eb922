"""Properties of a move in the current position, used by ordering, pruning and histories."""

from __future__ import annotations

import numpy as np

from search.alphabeta.see import EXCHANGE_VALUE
from search.compiling.jit import jit
from search.rules.shogi import DROP_ORIGIN, EMPTY, KINDS, PAWN, PROMOTE, SQUARES

NOTHING_TAKEN = KINDS
"""Column of the capture history for a pawn's promotion without a capture."""


@jit
def move_row(pos, move):
    """Index of the moved or dropped piece, before promotion, and its target square: piece*81 + square."""
    origin, target = (move >> 7) & 127, move & 127
    if origin >= DROP_ORIGIN:
        return (np.int64(pos.turn) * KINDS + origin - DROP_ORIGIN) * SQUARES + target
    return np.int64(pos.board[origin]) * SQUARES + target


@jit
def is_tactical(pos, move):
    """Whether the generator counts a move as tactical: a capture or a pawn's promotion."""
    if pos.board[move & 127] != EMPTY:
        return True
    return (move & PROMOTE) != 0 and pos.board[(move >> 7) & 127] % KINDS == PAWN


@jit
def taken_kind(pos, move):
    """The captured kind (int64), NOTHING_TAKEN if there is none."""
    taken = np.int64(pos.board[move & 127])
    return taken % KINDS if taken != EMPTY else np.int64(NOTHING_TAKEN)


@jit
def taken_value(pos, move):
    """Value of the captured piece in centipawns (int64), 0 without a capture."""
    taken = np.int64(pos.board[move & 127])
    return EXCHANGE_VALUE[taken % KINDS] if taken != EMPTY else np.int64(0)
