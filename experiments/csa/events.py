"""The events of a game on a server: lines of the server, the end of the connection, answers of the engine."""

from __future__ import annotations

import queue
from dataclasses import dataclass

from experiments.usi_client.searcher import Answer
from lite.notation.game import quoted


class ServerError(ValueError):
    """A line of the server that breaks the protocol. The message quotes the line."""

    def __init__(self, line: str, reason: str) -> None:
        super().__init__(f"line {quoted(line, 80)}: {reason}")


class ConnectionLost(Exception):
    """The connection ended, or the server is silent. The message gives the reason."""


class LoginRefused(Exception):
    """The server does not accept the name and password."""


@dataclass(frozen=True)
class Received:
    """A line of the server that is not empty."""

    line: str


@dataclass(frozen=True)
class Closed:
    """The end of the connection."""

    reason: str


@dataclass(frozen=True)
class Thought:
    """The answer of an engine to `go`."""

    serial: int
    """Number of the search; answers to earlier searches are out of date."""
    answer: Answer | None
    """None if the engine failed."""
    error: str = ""


Event = Received | Closed | Thought
Events = queue.Queue[Event]
