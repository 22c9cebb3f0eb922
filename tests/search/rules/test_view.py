"""The mover's view against cshogi's board."""

from __future__ import annotations

import cshogi
import numpy as np

from search.rules.shogi import EMPTY, KINDS, PAWN
from search.rules.view import view_position

HANDS = [0, 1, 2, 3, 5, 6, 4]
"""The index of each kind in cshogi's hands, which are P L N S G B R."""


def test_the_view_is_that_of_the_mover(play_random) -> None:
    pieces, hands, checks = np.zeros((2, 81), np.uint8), np.zeros((2, 14), np.uint8), np.zeros(2, np.bool_)
    board, played = cshogi.Board(), 0
    for pos, line in play_random("startpos", 3, 120):
        for move in line[played:]:
            board.push_move16(move)
        played = len(line)
        view_position(pos, pieces, hands, checks, np.int64(1))
        for square, piece in enumerate(board.pieces):
            seen = 80 - square if board.turn == cshogi.WHITE else square
            own = (piece > 15) == (board.turn == cshogi.WHITE)
            kind = (piece & 15) - cshogi.PAWN + PAWN
            assert pieces[1, seen] == (EMPTY if piece == cshogi.NONE else kind + (0 if own else KINDS))
        for side in range(2):
            held = board.pieces_in_hand[board.turn if side == 0 else 1 - board.turn]
            assert hands[1, 7 * side : 7 * side + 7].tolist() == [held[place] for place in HANDS]
        assert checks[1] == board.is_check()
