"""Positions as people and GUIs write them: the start of a game and its moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from search.compiling.jit import jit
from search.rules.movegen import is_legal
from search.rules.position import STACK, do_move
from search.rules.sfen import get_sfen, move_from_usi, set_sfen

_NO_MOVE = 0
"""A move that is never legal."""
_ENDINGS = ("resign", "win")
"""Words that end the moves of a game in a file; `win` is a declaration."""


def split_moves(text: str) -> tuple[str, tuple[str, ...]]:
    """Split `startpos moves 7g7f 3c3d` or `[sfen] SFEN moves ...` into the start and the moves, if there are any.

    The word `position` may precede them, as in text copied from a GUI.
    """
    words = text.split()
    if words[:1] == ["position"]:
        del words[0]
    end = words.index("moves") if "moves" in words else len(words)
    return " ".join(words[:end]), tuple(words[end + 1 :])


def split_ending(words: Sequence[str]) -> tuple[list[str], str]:
    """Split the words of a game in a file into those before its ending and the ending, `resign` or `win`, or "".

    Further words after the ending are remarks. Raises ValueError for a move among them.
    """
    end = next((number for number, word in enumerate(words) if word in _ENDINGS), len(words))
    for word in words[end + 1 :]:
        if _read(word) != _NO_MOVE:
            raise ValueError(f"a move after the ending: {word!r}")
    return list(words[:end]), "".join(words[end : end + 1])


def without_ending(line: str) -> str:
    """Return a line of a file, `[position] startpos moves 7g7f resign`, without the ending of the game. Raises
    ValueError as `split_ending` does."""
    return " ".join(split_ending(line.split())[0])


@jit
def play_line(pos, line):
    """Play moves (uint16) in order as long as they are legal; return how many were."""
    for number in range(len(line)):
        move = np.int64(line[number])
        if not is_legal(pos, move):
            return number
        do_move(pos, move)
    return len(line)


def set_game(pos: np.void, start: str, moves: Sequence[str] = (), longest: int = STACK - 1) -> None:
    """Set the record up from an SFEN or `startpos`, and play USI moves, among which repetitions are found.

    Of more moves than `longest` only the last ones are kept, and repetitions of positions before them are not found.
    Raises ValueError that names the first illegal move; the record then holds the position before that move.
    """
    set_sfen(pos, start)
    play_moves(pos, moves, longest)


def play_moves(pos: np.void, moves: Sequence[str], longest: int = STACK - 1) -> None:
    """Play USI moves from the position that the record holds, as `set_game` does."""
    line = np.array([_read(usi) for usi in moves], np.uint16)
    last = max(0, len(moves) - longest)
    for first, end in pairwise([*range(0, last, longest), last, len(moves)]):
        if first:
            set_sfen(pos, get_sfen(pos))
        played = first + play_line(pos, line[first:end])
        if played < end:
            usi = moves[played]
            move_from_usi(usi)  # raises ValueError if it is not a USI move
            raise ValueError(f"move {played + 1}, {usi}, is not legal in {get_sfen(pos)}")


def _read(usi: str) -> int:
    try:
        return move_from_usi(usi)
    except ValueError:
        return _NO_MOVE
