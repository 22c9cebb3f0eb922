"""Cost of a short search as a GUI sees it: from writing `go nodes N` to reading `bestmove`, through pipes.

It is compared with the time of as many nodes in a long search of the same session; the difference is the overhead of
reading, reporting, and switching between threads and processes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

NODES = (100, 1000, 5000)
LONG = 200_000
FIRST, LAST = 10, 100
"""Number of moves before the first and the last position of the game that is measured."""
LONG_STEP = 20
"""Moves between two positions with a long search."""
ROUNDS = 3
"""All measurements are repeated in turn, because the machine's load changes."""


class _Session:
    """The engine in a process of its own, as a GUI runs it."""

    def __init__(self) -> None:
        code = "from search.usi.process import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.seconds_to("readyok", "isready")

    def seconds_to(self, answer: str, *lines: str) -> float:
        """Write lines, read up to the answer and return the seconds; ChildProcessError if the engine ends before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        text, heard = "".join(line + "\n" for line in lines).encode(), b"\n"
        begun = time.perf_counter()
        try:
            self._process.stdin.write(text)
            while not (heard.endswith(b"\n") and f"\n{answer}".encode() in heard):
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    raise BrokenPipeError
                heard += part
        except OSError:  # the system decides which of the pipes fails first
            raise ChildProcessError(f"the engine ended before it answered {answer}") from None
        return time.perf_counter() - begun

    def end(self) -> None:
        """Send `quit` and wait for the end of the process."""
        self._process.communicate(b"quit\n")


@dataclass(frozen=True)
class ShortSearch:
    """Times of a short search with a number of nodes: medians over the positions of a game."""

    go_ms: float
    """Milliseconds of `go nodes N` alone."""
    with_position_ms: float
    """Milliseconds of `position startpos moves ...` and `go nodes N` together."""
    overhead: float
    """`go_ms` divided by the time of as many nodes in a long search."""


@dataclass(frozen=True)
class PipeTimes:
    """Times of searches through pipes."""

    long_us: float
    """Microseconds per node of a long search."""
    searches: dict[int, ShortSearch]
    """Short searches by their number of nodes."""


def measure_pipes() -> PipeTimes:
    """Measure short searches in the positions of a game and compare them with a long search."""
    game, session = _play(), _Session()
    alone: dict[int, list[float]] = {nodes: [] for nodes in (*NODES, LONG)}
    together: dict[int, list[float]] = {nodes: [] for nodes in NODES}
    try:
        for _ in range(ROUNDS):
            for nodes in NODES:
                alone[nodes] += _ask_apart(session, game, nodes, 1)
                together[nodes] += _ask_at_once(session, game, nodes)
            alone[LONG] += _ask_apart(session, game, LONG, LONG_STEP)
    finally:
        session.end()
    pace = statistics.median(alone[LONG]) / LONG
    searches = {
        nodes: ShortSearch(
            go_ms=round(1000 * statistics.median(alone[nodes]), 3),
            with_position_ms=round(1000 * statistics.median(together[nodes]), 3),
            overhead=round(statistics.median(alone[nodes]) / (nodes * pace), 2),
        )
        for nodes in NODES
    }
    return PipeTimes(round(1e6 * pace, 3), searches)


def _ask_apart(session: _Session, game: Sequence[str], nodes: int, step: int) -> list[float]:
    """Seconds of `go nodes N` in every `step`th position of a new game; the position is set beforehand."""
    session.seconds_to("readyok", "usinewgame", "isready")
    found = []
    for count in range(FIRST, len(game) + 1, step):
        session.seconds_to("readyok", _position(game[:count]), "isready")
        found.append(session.seconds_to("bestmove", f"go nodes {nodes}"))
    return found


def _ask_at_once(session: _Session, game: Sequence[str], nodes: int) -> list[float]:
    """Seconds of `position` and `go nodes N` together, in every position of a new game."""
    session.seconds_to("readyok", "usinewgame", "isready")
    counts = range(FIRST, len(game) + 1)
    return [session.seconds_to("bestmove", _position(game[:count]), f"go nodes {nodes}") for count in counts]


def _position(moves: Sequence[str]) -> str:
    return " ".join(["position startpos moves", *moves])


def _play() -> list[str]:
    """Return the first moves of a game that the engine plays against itself."""
    from search.alphabeta.engine import AlphaBetaEngine

    engine, game = AlphaBetaEngine("default", 16), list[str]()
    while len(game) < LAST:
        move = engine.analyse("startpos", game, nodes=1000).best_move
        if move is None or move == "win":
            break
        game.append(move)
    return game
