"""What the USI session must know of the engine that it holds: its options, how it is made, and what they change.

Nothing here imports an engine: `usi` is answered before anything that compiles is loaded.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from search.usi.options import FileName, Option, OptionValues

if TYPE_CHECKING:
    from search.engine import Analysis, Engine

Say = Callable[[str], None]
"""Tells the user something in words."""
E = TypeVar("E", bound="Engine")


class Adapter(ABC, Generic[E]):
    """One kind of engine behind a session. Its methods are called between searches."""

    name: str
    """As `id name` says it."""
    options: tuple[Option, ...]
    """Those that this kind of engine has, beside the session's."""

    def __init__(self) -> None:
        self._applied: dict[str, str] = {}
        self._refused: set[str] = set()
        """File options whose file could not be read."""

    @abstractmethod
    def make(self, values: OptionValues, say: Say) -> E:
        """The engine, compiled or loaded; it may take long, once. What cannot be had is said and done without."""

    @abstractmethod
    def apply(self, engine: E, values: OptionValues, say: Say) -> None:
        """Put the options in force."""

    @abstractmethod
    def evaluate(self, engine: E) -> list[str]:
        """What the engine's network says of the position, as lines: `eval = `, the mover's centipawns, first."""

    @abstractmethod
    def bench(self, engine: E) -> list[str]:
        """How fast it searches, as lines."""

    def chances(self, found: Analysis) -> tuple[int, int, int]:
        """Thousandths of wins, draws and losses, as chess engines tell them; without a draw output no draws."""
        wins = round(1000 * found.win_rate)
        return wins, 0, 1000 - wins

    def backing(self) -> threading.Event | None:
        """Set when the engine's memory is ready to be used; None if there is nothing to wait for."""
        return None

    def option_set(self, name: str) -> None:
        """A GUI has set this option: the path that a file option holds may lead to another file by now."""
        if any(isinstance(option, FileName) and option.name == name for option in self.options):
            self._applied.pop(name, None)

    def try_again(self) -> None:
        """The GUI asks whether all is ready: what could not be read before may have been mended."""
        for name in self._refused:
            self._applied.pop(name, None)

    def _changed(self, name: str, values: OptionValues) -> bool:
        """Whether an option that is costly to apply has another value than the one in force; from here on it has."""
        wanted = values.text(name)
        if self._applied.get(name) == wanted:
            return False
        self._applied[name] = wanted
        return True
