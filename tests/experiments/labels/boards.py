"""Positions of cshogi: from and to hcp codes, and their mirror images."""

from __future__ import annotations

import cshogi
import numpy as np


def board_of(code: np.ndarray) -> cshogi.Board:
    board = cshogi.Board()
    board.set_hcp(code.copy())
    return board


def mirrored(board: cshogi.Board) -> cshogi.Board:
    """Return the board with left and right exchanged."""
    placement, *rest = board.sfen().split()
    rows = []
    for row in placement.split("/"):
        squares, promoted = [], ""
        for letter in row:
            if letter == "+":
                promoted = "+"
            else:
                squares.append(promoted + letter)
                promoted = ""
        rows.append("".join(reversed(squares)))
    return cshogi.Board(" ".join(("/".join(rows), *rest)))


def code_of(board: cshogi.Board) -> np.ndarray:
    code = np.zeros(32, np.uint8)
    board.to_hcp(code)
    return code
