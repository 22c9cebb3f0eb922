"""The adapter between the USI session and an engine: the engine's options, how it is made, and what they change.

Nothing here imports an engine, because `usi` is answered before anything that compiles is loaded.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from search.system.files import message_of
from search.usi.usi_options import FileName, Option, OptionValues

if TYPE_CHECKING:
    from search.engine import Analysis, Engine

Say = Callable[[str], None]
"""Write a message to the user."""
E = TypeVar("E", bound="Engine")


@dataclass
class Refusal:
    """A file option whose file cannot be used."""

    reason: str
    kept: str
    """The file that the engine uses instead."""
    remedy: str
    reported: bool = False
    """Whether the warning was reported to the user."""

    @property
    def warning(self) -> str:
        """The message while the engine plays on with `kept`."""
        return f"{self.reason}; keeping {self.kept}. {self.remedy}"

    @property
    def error(self) -> str:
        """The message where the engine refuses to play."""
        return f"{self.reason}. {self.remedy}"


class Adapter(ABC, Generic[E]):
    """One kind of engine behind a session. The session calls the methods between searches."""

    name: str
    """The name that `id name` reports."""
    options: tuple[Option, ...]
    """The options of this kind of engine; the session adds its own."""

    def __init__(self) -> None:
        self._applied: dict[str, str] = {}
        self.refusals: dict[str, Refusal] = {}
        """File options whose file cannot be used, by name."""

    @abstractmethod
    def make(self, values: OptionValues, say: Say) -> E:
        """Make the engine, which compiles code at a first start. Unavailable parts are reported and left out."""

    @abstractmethod
    def apply(self, engine: E, values: OptionValues, say: Say) -> None:
        """Apply the options to the engine."""

    @abstractmethod
    def evaluate(self, engine: E) -> list[str]:
        """Return lines about the position's evaluation by the network; the first is `eval = ` and the mover's
        centipawns."""

    @abstractmethod
    def bench(self, engine: E) -> list[str]:
        """Measure the search's speed and return it as lines."""

    def chances(self, found: Analysis) -> tuple[int, int, int]:
        """Thousandths of wins, draws and losses as chess engines report them; without a draw output no draws."""
        wins = round(1000 * found.win_rate)
        return wins, 0, 1000 - wins

    def backing(self) -> threading.Event | None:
        """An event that is set when the engine's memory is ready for use; None if there is nothing to wait for."""
        return None

    def option_set(self, name: str) -> None:
        """Note that a GUI has set this option: even an unchanged path may lead to another file."""
        if any(isinstance(option, FileName) and option.name == name for option in self.options):
            self._applied.pop(name, None)

    def try_again(self) -> None:
        """Read files again that could not be read before; called at `isready`."""
        for name in self.refusals:
            self._applied.pop(name, None)

    def _changed(self, name: str, values: OptionValues) -> bool:
        """Whether an option that is costly to apply has changed since it was last applied; marks it as applied."""
        wanted = values.text(name)
        if self._applied.get(name) == wanted:
            return False
        self._applied[name] = wanted
        return True

    def _use(self, name: str, values: OptionValues, use: Callable[[int], None], say: Say) -> bool:
        """Pass an option that requires memory to the engine if it has changed; return whether it is used.

        If the memory does not suffice, that is reported and the previous value stays. The previous value's memory is
        not free meanwhile, so the new value may fit after a restart.
        """
        if not self._changed(name, values):
            return False
        try:
            use(values.number(name))
        except MemoryError as error:
            say(f"{name}: {message_of(error)}; keeping the previous value, whose memory is free after a restart")
            return False
        return True
