"""Say how the side that a search has found to win wins, where that is not a mate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from search.engine import DECLARE, Analysis
from search.rules.declaration import can_declare
from search.rules.movegen import list_moves
from search.rules.play import set_game
from search.rules.position import do_move, new_position
from search.rules.repetition import LOSS, WIN, game_repetition
from search.rules.sfen import move_from_usi
from search.score import is_mate

WonBy = Literal["declaration", "perpetual check"]


def won_by(found: Analysis, start: str, moves: Sequence[str], declaration_rule: int) -> WonBy | None:
    """Return how a line with a mate score ends; None for a mate, for a score, and if the line ends before that.

    The search gives mate scores to all that wins by force: also to a declaration, and to the opponent's perpetual
    check. start, moves: the searched position. declaration_rule: see `Rules`.
    """
    if not is_mate(found.score):
        return None
    if found.pv[-1:] == (DECLARE,):
        return "declaration"
    pos = new_position()
    set_game(pos, start, moves)
    for usi in found.pv:
        do_move(pos, move_from_usi(usi))
    if not list_moves(pos):
        return None
    if can_declare(pos, np.int64(declaration_rule)):
        return "declaration"
    plies = np.int64(len(found.pv))
    return "perpetual check" if int(game_repetition(pos, plies, plies)) in (WIN, LOSS) else None
