"""Mate problems: files of them, and their positions, which need not be ones that a game can reach.

Composed and machine-made problems sometimes have two unpromoted pawns of one colour on a file. No rule of moving is
upset by that, only a set-up check (and the drop rule goes on to forbid a third), so such positions are accepted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.rules.play import play_moves, split_moves
from search.rules.set_up import BOARD_ERRORS, TWO_PAWNS
from search.rules.sfen import get_sfen, set_sfen
from search.system.files import read_text
from search.system.metadata import parse_json


@dataclass(frozen=True)
class MateProblem:
    """One line of a problem file."""

    sfen: str
    """Perhaps with `moves ...`."""
    line: int
    """Number of the line."""
    plies: int | None = None
    """Length of the mate as the file tells it, 0 for "no mate in one"; None if it does not."""


def read_problems(path: Path) -> list[MateProblem]:
    """Problems of a file: JSON objects with "sfen" and perhaps "ply", one a line, or one SFEN a line.

    ValueError names the file and the line that cannot be read.
    """
    problems = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.startswith("{"):
            problems.append(MateProblem(text, number))
            continue
        try:
            record = parse_json(text)
            sfen, plies = record["sfen"], record.get("ply")
            if not isinstance(sfen, str) or not (plies is None or isinstance(plies, int)):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f'{path}: line {number}: not a JSON object with "sfen" (text) and "ply" (number)'
            ) from None
        problems.append(MateProblem(sfen, number, plies))
    return problems


def set_problem(pos: np.void, text: str) -> None:
    """Set the record up from `startpos` or an SFEN, perhaps with `moves ...`, which are played and forgotten: nothing
    repeats them. Two pawns on a file are accepted. ValueError for what is no position, and the first move that is not
    legal."""
    start, moves = split_moves(text)
    _set_start(pos, start)
    if moves:
        play_moves(pos, moves)
        _set_start(pos, get_sfen(pos))


def _set_start(pos: np.void, sfen: str) -> None:
    """`sfen.set_sfen`, but two pawns on a file are accepted: the record is complete where that is all that is wrong."""
    try:
        set_sfen(pos, sfen)
    except ValueError as error:
        if not str(error).endswith(BOARD_ERRORS[TWO_PAWNS]):
            raise
