"""The games of a ShogiArena run as KIF files with the engines' scores: GUIs and `liteshogi convert` read them."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import cshogi
from rsshogi.core import Move
from rsshogi.record import GameResult, Record, RecordMetadata

_GAMES = """select game.id, initial_position_sfen, game_result, black.player_name, white.player_name
from game join player black on black.id = black_player_id join player white on white.id = white_player_id
order by game.id"""
_MOVES = "select next_move, eval, next_move_time_ms from game_move where game_id = ? order by ply"


def read_games(database: Path) -> Iterator[Record]:
    """The games that came to an end, in the order in which they did. OSError if the database cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            for number, sfen, ending, black, white in connection.execute(_GAMES).fetchall():
                result = GameResult.from_str(ending)
                if not result.is_win() and not result.is_draw():
                    continue
                rows = [row for row in connection.execute(_MOVES, (number,)) if row[0] != int(Move.MOVE_END)]
                moves = [Move(row[0]).to_usi() for row in rows]
                yield Record.from_usi_main_line(
                    sfen,
                    moves,
                    _told(result, sfen, moves),
                    move_times_ms=[row[2] for row in rows],
                    evals=[row[1] for row in rows],
                    metadata=RecordMetadata(black_player=black, white_player=white),
                )
    except (sqlite3.Error, ValueError) as error:
        raise OSError(f"{database}: {error}") from error


def _told(result: GameResult, sfen: str, moves: list[str]) -> GameResult:
    """The result as a notation tells it: who wins when to move has declared, or saw the opponent break a rule
    (perpetual check). ShogiArena calls every one a win."""
    board = cshogi.Board(sfen)
    for move in moves:
        board.push_usi(move)
    black = board.turn == cshogi.BLACK
    if result != (GameResult.BLACK_WIN if black else GameResult.WHITE_WIN):
        return result
    if board.is_nyugyoku():
        return GameResult.BLACK_WIN_BY_DECLARATION if black else GameResult.WHITE_WIN_BY_DECLARATION
    return GameResult.BLACK_WIN_BY_ILLEGAL_MOVE if black else GameResult.WHITE_WIN_BY_ILLEGAL_MOVE


def write_games(database: Path, directory: Path) -> int:
    """Write every finished game to `directory` as 0001.kifu (UTF-8) and so on; returns how many."""
    directory.mkdir(parents=True, exist_ok=True)
    count = 0
    for number, record in enumerate(read_games(database), 1):
        try:
            text = record.to_kif()
        except ValueError as error:
            print(f"warning: {database}: game {number} cannot be told in KIF: {error}", file=sys.stderr)
            continue
        (directory / f"{number:04}.kifu").write_text(text, encoding="utf-8")
        count += 1
    return count
