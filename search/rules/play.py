"""A position as people and GUIs write it: where a game began, and its moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.rules.movegen import is_legal
from search.rules.position import STACK, do_move
from search.rules.sfen import get_sfen, move_from_usi, set_sfen


def split_moves(text: str) -> tuple[str, tuple[str, ...]]:
    """The start and the moves of `startpos moves 7g7f 3c3d` or `[sfen] SFEN moves ...`; there may be no moves."""
    start, _, moves = f"{text.strip()} ".partition(" moves ")
    return start.strip(), tuple(moves.split())


def set_game(pos: np.void, start: str, moves: Sequence[str] = (), longest: int = STACK - 1) -> None:
    """Set the record up from an SFEN or `startpos` and play USI moves on it, which repetitions are found among.

    Of more moves than `longest` the last ones stay, what recurred before them is forgotten. ValueError names the first
    move that is not legal; the record is then as that move found it.
    """
    set_sfen(pos, start)
    for number, usi in enumerate(moves, 1):
        if pos["ply"] >= longest or (pos["ply"] and len(moves) - number + 1 == longest):
            set_sfen(pos, get_sfen(pos))
        move = move_from_usi(usi)
        if not is_legal(pos, np.int64(move)):
            raise ValueError(f"move {number}, {usi}, is not legal in {get_sfen(pos)}")
        do_move(pos, np.int64(move))
