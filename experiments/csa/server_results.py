"""The results of games on a server: lines of the run folder, and the report of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.csa.endings import Result
from lite.run_folder import Line


@dataclass(frozen=True)
class ServerGameLine(Line, kind="server game"):
    """A game that the server has started."""

    number: int
    game_id: str
    black: str
    white: str
    colour: Literal["black", "white"]
    """Own colour."""
    result: Result
    """Own result; unfinished if the server interrupted the game, or the connection was lost before a result."""
    ending: str
    """CSA's word for the ending, such as TORYO or TIME_UP; `connection lost` if the server reported none."""
    moves: int
    started: str
    """Time of the start, ISO 8601."""
    seconds: float
    kif: str
    """Name of the record in the run's folder; empty for a game without moves, or whose record could not be written."""


@dataclass(frozen=True)
class LostConnection(Line, kind="lost connection"):
    """A connection that ended early, or could not be made."""

    at: str
    """Time, ISO 8601."""
    game: int
    """Number of the game under way; 0 between games."""
    reason: str


@dataclass(frozen=True)
class ServerReport:
    """The report of all games of a run on a server."""

    server: str
    """Host and port."""
    name: str
    """The engine's name on the server."""
    games: int
    wins: int
    draws: int
    losses: int
    unfinished: int
    """Games that the server interrupted, or whose connection was lost before a result."""
    losses_on_time: int
    """Number of lost games in which the time ran out."""
    lost_connections: int
    """Connections that ended early, and failed attempts to connect."""
    endings: dict[str, int]
    """Number of games by CSA's word for the ending."""
    folder: Path
    """Folder of the run."""


def report_of(
    server: str, name: str, games: Sequence[ServerGameLine], lost: Sequence[LostConnection], folder: Path
) -> ServerReport:
    """Count the games of a run."""
    results = Counter(game.result for game in games)
    return ServerReport(
        server,
        name,
        len(games),
        results["win"],
        results["draw"],
        results["loss"],
        results["unfinished"],
        sum(game.result == "loss" and game.ending == "TIME_UP" for game in games),
        len(lost),
        dict(Counter(game.ending for game in games).most_common()),
        folder,
    )
