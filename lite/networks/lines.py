"""Directions of the line networks' convolutions: each divides the board into nine lines of nine squares.

Ranks and files are the article's. Diagonals run on from the other edge of the board, as on a cylinder, so that they are
nine of nine squares, too; a block of 3x3 squares is read as a line file by file.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from search.rules.shogi import SQUARES

LINES = 9
"""Lines per direction, and squares per line."""
LineName = Literal["diagonals", "blocks"]

_FILE, _RANK = np.divmod(np.arange(SQUARES), 9)
_DIRECTIONS = {
    "ranks": ((_RANK, _FILE),),
    "files": ((_FILE, _RANK),),
    "diagonals": (((_FILE - _RANK) % 9, _FILE), ((_FILE + _RANK) % 9, _FILE)),
    "blocks": ((_FILE // 3 * 3 + _RANK // 3, _FILE % 3 * 3 + _RANK % 3),),
}
"""The line of each square, and its place there, by the name of the direction."""
FURTHER_LINES = tuple(_DIRECTIONS)[2:]


def directions_of(further: tuple[str, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (line of each square, place there), both int [81], per direction: ranks, files, then further ones."""
    return [direction for name in ("ranks", "files", *further) for direction in _DIRECTIONS[name]]
