"""A position seen by the mover: the input of training and of dlshogi's planes.

Pieces are numbered 0..27 as in `shogi`, the mover's colour first; the board is rotated so that the mover plays upward.
"""

from __future__ import annotations

import numpy as np

from search.compiling.jit import jit
from search.rules.position import in_check
from search.rules.shogi import HAND_KINDS, OTHER_COLOUR, SQUARES


@jit
def write_view(pos, pieces, hands):
    """Write board and hands of `pos` to pieces u1 [81] and hands u1 [14], the mover's P L N S B R G first."""
    us = np.int64(pos.turn) & 1
    if us == 0:
        for square in range(SQUARES):
            pieces[square] = pos.board[square]
    else:
        for square in range(SQUARES):
            # A table look-up, because no branch predictor can guess which piece is on a square.
            pieces[square] = OTHER_COLOUR[pos.board[SQUARES - 1 - square] & 31]
    for kind in range(HAND_KINDS):
        hands[kind] = pos.hands[us, kind]
        hands[HAND_KINDS + kind] = pos.hands[1 - us, kind]


@jit
def view_position(pos, pieces, hands, in_checks, row):
    """Write `pos` to row `row` of a batch: pieces u1 (B, 81), hands u1 (B, 14), in_checks bool (B,)."""
    write_view(pos, pieces[row], hands[row])
    in_checks[row] = in_check(pos)
