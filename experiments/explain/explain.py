"""What a network says of a position and why: its value, each piece's part in it, and the value after each move.

Centipawns are the mover's, but for what is named after Black. A contribution is what `leave_one_out` says: the value of
the position with a piece less the value without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.explain.line_units import line_units
from experiments.network_kinds.kind import Kind, kind_of
from experiments.network_kinds.position_values import Valuer, empty_views, load_valuer
from search.evaluation.leave_one_out import Man, black_contributions, leave_one_out
from search.evaluation.static_evaluation import set_game_with_kings
from search.rules.movegen import list_moves
from search.rules.position import do_move, new_position, undo_move
from search.rules.sfen import get_sfen, move_to_usi, square_to_usi
from search.rules.shogi import BLACK, KIND_LETTERS, KINDS
from search.rules.view import view_position

SIDES = ("black", "white")


@dataclass(frozen=True, eq=False)
class Explained:
    """A position, its men but the kings, and the figures of one network."""

    position: np.void
    men: tuple[Man, ...]
    contributions: list[int]
    """Of each man, in centipawns of Black's."""
    figures: dict[str, Any]
    """As `liteshogi explain --json` prints them."""


def explain(net: str, sfen: str) -> Explained:
    """What a network of any kind says of a position (`startpos` or an SFEN, and perhaps `moves ...`), and why.

    Raises OSError or ValueError in words.
    """
    pos = new_position()
    set_game_with_kings(pos, sfen)
    valuer, turn = load_valuer(net), int(pos["turn"])
    left = leave_one_out(pos)
    values = valuer(left.pieces, left.hands, left.in_check)
    worth = black_contributions([value.score_cp for value in values], turn)
    sign = 1 if turn == BLACK else -1
    figures: dict[str, Any] = {"net": net, "sfen": get_sfen(pos), "side_to_move": SIDES[turn]} | values[0].as_json()
    figures["black_score_cp"] = sign * values[0].score_cp
    figures["pieces"] = [
        {
            "piece": KIND_LETTERS[man.piece % KINDS],
            "colour": SIDES[man.piece // KINDS],
            "square": None if man.square is None else square_to_usi(man.square),
            "held": man.held,
            "contribution_cp": sign * black_cp,
            "black_contribution_cp": black_cp,
            "possible": bool(possible),
        }
        for man, black_cp, possible in zip(left.men, worth, left.possible[1:], strict=True)
    ]
    figures["moves"] = _moves(valuer, pos)
    if kind_of(net) is Kind.VALUE:
        figures["units"], reason = line_units(net, left, turn)
    else:
        figures["units"], reason = None, "file and rank units are seen in a trained lite network alone: give its run"
    if reason:
        figures["units_left_out"] = reason
    return Explained(pos, left.men, worth, figures)


def _moves(valuer: Valuer, pos: np.void) -> list[dict[str, Any]]:
    """The static value after each legal move, by the side that makes it, best first."""
    moves = list_moves(pos)
    if not moves:
        return []
    arrays = empty_views(len(moves))
    for number, move in enumerate(moves):
        do_move(pos, np.int64(move))
        view_position(pos, *arrays, np.int64(number))
        undo_move(pos, np.int64(move))
    rows = [
        {"move": move_to_usi(move), "score_cp": -value.score_cp, "win_rate": 1 - value.win_rate}
        for move, value in zip(moves, valuer(*arrays), strict=True)
    ]
    return sorted(rows, key=lambda row: -row["win_rate"])


def compare(one: Explained, other: Explained) -> list[dict[str, Any]]:
    """The men of a position that two networks have explained, those first whose contributions differ most.

    Black's centipawns: {piece, colour, square, held, contributions [2], difference, of the second less the first}.
    """
    rows = [
        {name: mine[name] for name in ("piece", "colour", "square", "held")}
        | {
            "black_contributions_cp": [mine["black_contribution_cp"], theirs["black_contribution_cp"]],
            "difference_cp": theirs["black_contribution_cp"] - mine["black_contribution_cp"],
        }
        for mine, theirs in zip(one.figures["pieces"], other.figures["pieces"], strict=True)
    ]
    return sorted(rows, key=lambda row: -abs(row["difference_cp"]))
