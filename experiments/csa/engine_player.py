"""An engine that plays on a server: it searches while lines of the server arrive, and may think on the opponent's
time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from experiments.csa.events import Events, Thought
from experiments.usi_client.dialogue import Dialogue
from experiments.usi_client.engines import READY_SECONDS, Engine
from experiments.usi_client.searcher import Answer

LONGEST_SEARCH = 86_400.0
"""Seconds after which a search counts as failed. The server's clock ends it much earlier."""
STOP_SECONDS = 10.0
"""Seconds to wait for an engine's answer to `stop`."""
MOVE_LIMIT = "MaxMovesToDraw"
"""The engine's option for the number of moves at which a game is drawn."""


class EnginePlayer:
    """A running engine; a context manager that ends it. An engine that has failed is started again by `prepare`."""

    def __init__(self, engine: Engine, ponder: bool) -> None:
        self._engine, self._ponders = engine, ponder
        self._asker = ThreadPoolExecutor(1)
        self._dialogue: Dialogue | None = None
        self._search: Future[Answer] | None = None
        self._events: Events
        self._max_moves = 0
        self._serial = 0
        self._pondered = ""
        """The position that the engine thinks about on the opponent's time; empty if it does not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._asker.shutdown()

    def has_option(self, name: str) -> bool:
        """Return whether the engine declares an option."""
        return name in self._engine.declared

    def prepare(self, events: Events, max_moves: int) -> None:
        """Get the engine ready for a game whose answers go to `events`. Raises ValueError if it does not get ready.

        max_moves: number of moves at which the server ends the game; 0 means unknown.
        """
        self._events = events
        self._max_moves = max_moves
        if self._dialogue is not None:
            try:
                self._get_ready(self._dialogue)
                return
            except ValueError as error:
                print(f"warning: the engine is started again: {error}", file=sys.stderr)
                self._end()
        self._get_ready(self._start())

    def think(self, position: str, limits: str) -> None:
        """Start the search of a position, whose answer arrives as an event with the number `serial`.

        If the engine already searches this position on the opponent's time, that search continues.
        """
        if self._pondered == position and self._search is not None:
            self._pondered = ""
            self._send("ponderhit")
            search = self._search
        else:
            self._stop()
            self._serial += 1
            search = self._begin(position, limits)
        serial = self._serial
        search.add_done_callback(lambda future: self._post(serial, future))

    def ponder(self, position: str, limits: str) -> None:
        """Think about a position that is expected after the opponent's move, if pondering is on."""
        if self._ponders:
            self._stop()
            self._serial += 1
            self._pondered = position
            self._begin(position, f"ponder {limits}")

    def is_current(self, thought: Thought) -> bool:
        """Return whether an answer belongs to the last search."""
        return thought.serial == self._serial

    def finish(self, result: str) -> None:
        """End the search and the game; `result` is `win`, `lose` or `draw`."""
        self._stop()
        self._serial += 1
        self._send(f"gameover {result}")

    def restart(self) -> None:
        """End the engine, so that the next search starts it again."""
        self._end()

    def _start(self) -> Dialogue:
        """Start the engine. Raises ValueError."""
        self._dialogue = dialogue = self._engine.start()
        return dialogue

    def _get_ready(self, dialogue: Dialogue) -> None:
        """Begin a game. Raises ValueError."""
        if self._max_moves and MOVE_LIMIT in self._engine.declared and MOVE_LIMIT not in self._engine.options:
            dialogue.send(f"setoption name {MOVE_LIMIT} value {self._max_moves}")
        dialogue.send("isready")
        dialogue.until("readyok", READY_SECONDS)
        dialogue.send("usinewgame")

    def _begin(self, position: str, limits: str) -> Future[Answer]:
        dialogue = self._dialogue
        if dialogue is None:  # it has failed in this game
            dialogue = self._start()
            self._get_ready(dialogue)
        dialogue.send(f"position {position}")
        dialogue.send(f"go {limits}")
        self._search = self._asker.submit(_answer, dialogue)
        return self._search

    def _post(self, serial: int, future: Future[Answer]) -> None:
        error = future.exception()
        thought = Thought(serial, None, str(error)) if error is not None else Thought(serial, future.result())
        self._events.put(thought)

    def _stop(self) -> None:
        """End the search under way, whose answer is dropped."""
        search, self._search, self._pondered = self._search, None, ""
        if search is None:
            return
        if not search.done():
            self._send("stop")
        try:
            search.result(STOP_SECONDS)
        except (TimeoutError, ValueError) as error:
            print(f"warning: the engine is started again: {error or 'it does not answer stop'}", file=sys.stderr)
            self._end()

    def _send(self, line: str) -> None:
        if self._dialogue is not None:
            self._dialogue.send(line)

    def _end(self) -> None:
        if self._dialogue is not None:
            self._dialogue.__exit__()
        self._dialogue = self._search = None
        self._pondered = ""


def best_line(lines: Sequence[str]) -> list[str]:
    """Return the moves of the last best line in USI; empty if the engine reports none."""
    for line in reversed(lines):
        words = line.split()
        if words[:1] != ["info"] or "pv" not in words or words[1:2] == ["string"]:
            continue
        if "multipv" in words and words[words.index("multipv") + 1 : words.index("multipv") + 2] != ["1"]:
            continue
        return words[words.index("pv") + 1 :]
    return []


def _answer(dialogue: Dialogue) -> Answer:
    return Answer.of(dialogue.until("bestmove", LONGEST_SEARCH, notice=False))
