"""Pieces that stand between a king and a slider."""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.primitives.bits import popcount
from search.rules.bitboard import DIAGONAL_LINES, DRAGONS, HORSES, NONE, ONE, RAYS, STRAIGHT_LINES, N, S
from search.rules.position import NO_KING, between, first_square, occupied, without_first
from search.rules.shogi import BISHOP, LANCE, ROOK


@jit
def single_blockers(pos, colour):
    """Return the pieces of either colour that alone stand between `colour`'s king and an enemy slider: two words."""
    king = np.int64(pos.king[colour]) & 127
    found_low, found_high = NONE, NONE
    if king == NO_KING:
        return found_low, found_high
    them = 1 - colour
    g = pos.groups
    snipers_low = (DIAGONAL_LINES[king, 0] & (g[BISHOP, 0] | g[HORSES, 0])) | (
        STRAIGHT_LINES[king, 0] & (g[ROOK, 0] | g[DRAGONS, 0])
    )
    snipers_high = (DIAGONAL_LINES[king, 1] & (g[BISHOP, 1] | g[HORSES, 1])) | (
        STRAIGHT_LINES[king, 1] & (g[ROOK, 1] | g[DRAGONS, 1])
    )
    front = N if colour == 0 else S
    snipers_low = (snipers_low | (RAYS[front, king, 0] & g[LANCE, 0])) & pos.colours[them, 0]
    snipers_high = (snipers_high | (RAYS[front, king, 1] & g[LANCE, 1])) & pos.colours[them, 1]
    low, high = occupied(pos)
    while (snipers_low | snipers_high) != NONE:
        square = np.int64(first_square(snipers_low, snipers_high))
        snipers_low, snipers_high = without_first(snipers_low, snipers_high)
        a, b = between(king, square)
        a &= low
        b &= high
        if popcount(a) + popcount(b) == ONE:
            found_low |= a
            found_high |= b
    return found_low, found_high


@jit
def pinned(pos, colour):
    """Return the pieces of `colour` that shield their own king from a slider: two words."""
    low, high = single_blockers(pos, colour)
    return low & pos.colours[colour, 0], high & pos.colours[colour, 1]
