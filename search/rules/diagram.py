"""A position as text that a terminal shows: the board with its hands, then the SFEN."""

from __future__ import annotations

import numpy as np

from search.rules.sfen import get_sfen


def draw(pos: np.void) -> str:
    """Lines as in: `P1 l  n  s ...`, black's pieces in capitals, files above, hands, mover and SFEN below."""
    sfen = get_sfen(pos)
    board, turn, hands, number = sfen.split()
    lines = ["   " + "".join(f"{file:3d}" for file in range(9, 0, -1))]
    for name, rank in zip("abcdefghi", board.split("/"), strict=True):
        squares, promoted = [], ""
        for letter in rank:
            if letter == "+":
                promoted = letter
                continue
            squares += [" ."] * int(letter) if letter.isdigit() else [f"{promoted:>1s}{letter}"]
            promoted = ""
        lines.append(f" {name} " + "".join(f"{square:>3s}" for square in squares))
    mover = "black" if turn == "b" else "white"
    return "\n".join([*lines, f"hands {hands}  move {number}, {mover} to move", f"sfen {sfen}"])
