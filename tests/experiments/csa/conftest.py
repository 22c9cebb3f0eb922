"""Fixtures: clients that play each other on a server on this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.csa.play import play_on_server
from experiments.csa.server_play import ServerPlay
from experiments.csa.server_results import ServerReport
from lite.notation.game import Game
from lite.notation.games import read_games
from tests.experiments.csa.csa_server import CsaServer, ServerRecord

Play = Callable[..., list[ServerReport]]
GAME = "test-10-2F"


@pytest.fixture
def play(tmp_path: Path, scripted) -> Play:
    """play(server, games, ...): play games between two clients and return their reports."""

    def played(
        server: CsaServer, games: int, first: str = "play", second: str = "play", **others
    ) -> list[ServerReport]:
        clients = [
            ServerPlay(
                name=name,
                host="127.0.0.1",
                port=server.port,
                game=GAME,
                engine=scripted.command(behaviour),
                games=games,
                attempts=4,
                output=tmp_path / name,
                **others,
            )
            for name, behaviour in (("first", first), ("second", second))
        ]
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(play_on_server, clients, ("secret-1", "secret-2")))

    return played


def kif_of(folder: Path, number: int) -> Game:
    (game,) = read_games(folder / "kif" / f"{number:04}.kifu", unfinished=True)
    assert isinstance(game, Game), game
    return game


def differences(folder: Path, records: list[ServerRecord]) -> list[str]:
    """Return where a client's KIF differs from the server's record, over all games with a move."""
    from lite.notation.csa_moves import csa_move
    from lite.notation.game import GameBuilder
    from lite.records.formats import BLACK_WINS, DRAW, WHITE_WINS, WINNER_MASK

    found = []
    for number, record in enumerate(records, 1):
        if not record.moves:
            continue
        game = kif_of(folder, number)
        builder, moves = GameBuilder("replay", game.start_sfen), []
        for move in game.moves.tolist():
            moves.append(csa_move(builder.pos, move))
            builder.play(move)
        if moves != record.moves:
            found.append(f"game {number}: moves {moves[-3:]} not {record.moves[-3:]}")
        if (game.times[: len(moves)] // 1000).tolist() != record.seconds:
            found.append(f"game {number}: times")
        if game.names != record.names:
            found.append(f"game {number}: names {game.names}")
        winner = {None: DRAW, 0: BLACK_WINS, 1: WHITE_WINS}[record.winner]
        if record.ending != "abnormal" and game.result & WINNER_MASK != winner:
            found.append(f"game {number}: result {game.result} not {record.ending} {record.winner}")
    return found
