"""A connection to a server of the CSA protocol: lines in both directions, with limits, keep-alive and a diary."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Self

from experiments.csa.events import Closed, ConnectionLost, Event, Events, Received, ServerError, Thought
from experiments.language.decoding import decoded
from search.system.interrupt import WAIT_SECONDS

CONNECT_SECONDS = 30.0
"""Seconds within which a connection must be made."""
SEND_SECONDS = 30.0
"""Seconds within which the system must take one line; its buffer is full only if the server takes nothing."""
LONGEST_LINE = 4096
"""Most bytes of a line of the server."""
MOST_WAITING = 1000
"""Most lines that wait to be processed; the connection stops taking more until there is room."""
LEAST_KEEP_ALIVE = 30
"""Shortest time between two empty lines in seconds, by the protocol."""
SILENT_INTERVALS = 3
"""Intervals after an empty line to the server after which a server that has answered empty lines before, and has sent
no line since, counts as lost."""
LOGOUT_SECONDS = 3.0
"""Seconds to wait for the answer to LOGOUT."""
ENDED = "the server closed the connection"

Diary = Callable[[str, str], None]
"""Takes the mark of the direction, `<` from the server and `>` to it, and the line."""


class Connection:
    """An open connection; a context manager that closes it. A thread reads the server's lines into `events`."""

    def __init__(self, host: str, port: int, keep_alive: float, diary: Diary) -> None:
        """Connect. `keep_alive`: seconds without a sent line after which an empty line is sent.

        Raises ConnectionLost, whose cause is the system's error, if no connection can be made."""
        self.place = f"{host}:{port}"
        self.events: Events = queue.Queue(MOST_WAITING)
        self._keep_alive_seconds, self._diary = keep_alive, diary
        try:
            self._socket = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise ConnectionLost(error.strerror or str(error)) from error
        except UnicodeError as error:
            raise ConnectionLost(str(error)) from error
        self._socket.settimeout(SEND_SECONDS)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._is_open = True
        self._last_sent = time.monotonic()
        self._pinged: float | None = None
        """Time of the first empty line since the server's last line; None without one."""
        self._answers_pings = False
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        with contextlib.suppress(OSError):  # the other side has closed it
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def send(self, line: str, shown: str | None = None) -> None:
        """Send a line. `shown`: text for the diary, for a line with a secret. Raises ConnectionLost."""
        if line:
            self._diary(">", line if shown is None else shown)
        self._last_sent = time.monotonic()
        try:
            self._socket.sendall(line.encode() + b"\n")
        except OSError as error:
            raise ConnectionLost(f"cannot send: {error.strerror or error}") from error

    def wait(self, seconds: float = WAIT_SECONDS) -> Received | Thought | None:
        """Return the next event; None if there is none within `seconds`. Raises ConnectionLost at the end.

        Waits a tenth of a second at most, so that a caller can look at other things, and keeps the connection alive.
        """
        self._keep_alive()
        try:
            event = self.events.get(timeout=max(0.0, min(seconds, WAIT_SECONDS)))
        except queue.Empty:
            return None
        if isinstance(event, Closed):
            raise ConnectionLost(event.reason)
        return event

    def line(self, seconds: float, awaited: str, give_up: Callable[[], bool] = lambda: False) -> str | None:
        """Return the next line, or None after `give_up` is true.

        Raises ConnectionLost with `awaited` in its message if no line comes within `seconds`.
        """
        end = time.monotonic() + seconds
        while not give_up():
            if time.monotonic() >= end:
                raise ConnectionLost(f"no {awaited} within {seconds:.0f} seconds")
            if isinstance(event := self.wait(), Received):
                return event.line
        return None

    def _keep_alive(self) -> None:
        now, pinged = time.monotonic(), self._pinged
        # Silence means nothing while nobody has asked, as when an engine took minutes to get ready.
        if self._answers_pings and pinged is not None and now - pinged > SILENT_INTERVALS * self._keep_alive_seconds:
            raise ConnectionLost(f"no line for {now - pinged:.0f} seconds")
        if now - self._last_sent >= self._keep_alive_seconds:
            if pinged is None:
                self._pinged = now
            self.send("")

    def _read(self) -> None:
        """Read lines until the connection ends; runs in its own thread."""
        rest = b""
        reason = ENDED
        while self._is_open:
            try:
                part = self._socket.recv(LONGEST_LINE)
            except TimeoutError:
                continue
            except OSError as error:
                reason = error.strerror or str(error)
                break
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n")
            if any(len(line) > LONGEST_LINE for line in (*lines, rest)):
                reason = f"a line of more than {LONGEST_LINE:,} bytes"
                break
            for line in lines:
                self._take(line)
        self._put(Closed(reason))

    def _take(self, content: bytes) -> None:
        pinged, self._pinged = self._pinged, None
        line = decoded(content).rstrip()  # names may be in the encoding of the other player's system
        if not line:
            self._answers_pings = self._answers_pings or pinged is not None
            return
        # Lines are shown on terminals, which control characters could command.
        line = "".join(character if character.isprintable() else "?" for character in line)
        self._diary("<", line)
        self._put(Received(line))

    def _put(self, event: Event) -> None:
        while self._is_open:
            with contextlib.suppress(queue.Full):
                self.events.put(event, timeout=1.0)
                return


def log_out(connection: Connection) -> None:
    """Send LOGOUT and wait a moment for its answer. Never fails: the connection is closed afterwards anyway."""
    with contextlib.suppress(ConnectionLost, ServerError):
        connection.send("LOGOUT")
        end = time.monotonic() + LOGOUT_SECONDS
        while time.monotonic() < end:
            event = connection.wait()
            if isinstance(event, Received) and event.line.startswith("LOGOUT:"):
                return
