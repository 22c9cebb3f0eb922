"""One game between two engines of this package in this process, and its record as KIF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np

from search.engine import Engine
from search.rules.declaration import RULE_27, can_declare
from search.rules.movegen import MAX_MOVES, legal_moves
from search.rules.position import do_move
from search.rules.repetition import DRAW, LOSS, NO_REPETITION, WIN, fourfold
from search.rules.sfen import move_from_usi, position_from_sfen
from search.rules.shogi import START_SFEN

MOVE_LIMIT = 320
BLACK_WINS, WHITE_WINS, DRAWN = "black wins", "white wins", "draw"


@dataclass
class GameRecord:
    """A finished game: moves in USI, who won and why."""

    names: tuple[str, str]
    start: str = START_SFEN
    moves: list[str] = field(default_factory=list)
    scores: list[int] = field(default_factory=list)
    """Centipawns from black's view, one a move."""
    result: str = DRAWN
    ending: str = "move limit"

    @property
    def result_text(self) -> str:
        """Who won, by name."""
        if self.result == DRAWN:
            return "a draw"
        return f"{self.names[0 if self.result == BLACK_WINS else 1]} wins ({self.result.split()[0]})"


def play_game(
    players: tuple[Engine, Engine],
    names: tuple[str, str],
    *,
    nodes: int,
    start: str = START_SFEN,
    progress: Callable[[int, str, str], None] | None = None,
) -> GameRecord:
    """Play a game, `nodes` a move, until mate, resignation, declaration, fourfold repetition or the move limit."""
    game = GameRecord(names, start)
    pos, buffer = position_from_sfen(start), np.zeros(MAX_MOVES, np.uint16)
    for number in range(1, MOVE_LIMIT + 1):
        mover_wins, mover_loses = (BLACK_WINS, WHITE_WINS) if pos["turn"] == 0 else (WHITE_WINS, BLACK_WINS)
        verdict = fourfold(pos)
        if verdict != NO_REPETITION:
            game.result = {DRAW: DRAWN, WIN: mover_wins, LOSS: mover_loses}[verdict]
            game.ending = "sennichite" if verdict == DRAW else "perpetual check"
            return game
        if legal_moves(pos, buffer) == 0:
            game.result, game.ending = mover_loses, "mate"
            return game
        if can_declare(pos, np.int64(RULE_27)):
            game.result, game.ending = mover_wins, "declaration"
            return game
        analysis = players[int(pos["turn"])].analyse(start, game.moves, nodes=nodes)
        if analysis.best_move is None:
            game.result, game.ending = mover_loses, "resignation"
            return game
        game.moves.append(analysis.best_move)
        game.scores.append(analysis.score if pos["turn"] == 0 else -analysis.score)
        if progress:
            progress(number, analysis.best_move, analysis.score_text)
        do_move(pos, np.int64(move_from_usi(analysis.best_move)))
    return game


_KIF_ENDINGS = {
    "mate": "resign",  # the side that is mated gives up: KIF knows the move, not the mate, as the end
    "resignation": "resign",
    "sennichite": "sennichite",
    "declaration": "win",
    "perpetual check": "illegal_win",
    "move limit": "draw",
}


def save_kif(game: GameRecord, path: Path) -> None:
    """Write a game from the even start as KIF in UTF-8 (a name in .kifu says so), with the scores as comments."""
    import cshogi
    from cshogi.KIF import Exporter

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}.partial.kifu")
    exporter, board = Exporter(str(partial)), cshogi.Board(game.start)
    exporter.header(list(game.names), starttime=datetime.now())
    for usi, score in zip(game.moves, game.scores, strict=True):
        exporter.move(board.push_usi(usi))
        exporter.kifu.write(f"*評価値 {score}\n")
    exporter.end(_KIF_ENDINGS[game.ending])
    exporter.close()
    partial.replace(path)
