"""Explain a network's evaluation of a position: its value, each piece's contribution, and the value after each move.

Centipawns are those of the side to move, except in fields named after Black. A piece's contribution is the value of the
position with the piece minus the value without it (see `leave_one_out`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.explain.line_units import LineUnits, UnitsLeftOut, line_units
from experiments.network_kinds.kind import Kind, kind_of
from experiments.network_kinds.position_values import PositionValue, Valuer, empty_views, load_valuer
from search.evaluation.leave_one_out import Man, black_contributions, leave_one_out
from search.evaluation.static_evaluation import set_game_with_kings
from search.rules.movegen import list_moves
from search.rules.position import do_move, new_position, undo_move
from search.rules.sfen import get_sfen, move_to_usi, square_to_usi
from search.rules.shogi import BLACK, KIND_LETTERS, KINDS
from search.rules.view import view_position

SIDES = ("black", "white")


@dataclass(frozen=True)
class PieceFigures:
    """Contribution of one piece, or of one of the pieces of a kind in hand."""

    piece: str
    """Letters of the kind as in an SFEN of Black: `R`, `+P`."""
    colour: str
    """`black` or `white`."""
    square: str | None
    """Square in USI notation; None for a piece in hand."""
    held: int
    """Pieces of the kind in the hand; 0 for a piece on the board."""
    contribution_cp: int
    """Contribution for the side to move in centipawns."""
    black_contribution_cp: int
    """Contribution for Black in centipawns."""
    possible: bool
    """Whether the position is legal without the piece."""


@dataclass(frozen=True)
class MoveValue:
    """Static value after a legal move, for the side that makes it."""

    move: str
    """The move in USI notation."""
    score_cp: int
    """Centipawns."""
    win_rate: float
    """Expected result, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Explained:
    """A position, and the figures of one network."""

    position: np.void
    men: tuple[Man, ...]
    """All pieces except the kings, in the order of `pieces`."""
    net: str
    """The network as it was named."""
    sfen: str
    turn: int
    value: PositionValue
    pieces: tuple[PieceFigures, ...]
    moves: tuple[MoveValue, ...]
    """Legal moves, the best first."""
    units: LineUnits | UnitsLeftOut
    """Units of files and ranks, or the reason why there are none."""

    @property
    def black_score_cp(self) -> int:
        """Return the value for Black in centipawns."""
        return self.value.score_cp if self.turn == BLACK else -self.value.score_cp

    @property
    def contributions(self) -> list[int]:
        """Return each piece's contribution for Black in centipawns."""
        return [piece.black_contribution_cp for piece in self.pieces]


@dataclass(frozen=True)
class Difference:
    """A piece's contributions by two networks."""

    piece: str
    """Letters of the kind as in an SFEN of Black: `R`, `+P`."""
    colour: str
    """`black` or `white`."""
    square: str | None
    """Square in USI notation; None for a piece in hand."""
    held: int
    """Pieces of the kind in the hand; 0 for a piece on the board."""
    black_contributions_cp: tuple[int, int]
    """Contributions for Black by the first and the second network, in centipawns."""
    difference_cp: int
    """The second network's contribution minus the first network's, in centipawns."""


def explain(network_path: str, sfen: str) -> Explained:
    """Explain a network's evaluation of a position.

    network_path: a network of any kind. sfen: `startpos` or an SFEN, optionally with `moves ...`. Raises OSError or
    ValueError.
    """
    pos = new_position()
    set_game_with_kings(pos, sfen)
    valuer, turn = load_valuer(network_path), int(pos["turn"])
    left = leave_one_out(pos)
    values = valuer(left.pieces, left.hands, left.in_check)
    contributions = black_contributions([value.score_cp for value in values], turn)
    sign = 1 if turn == BLACK else -1
    pieces = tuple(
        PieceFigures(
            piece=KIND_LETTERS[man.piece % KINDS],
            colour=SIDES[man.piece // KINDS],
            square=None if man.square is None else square_to_usi(man.square),
            held=man.held,
            contribution_cp=sign * black_cp,
            black_contribution_cp=black_cp,
            possible=bool(possible),
        )
        for man, black_cp, possible in zip(left.men, contributions, left.possible[1:], strict=True)
    )
    trained = kind_of(network_path) is Kind.VALUE
    units = line_units(network_path, left, turn) if trained else UnitsLeftOut.NOT_TRAINED
    moves = tuple(_move_values(valuer, pos))
    return Explained(pos, left.men, network_path, get_sfen(pos), turn, values[0], pieces, moves, units)


def _move_values(valuer: Valuer, pos: np.void) -> list[MoveValue]:
    """Return the static value after each legal move, the best first."""
    moves = list_moves(pos)
    if not moves:
        return []
    arrays = empty_views(len(moves))
    for number, move in enumerate(moves):
        do_move(pos, np.int64(move))
        view_position(pos, *arrays, np.int64(number))
        undo_move(pos, np.int64(move))
    rows = [
        MoveValue(move_to_usi(move), -value.score_cp, 1 - value.win_rate)
        for move, value in zip(moves, valuer(*arrays), strict=True)
    ]
    return sorted(rows, key=lambda row: -row.win_rate)


def compare(one: Explained, other: Explained) -> list[Difference]:
    """Return the pieces of a position that two networks explain, those first whose contributions differ most."""
    rows = [
        Difference(
            mine.piece,
            mine.colour,
            mine.square,
            mine.held,
            (mine.black_contribution_cp, theirs.black_contribution_cp),
            theirs.black_contribution_cp - mine.black_contribution_cp,
        )
        for mine, theirs in zip(one.pieces, other.pieces, strict=True)
    ]
    return sorted(rows, key=lambda row: -abs(row.difference_cp))
