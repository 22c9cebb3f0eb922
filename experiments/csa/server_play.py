"""The options of games on a server of the CSA protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from experiments.csa.connection import LEAST_KEEP_ALIVE
from search.system.bounds import check_number, check_numbers
from search.system.options import OptionError

FLOODGATE = "wdoor.c.u-tokyo.ac.jp"
DELAY = "NetworkDelay2"
"""Option by which engines reserve time for the connection to the server."""
MARGIN = 1000
"""Milliseconds reserved for the connection to the server, for engines without that option."""
_NAME = re.compile(r"[A-Za-z0-9_@.\-]{1,32}")


@dataclass(frozen=True, kw_only=True)
class ServerPlay:
    """Options of games on a server."""

    name: str
    """Name of the account; the first login on floodgate makes it."""
    host: str = FLOODGATE
    """The server's name or address."""
    port: int = 4081
    """The server's port."""
    game: str = "floodgate-300-10F"
    """Game to request, as shogi-server names it: seconds of each side and seconds per move, F for Fischer's
    clock. Empty for servers that pair by themselves."""
    engine: str = "default"
    """The player: a network's file or name, which this engine plays, or the command of a USI engine, perhaps with
    arguments, in quotes."""
    option: tuple[str, ...] = ()
    """NAME=VALUE options of the engine, such as Threads=4 USI_Hash=1024."""
    ponder: bool = False
    """Think on the opponent's time."""
    games: int = 0
    """Games to play, those of earlier calls in the folder included; 0 means no limit."""
    resign_score: int = 0
    """Resign after three consecutive moves whose score is at most minus this many centipawns; 0 means that only the
    engine decides."""
    margin: int | None = None
    """Milliseconds that the engine's clock is short of the server's, reserved for the connection. By default 0 for
    engines that reserve such time themselves (NetworkDelay2), 1,000 for others."""
    comments: bool = True
    """Send the score and the best line of each move, which floodgate shows to all."""
    keep_alive: int = 60
    """Seconds without a sent line after which an empty line keeps the connection alive; at least 30."""
    attempts: int = 30
    """Consecutive failed connections, without a finished game between them, after which the run ends with an error; 0
    means no limit. The pauses between them grow from one second to a minute."""
    output: Path = Path("runs/floodgate")
    """Folder of the run: kif/ has a KIF of each game, dialogue/ the lines from and to the server."""

    @property
    def place(self) -> str:
        """The server for readers: host and port."""
        return f"{self.host}:{self.port}"

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_number("port", self.port, most=65_535)
        check_number("keep_alive", self.keep_alive, LEAST_KEEP_ALIVE, 3600)
        check_numbers(self, "games", "attempts", "resign_score", "margin", least=0)
        if not _NAME.fullmatch(self.name):
            raise OptionError(
                f"`name` {self.name!r}: must be of 1 to 32 ASCII letters, digits and the characters _ @ . -", "name"
            )
        if not self.host or not self.host.isprintable() or " " in self.host:
            raise OptionError(f"`host` {self.host!r}: must be a name or an address", "host")
        if self.game and (not self.game.isascii() or not self.game.isprintable() or set(self.game) & set(" ,")):
            raise OptionError(f"`game` {self.game!r}: must be of ASCII characters without blanks and commas", "game")
