"""The steps before a game: log in, wait for a game, agree to it."""

from __future__ import annotations

from collections.abc import Callable

from experiments.csa.connection import Connection
from experiments.csa.engine_player import EnginePlayer
from experiments.csa.events import ConnectionLost, LoginRefused, ServerError
from experiments.csa.game_summary import BEGIN, END, MOST_LINES, Summary, read_summary
from lite.notation.game import quoted

LOGIN_SECONDS = 30.0
"""Seconds to wait for the answer to LOGIN."""
SUMMARY_SECONDS = 60.0
"""Seconds to wait from one line of a game summary to the next."""
START_SECONDS = 300.0
"""Seconds to wait for the opponent to agree. shogi-server waits for 120 seconds."""
WAITING_SECONDS = 7 * 86_400.0
"""Seconds to wait for a game to be offered."""
MOST_IGNORED = 1000
"""Most lines between two games that have no meaning for a player."""


def log_in(connection: Connection, name: str, password: str, game: str) -> None:
    """Log in. `game`: the game to request; empty for none.

    Raises LoginRefused, ConnectionLost, or ServerError for another answer.
    """
    secret = f"{game},{password}" if game else password
    connection.send(f"LOGIN {name} {secret}", f"LOGIN {name} {f'{game},' if game else ''}********")
    line = connection.line(LOGIN_SECONDS, "answer to LOGIN")
    assert line is not None
    if line == "LOGIN:incorrect":
        raise LoginRefused(f"name {name} and password are not accepted, or the name is in use")
    if line != f"LOGIN:{name} OK":
        raise ServerError(line, "not an answer to LOGIN; check that the server speaks the CSA protocol")


def wait_for_summary(connection: Connection, give_up: Callable[[], bool]) -> Summary | None:
    """Return the next game that the server proposes, or None after `give_up` is true.

    A game that cannot be read is rejected. Raises ConnectionLost, ServerError.
    """
    for _ in range(MOST_IGNORED):
        line = connection.line(WAITING_SECONDS, "game", give_up)
        if line is None:
            return None
        if line == BEGIN:
            break
    else:
        raise ServerError(line or "", f"{MOST_IGNORED:,} lines without a game")
    lines: list[str] = []
    while (line := connection.line(SUMMARY_SECONDS, "line of the game summary")) != END:
        assert line is not None
        lines.append(line)
        if len(lines) > MOST_LINES:
            raise ServerError(line, f"a game summary of more than {MOST_LINES:,} lines")
    try:
        return read_summary(lines)
    except ServerError:
        connection.send("REJECT")
        raise


def agree(connection: Connection, summary: Summary, player: EnginePlayer) -> None:
    """Get the engine ready, agree to a game, and wait for its start.

    Raises ConnectionLost also if the game is rejected, ServerError, or ValueError if the engine does not get ready.
    """
    try:
        player.prepare(connection.events, summary.max_moves)
    except ValueError:
        connection.send("REJECT")
        raise
    connection.send("AGREE")
    for _ in range(MOST_IGNORED):
        line = connection.line(START_SECONDS, "start of the game")
        assert line is not None
        if line.startswith("REJECT:"):
            raise ConnectionLost(f"the game was rejected: {quoted(line, 80)}")
        if line.startswith("START:"):
            if line != f"START:{summary.game_id}":
                raise ServerError(line, f"the game that was agreed to is {quoted(summary.game_id, 80)}")
            return
    raise ServerError(line or "", f"{MOST_IGNORED:,} lines without a start")
