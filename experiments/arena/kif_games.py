"""The games of a ShogiArena run as KIF files with the engines' scores, which GUIs and this program's converter read."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rsshogi.core import Move
from rsshogi.record import GameResult

from experiments.language.catalogue import shown
from lite.amounts import amount
from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVES_USED_UP,
    REPETITION,
    WHITE_WON,
    Game,
    GameBuilder,
    GameError,
)
from lite.notation.kif_writer import PLAYER, kif_text, score_comment
from lite.records.formats import WHITE_WINS, WINNER_MASK
from search.rules.declaration import RULE_27, can_declare
from search.rules.repetition import WIN, fourfold
from search.rules.sfen import move_from_usi
from search.rules.shogi import BLACK
from search.system.files import write_atomically

CLAIMED = "入玉宣言"
"""Ending of a game that an engine has declared won without fulfilling the rules."""
REASONS = {
    "投了": "resignation or crash",
    "入玉勝ち": "declaration",
    CLAIMED: "declaration against the rule",
    "反則勝ち": "perpetual check",
    "反則負け": "illegal move",
    "切れ負け": "time",
}
"""Reasons of wins by the words for endings in KIF."""
_GAMES = """select game.id, start_date, initial_position_sfen, game_result, black.player_name, white.player_name
from game join player black on black.id = black_player_id join player white on white.id = white_player_id
order by game.id"""
_MOVES = "select next_move, eval, next_move_time_ms from game_move where game_id = ? order by ply"


def read_database(database: Path, names: Mapping[str, str]) -> Iterator[Game | GameError]:
    """Yield the finished games in the order of their ends, or an error for a game that KIF cannot express.

    `names`: names for readers by the database's names of players; others keep their names. Raises OSError if the
    database cannot be read.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            for number, started, sfen, ending, *players in connection.execute(_GAMES).fetchall():
                result = GameResult.from_str(ending)
                if not result.is_win() and not result.is_draw():
                    continue
                builder = GameBuilder(f"{database}: game {number}", sfen)
                builder.names = [names.get(player, player) for player in players]
                if started is not None:
                    builder.headers["開始日時"] = f"{datetime.fromisoformat(started):%Y/%m/%d %H:%M:%S}"
                try:
                    yield _replayed(builder, result, connection.execute(_MOVES, (number,)))
                except GameError as error:
                    yield GameError(f"{builder.place}: {error}", error.reason)
    except (sqlite3.Error, ValueError) as error:
        raise OSError(f"{database}: {error}") from error


def _replayed(builder: GameBuilder, result: GameResult, rows: Iterator[Any]) -> Game:
    for move, score, milliseconds in rows:
        if move == int(Move.MOVE_END):
            continue
        black_moved = builder.turn == BLACK
        builder.play(move_from_usi(Move(move).to_usi()))
        if milliseconds is not None:
            builder.time_of_last(milliseconds)
        if score is not None:  # the engine's own view
            builder.comment(score_comment(score if black_moved else -score, PLAYER))
    word, outcome = _ending(builder, result)
    return builder.finish(word, outcome)


def _ending(builder: GameBuilder, result: GameResult) -> tuple[str, int]:
    """Return (KIF's word, outcome). ShogiArena has one word for wins: a winner that is to move has declared, which
    ShogiArena does not check, or the opponent has broken a rule (perpetual check)."""
    if result.is_draw():
        by = {"DRAW_BY_REPETITION": ("千日手", REPETITION), "DRAW_BY_MAX_PLIES": ("最大手数", MOVES_USED_UP)}
        return by.get(result.name, ("持将棋", DRAWN))
    if result.is_black_win() != (builder.turn == BLACK):
        if result.is_win_by_declaration():
            raise GameError("it was declared won by the side that is not to move")
        if result.name.endswith("ILLEGAL_MOVE"):
            return "反則負け", ILLEGAL_MOVE
        return "切れ負け" if result.name.endswith("TIMEOUT") else "投了", MOVER_LOSES
    if result.is_win_by_declaration() or can_declare(builder.pos, np.int64(RULE_27)):
        return "入玉勝ち", MOVER_DECLARES
    if result.name.endswith("_WIN") and fourfold(builder.pos) != WIN:
        return CLAIMED, MOVER_DECLARES
    return "反則勝ち", BLACK_WON if result.is_black_win() else WHITE_WON


def write_games(database: Path, directory: Path, names: Mapping[str, str]) -> list[str]:
    """Write every finished game to `directory` as 0001.kifu (UTF-8) and so on; returns remarks on wins and times.

    ShogiArena has one word for most wins. Their reasons follow from the games.
    """
    directory.mkdir(parents=True, exist_ok=True)
    declared: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    times: dict[str, list[np.ndarray]] = {}
    for number, game in enumerate(read_database(database, names), 1):
        if isinstance(game, GameError):
            print(shown(f"warning: not written, as KIF cannot express it: {game}"), file=sys.stderr)
            continue
        write_atomically(directory / f"{number:04}.kifu", kif_text(game).encode())
        if reason := REASONS.get(game.ending):
            reasons[reason] += 1
        if game.ending == CLAIMED:
            declared[game.names[game.result & WINNER_MASK == WHITE_WINS]] += 1
        white_begins = game.start_sfen.split()[1] == "w"
        for begin in range(2):
            times.setdefault(game.names[begin ^ white_begins], []).append(game.times[begin:-1:2])
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    remarks = [f"reasons of wins: {counts}"] if counts else []
    if spent := ", ".join(filter(None, (_spent(name, np.concatenate(parts)) for name, parts in times.items()))):
        remarks.append(f"time per move, median (90th percentile): {spent}")
    return remarks + [
        f"{name} declared {amount(count, 'win')} that the rule of 27 points does not allow, counted as won"
        for name, count in declared.items()
    ]


def _spent(name: str, milliseconds: np.ndarray) -> str:
    """Return a player's times per move for a reader; empty if none is known (-1)."""
    known = milliseconds[milliseconds >= 0]
    return f"{name} {np.median(known):.0f} ({np.percentile(known, 90):.0f}) ms" if len(known) else ""
