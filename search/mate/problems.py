"""Mate problems: reading files of them, and setting up their positions, which no game may be able to reach.

Composed and machine-made problems sometimes have two unpromoted pawns of one colour on a file. The rules of moving work
with them (and the drop rule still forbids a third); only a test at set-up refuses them. So such positions are accepted
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.rules.play import play_moves, split_moves, without_ending
from search.rules.set_up import BOARD_ERRORS, TWO_PAWNS
from search.rules.sfen import get_sfen, set_sfen
from search.system.files import read_text
from search.system.metadata import parse_json


@dataclass(frozen=True)
class MateProblem:
    """One line of a problem file."""

    sfen: str
    """The position as an SFEN, optionally followed by `moves ...`."""
    line: int
    """Number of the line in the file."""
    plies: int | None = None
    """Length of the mate according to the file, 0 for "no mate in one"; None if the file does not give it."""


def read_problems(path: Path) -> list[MateProblem]:
    """Read the problems of a file: one SFEN per line, or one JSON object per line with "sfen" and optionally "ply".
    A line may be a game with its ending, `startpos moves 7g7f resign`.

    Raises ValueError that names the file and the line that cannot be read.
    """
    problems = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.startswith("{"):
            try:
                problems.append(MateProblem(without_ending(text), number))
            except ValueError as error:
                raise ValueError(f"{path}: line {number}: {error}") from None
            continue
        try:
            record = parse_json(text)
            sfen, plies = record["sfen"], record.get("ply")
            if not isinstance(sfen, str) or not (plies is None or (type(plies) is int and plies >= 0)):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f'{path}: line {number}: not a JSON object with "sfen" (text) and "ply" (number from 0); games in '
                "JSON, such as JKF, are not read"
            ) from None
        problems.append(MateProblem(sfen, number, plies))
    return problems


def set_problem(pos: np.void, text: str) -> None:
    """Set the record up as `set_problem_game` does, but without the positions before the last move."""
    set_problem_game(pos, text)
    if pos["ply"]:
        _set_start(pos, get_sfen(pos))


def set_problem_game(pos: np.void, text: str) -> None:
    """Set the record up from `startpos` or an SFEN, optionally followed by `moves ...`.

    Two pawns on a file are accepted. Raises ValueError for a text that is not a position, and for the first illegal
    move.
    """
    start, moves = split_moves(text)
    _set_start(pos, start)
    play_moves(pos, moves)


def _set_start(pos: np.void, sfen: str) -> None:
    """Set the record up as `sfen.set_sfen` does, but accept two pawns on a file: the record is complete then."""
    try:
        set_sfen(pos, sfen)
    except ValueError as error:
        if not str(error).endswith(BOARD_ERRORS[TWO_PAWNS]):
            raise
