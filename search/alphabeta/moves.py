"""What ordering, pruning and histories ask of a move of the position at hand."""

from __future__ import annotations

import numpy as np

from search.alphabeta.see import EXCHANGE_VALUE
from search.compiling.jit import jit
from search.rules.shogi import DROP_ORIGIN, EMPTY, KINDS, PAWN, PROMOTE, SQUARES

NOTHING_TAKEN = KINDS
"""Column of the capture history for a pawn's promotion."""


@jit
def move_row(pos, move):
    """The piece that a move moves or drops, as it stands before promotion, and where it goes: piece*81 + square."""
    origin, target = (move >> 7) & 127, move & 127
    if origin >= DROP_ORIGIN:
        return (np.int64(pos.turn) * KINDS + origin - DROP_ORIGIN) * SQUARES + target
    return np.int64(pos.board[origin]) * SQUARES + target


@jit
def is_tactical(pos, move):
    """Whether the generator counts a move as tactical: it captures, or promotes a pawn."""
    if pos.board[move & 127] != EMPTY:
        return True
    return (move & PROMOTE) != 0 and pos.board[(move >> 7) & 127] % KINDS == PAWN


@jit
def taken_kind(pos, move):
    """The kind that a move takes (int64), NOTHING_TAKEN if it takes nothing."""
    taken = np.int64(pos.board[move & 127])
    return taken % KINDS if taken != EMPTY else np.int64(NOTHING_TAKEN)


@jit
def taken_value(pos, move):
    """Centipawns (int64) of what a move takes."""
    taken = np.int64(pos.board[move & 127])
    return EXCHANGE_VALUE[taken % KINDS] if taken != EMPTY else np.int64(0)
