"""Mate problems: files of them, and their positions, which need not be ones that a game can reach.

Composed and machine-made problems sometimes have two unpromoted pawns of one colour on a file. No rule of moving is
upset by that, only a set-up check (and the drop rule goes on to forbid a third), so such positions are accepted here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.machine.files import read_text
from search.machine.jit import jit
from search.machine.metadata import parse_json
from search.rules.attacks import attackers
from search.rules.bitboard import NONE
from search.rules.play import play_moves, split_moves
from search.rules.position import NO_KING, PIECE_KEYS, occupied, toggle
from search.rules.set_up import BOARD_ERRORS, TWO_PAWNS
from search.rules.sfen import get_sfen, set_sfen
from search.rules.shogi import EMPTY, KINDS, PAWN, PIECES_IN_BOX, PRO_PAWN


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


@jit
def _add_pawn(pos, colour, square):
    """Put a pawn on an empty square of a position just set up."""
    piece = colour * KINDS + PAWN
    pos.board[square] = piece
    toggle(pos, piece, square)
    change = PIECE_KEYS[piece, square]
    pos.key ^= change
    pos.keys[0] ^= change
    pos.board_keys[0] ^= change


@jit
def _find_checks(pos):
    """Find the checkers again; whether the side that is not to move is in check."""
    low, high = occupied(pos)
    king, other = np.int64(pos.king[pos.turn]), np.int64(pos.king[1 - pos.turn])
    if king != NO_KING:
        a, b = attackers(pos, np.int64(1) - pos.turn, king, low, high)
        pos.checkers[0], pos.checkers[1] = a, b
        pos.all_checkers[0, 0], pos.all_checkers[0, 1] = a, b
    if other == NO_KING:
        return False
    a, b = attackers(pos, np.int64(pos.turn), other, low, high)
    return (a | b) != NONE


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
    """`sfen.set_sfen`, but two pawns on a file are accepted."""
    try:
        set_sfen(pos, sfen)
        return
    except ValueError as error:
        if BOARD_ERRORS[TWO_PAWNS] not in str(error):
            raise
    board, _, rest = sfen.strip().removeprefix("sfen ").strip().partition(" ")
    ranks = [re.findall(r"\+?[A-Za-z]|1", re.sub("[2-9]", lambda m: "1" * int(m[0]), row)) for row in board.split("/")]
    extra = []
    for colour, letter in enumerate("Pp"):
        for file in range(9):
            found = [rank for rank in range(9) if ranks[rank][8 - file] == letter]
            for rank in found[1:]:
                ranks[rank][8 - file] = "1"
                extra.append((colour, file * 9 + rank, rank if colour == 0 else 8 - rank))
    set_sfen(pos, f"{'/'.join(''.join(row) for row in ranks)} {rest}")
    for colour, square, way in extra:
        if way == 0:
            raise ValueError(f"SFEN {sfen!r}: a pawn that can never move")
        _add_pawn(pos, np.int64(colour), np.int64(square))
    pawns = int(np.isin(pos["board"], (PAWN, KINDS + PAWN)).sum())
    pawns += int((pos["board"] % KINDS == PRO_PAWN)[pos["board"] != EMPTY].sum()) + int(pos["hands"][:, PAWN].sum())
    if pawns > PIECES_IN_BOX[PAWN]:
        raise ValueError(f"SFEN {sfen!r}: more pieces of a kind than a set has")
    if _find_checks(pos):
        raise ValueError(f"SFEN {sfen!r}: the side that is not to move is in check")
