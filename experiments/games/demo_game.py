"""The game of the demonstration: two engines of this package, with a line for each move."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np

from lite.notation.game import (
    BLACK_WON,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVES_USED_UP,
    REPETITION,
    WHITE_WON,
    Game,
    GameBuilder,
)
from lite.notation.kif_writer import PLAYER, score_comment
from lite.records.formats import BLACK_WINS, DRAW, WINNER_MASK
from search.engine import Engine
from search.rules.declaration import RULE_27, can_declare
from search.rules.movegen import list_moves
from search.rules.repetition import LOSS, NO_REPETITION, WIN, fourfold
from search.rules.sfen import move_from_usi
from search.rules.shogi import BLACK, START_SFEN

MOVE_LIMIT = 320
_IN_ENGLISH = {
    "詰み": "mate",
    "投了": "resignation",
    "千日手": "sennichite",
    "反則勝ち": "perpetual check",
    "反則負け": "perpetual check",
    "入玉勝ち": "declaration",
    "最大手数": "move limit",
}


def play_game(
    players: tuple[Engine, Engine],
    names: tuple[str, str],
    *,
    nodes: int,
    start: str = START_SFEN,
    progress: Callable[[int, str, str], None] | None = None,
) -> Game:
    """Play a game at `nodes` per move until mate, resignation, declaration, fourfold repetition or the move limit."""
    builder, moves = GameBuilder(f"{names[0]} against {names[1]}", start), list[str]()
    builder.names = list(names)
    builder.headers["開始日時"] = f"{datetime.now():%Y/%m/%d %H:%M:%S}"
    for number in range(1, MOVE_LIMIT + 1):
        if (over := _over(builder)) is not None:
            return builder.finish(*over)
        black = builder.turn == BLACK
        analysis = players[builder.turn].analyse(start, moves, nodes=nodes)
        if analysis.best_move is None:
            return builder.finish("投了", MOVER_LOSES)
        moves.append(analysis.best_move)
        builder.play(move_from_usi(analysis.best_move))
        builder.time_of_last(analysis.milliseconds)
        if analysis.depth:  # a search that was stopped before depth 1 has no score
            score = analysis.score if black else -analysis.score
            builder.score_of_last(score)
            builder.comment(score_comment(score, PLAYER))
        if progress:
            progress(number, analysis.best_move, analysis.score_text if analysis.depth else "no score")
    return builder.finish(*(_over(builder) or ("最大手数", MOVES_USED_UP)))


def _over(builder: GameBuilder) -> tuple[str, int] | None:
    """Return the ending in KIF's words and its meaning, if the position is one where the game ends."""
    verdict = fourfold(builder.pos)
    if verdict in (WIN, LOSS):
        word = "反則勝ち" if verdict == WIN else "反則負け"
        return word, BLACK_WON if (verdict == WIN) == (builder.turn == BLACK) else WHITE_WON
    if verdict != NO_REPETITION:
        return "千日手", REPETITION
    if not list_moves(builder.pos):
        return "詰み", MOVER_LOSES
    return ("入玉勝ち", MOVER_DECLARES) if can_declare(builder.pos, np.int64(RULE_27)) else None


def ending_in_english(game: Game) -> str:
    """Return the reason why the game ended, in English."""
    return _IN_ENGLISH[game.ending]


def result_in_english(game: Game) -> str:
    """Return the winner's name and side, in English."""
    winner = game.result & WINNER_MASK
    if winner == DRAW:
        return "a draw"
    black = winner == BLACK_WINS
    return f"{game.names[0 if black else 1]} wins ({'black' if black else 'white'})"
