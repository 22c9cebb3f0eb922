"""A server of the CSA protocol for tests, with the rules, clocks and records of shogi-server.

It pairs logins for the same game (`NAME-SECONDS-SECONDS`, followed by F for Fischer's clock), checks moves by cshogi,
and ends connections after a game as shogi-server does: at once for the player whose line ended the game, for the other
one at its next line. It can drop a connection during a game and replace lines.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import cshogi

_FINISHED = "finished"
_GAME = re.compile(r"[\w@.\-]+?-([0-9]+)-([0-9]+)(F?)")
_MOVE = re.compile(r"([+-])([0-9]{4}[A-Z]{2})(?:,(.*))?")
_START = "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY\nP2 * -HI *  *  *  *  * -KA * \nP3-FU-FU-FU-FU-FU-FU-FU-FU-FU\n"
_START += "".join(f"P{rank}{' * ' * 9}\n" for rank in (4, 5, 6))
_START += "P7+FU+FU+FU+FU+FU+FU+FU+FU+FU\nP8 * +KA *  *  *  *  * +HI * \nP9+KY+KE+GI+KI+OU+KI+GI+KE+KY\n+\n"


class Client:
    """A connection, before and after its login."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.name, self.game = "", ""
        self._rest = b""
        self.lines: list[str] = []
        self.received: list[str] = []
        self.is_open = True

    def send(self, *lines: str) -> None:
        try:
            self.socket.sendall("".join(f"{line}\n" for line in lines).encode())
        except OSError:
            self.is_open = False

    def read(self) -> None:
        """Read the lines that have arrived; answer empty lines by empty lines."""
        try:
            part = self.socket.recv(4096)
        except OSError:
            part = b""
        if not part:
            self.is_open = False
            return
        *lines, self._rest = (self._rest + part).split(b"\n")
        for line in lines:
            self.received.append(line.decode())
            if line:
                self.lines.append(line.decode())
            else:
                self.send("")

    def close(self) -> None:
        """End the connection. Reads everything first; otherwise the system would drop the last lines of the server."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
            self.socket.settimeout(1.0)
            while self.socket.recv(4096):
                pass
        self.is_open = False
        self.socket.close()


@dataclass
class ServerRecord:
    """The server's record of a game."""

    names: tuple[str, str]
    moves: list[str] = field(default_factory=list)
    """Moves in CSA notation."""
    seconds: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    ending: str = ""
    """Reason of shogi-server's summary: toryo, time up, illegal move, sennichite, abnormal, ..."""
    winner: int | None = None
    """0 black, 1 white; None for a draw."""


@dataclass
class Rules:
    """Settings of the server."""

    passwords: dict[str, str] = field(default_factory=dict)
    """Accounts with a password; other accounts are created at their first login."""
    max_moves: int = 256
    drops: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Connections to drop: {number of the game: (number of moves before, colour)}."""
    replace: Callable[[str], str] = lambda line: line
    """Function that replaces lines of the server to the clients."""


class CsaServer:
    """A running server on a free port of this machine; a context manager."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.records: list[ServerRecord] = []
        self.logins: list[str] = []
        self.clients: list[Client] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._waiting: list[Client] = []
        self._lock = threading.Lock()
        self._is_open = True

    def __enter__(self) -> CsaServer:
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._thread.join()
        self._listener.close()
        for client in self.clients:
            client.close()

    def _accept(self) -> None:
        """Accept connections and logins and read lines of waiting clients, until the server ends."""
        while self._is_open:
            with self._lock:
                idle = [client for client in self.clients if client.is_open and not client.game.startswith("playing")]
            ready, _, _ = select.select([self._listener, *(one.socket for one in idle)], [], [], 0.02)
            for client in idle:
                if client.socket in ready:
                    client.read()
                    self._idle_lines(client)
                if not client.is_open:
                    client.socket.close()
                    self._waiting = [one for one in self._waiting if one is not client]
            if self._listener in ready:
                client = Client(self._listener.accept()[0])
                with self._lock:
                    self.clients.append(client)
            self._pair()

    def _idle_lines(self, client: Client) -> None:
        while client.lines:
            line = client.lines.pop(0)
            words = line.split(" ")
            if client.game == _FINISHED:
                client.close()
                return
            if words[0] == "LOGIN" and len(words) == 3:
                self.logins.append(line)
                game, _, password = words[2].rpartition(",")
                known = self.rules.passwords.setdefault(words[1], password)
                if known != password:
                    client.send("LOGIN:incorrect")
                    continue
                for other in [one for one in self._waiting if one.name == words[1]]:
                    self._waiting.remove(other)
                    other.close()
                client.name, client.game = words[1], game
                client.send(self.rules.replace(f"LOGIN:{client.name} OK"))
                self._waiting.append(client)
            elif line == "LOGOUT":
                client.send("LOGOUT:completed")
                self._waiting = [one for one in self._waiting if one is not client]
                client.close()
                return

    def _pair(self) -> None:
        for first in self._waiting:
            second = next((one for one in self._waiting if one is not first and one.game == first.game), None)
            if second is None or not _GAME.fullmatch(first.game):
                continue
            pair = sorted((first, second), key=lambda one: one.name)
            self._waiting = [one for one in self._waiting if one not in pair]
            if len(self.records) % 2:
                pair.reverse()
            game = Table(self, pair, first.game, len(self.records) + 1)
            self.records.append(game.record)
            for client in pair:
                client.game = f"playing {first.game}"
            threading.Thread(target=game.run, daemon=True).start()
            return

    def leave(self, pair: list[Client], ender: Client) -> None:
        """Release the players of a game.

        The ender's connection is closed before it is released: the accepting thread must not wait on a closed socket.
        """
        ender.close()
        for client in pair:
            client.game = _FINISHED


class Table:
    """A game of two clients."""

    def __init__(self, server: CsaServer, pair: list[Client], game: str, number: int) -> None:
        match = _GAME.fullmatch(game)
        assert match is not None
        self.server, self.pair, self.game, self.number = server, pair, game, number
        self.game_id = f"test+{game}+{pair[0].name}+{pair[1].name}+{number:014}"
        self.total, per_move = int(match[1]), int(match[2])
        self.byoyomi, self.increment = (0, per_move) if match[3] else (per_move, 0)
        self.left = [self.total, self.total]
        self.board = cshogi.Board()
        self.ender = pair[0]
        self.record = ServerRecord((pair[0].name, pair[1].name))

    def send(self, *lines: str) -> None:
        for client in self.pair:
            client.send(*(self.server.rules.replace(line) for line in lines))

    def run(self) -> None:
        try:
            if self.agree():
                self.play()
        finally:
            self.server.leave(self.pair, self.ender)

    def agree(self) -> bool:
        for colour, client in enumerate(self.pair):
            fields = (
                f"Protocol_Version:1.2\nProtocol_Mode:Server\nFormat:Shogi 1.0\nDeclaration:Jishogi 1.1\n"
                f"Game_ID:{self.game_id}\nName+:{self.pair[0].name}\nName-:{self.pair[1].name}\n"
                f"Your_Turn:{'+-'[colour]}\nRematch_On_Draw:NO\nTo_Move:+\nMax_Moves:{self.server.rules.max_moves}\n"
                f"BEGIN Time\nTime_Unit:1sec\nTotal_Time:{self.total}\nByoyomi:{self.byoyomi}\n"
                f"Increment:{self.increment}\nLeast_Time_Per_Move:0\nEND Time\nBEGIN Position\n{_START}END Position"
            )
            lines = ["BEGIN Game_Summary", *fields.split("\n"), "END Game_Summary"]
            client.send(*(self.server.rules.replace(line) for line in lines))
        agreed: set[int] = set()
        end = time.monotonic() + 60
        while len(agreed) < 2:
            for colour, line in self.read(end):
                if line is None or line.startswith("REJECT") or line == "LOGOUT":
                    self.send(f"REJECT:{self.game_id} by {self.pair[colour].name}")
                    self.record.ending = "rejected"
                    return False
                if line.startswith("AGREE"):
                    agreed.add(colour)
            if time.monotonic() >= end:
                return False
        self.send(f"START:{self.game_id}")
        return True

    def read(self, end: float) -> list[tuple[int, str | None]]:
        """Yield the next lines of the players until a time; None if a connection has ended."""
        found: list[tuple[int, str | None]] = []
        for colour, client in enumerate(self.pair):
            found += [(colour, client.lines.pop(0)) for _ in range(len(client.lines))]
            if not client.is_open:
                found.append((colour, None))
        if found:
            return found
        sockets = [client.socket for client in self.pair]
        ready, _, _ = select.select(sockets, [], [], max(0.0, min(0.05, end - time.monotonic())))
        for client in self.pair:
            if client.socket in ready:
                client.read()
        return found

    def play(self) -> None:
        begun = time.monotonic()
        while True:
            drop = self.server.rules.drops.get(self.number)
            if drop is not None and len(self.record.moves) >= drop[0]:
                self.ender = self.pair[drop[1]]
                self.ender.socket.shutdown(socket.SHUT_RDWR)
                self.finish("abnormal", "#RESIGN", 1 - drop[1], "%TORYO")
                return
            turn = len(self.record.moves) % 2
            allowed = self.left[turn] + self.byoyomi + self.increment
            lines = self.read(begun + allowed)
            if time.monotonic() - begun >= allowed:
                self.finish("time up", "#TIME_UP", 1 - turn)
                return
            for colour, line in lines:
                if line is None or line == "LOGOUT":
                    self.finish("abnormal", "#RESIGN", 1 - colour, "%TORYO")
                    return
                if colour != turn:
                    continue
                if self.move(turn, line, int(time.monotonic() - begun)):
                    return
                begun = time.monotonic()

    def move(self, turn: int, line: str, seconds: int) -> bool:
        """Process a line of the side to move; return whether the game is over."""
        self.ender = self.pair[turn]
        if line == "%TORYO":
            self.finish("toryo", "#RESIGN", 1 - turn, "%TORYO")
            return True
        if line == "%KACHI":
            wins = bool(self.board.is_nyugyoku())
            reason = ("kachi", "#JISHOGI") if wins else ("illegal kachi", "#ILLEGAL_MOVE")
            self.finish(*reason, turn if wins else 1 - turn, "%KACHI")
            return True
        match = _MOVE.fullmatch(line)
        move = self.board.move_from_csa(match[2]) if match and match[1] == "+-"[turn] else 0
        if match is None or not self.board.is_legal(move):
            self.finish("illegal move", "#ILLEGAL_MOVE", 1 - turn)
            return True
        self.board.push(move)
        text = match[1] + match[2]
        self.left[turn] = max(0, self.left[turn] + self.increment - seconds)
        self.record.moves.append(text)
        self.record.seconds.append(seconds)
        self.record.comments.append(match[3] or "")
        self.send(f"{text},T{seconds}")
        repeated = self.board.is_draw()
        if repeated == cshogi.REPETITION_DRAW and self.fourth():
            self.finish("sennichite", "#SENNICHITE", None)
        elif repeated in (cshogi.REPETITION_WIN, cshogi.REPETITION_LOSE) and self.fourth():
            mover_wins = repeated == cshogi.REPETITION_LOSE
            self.finish("oute_sennichite", "#OUTE_SENNICHITE", turn if mover_wins else 1 - turn)
        elif len(self.record.moves) >= self.server.rules.max_moves:
            self.finish("max_moves", "#MAX_MOVES", None)
        else:
            return False
        return True

    def fourth(self) -> bool:
        """Return whether this is the fourth occurrence of the position; cshogi also reports the second one."""
        replay = cshogi.Board()
        keys = [replay.zobrist_hash()]
        for move in self.board.history:
            replay.push(move)
            keys.append(replay.zobrist_hash())
        return keys.count(keys[-1]) >= 4

    def finish(self, reason: str, word: str, winner: int | None, statement: str = "") -> None:
        self.record.ending, self.record.winner = reason, winner
        for colour, client in enumerate(self.pair):
            draw = "#CENSORED" if reason == "max_moves" else "#DRAW"
            result = draw if winner is None else "#WIN" if winner == colour else "#LOSE"
            lines = [*([statement] if statement else []), word, result]
            client.send(*(self.server.rules.replace(line) for line in lines))
