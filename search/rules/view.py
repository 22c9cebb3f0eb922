"""A position as its mover sees it: what networks are trained on, and what planes are made of.

28 pieces as in `shogi`, the mover's colour first; the board is turned so that the mover plays upward.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.position import in_check
from search.rules.shogi import HAND_KINDS, OTHER_COLOUR, SQUARES


@jit
def write_view(pos, pieces, hands):
    """Board and hands of `pos` into pieces u1 [81] and hands u1 [14], own P L N S B R G and then the other side's."""
    us = np.int64(pos.turn) & 1
    if us == 0:
        for square in range(SQUARES):
            pieces[square] = pos.board[square]
    else:
        for square in range(SQUARES):
            # A table, for which piece a square holds no branch predictor knows.
            pieces[square] = OTHER_COLOUR[pos.board[SQUARES - 1 - square] & 31]
    for kind in range(HAND_KINDS):
        hands[kind] = pos.hands[us, kind]
        hands[HAND_KINDS + kind] = pos.hands[1 - us, kind]


@jit
def view_position(pos, pieces, hands, in_checks, row):
    """Enter `pos` into row `row` of a batch: pieces u1 (B, 81), hands u1 (B, 14), in_checks bool (B,)."""
    write_view(pos, pieces[row], hands[row])
    in_checks[row] = in_check(pos)
