"""A move of an opening book, and the interface of a book."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Say = Callable[[str], None]
"""Write a message to the user."""


@dataclass(frozen=True)
class BookMove:
    """A move of a book."""

    move: str
    """USI move."""
    reply: str | None = None
    """The expected reply (USI)."""
    value: int = 0
    """Centipawns of the side to move."""
    depth: int = 0
    """Depth of the search that gave the value."""
    count: int = 1
    """Number of games in which the move was played; 0 if unknown."""


class Book(ABC):
    """A book on disk. It is opened for each look-up: any thread may call `find`."""

    path: Path

    @abstractmethod
    def find(self, sfen: str, ignore_ply: bool = True) -> list[BookMove]:
        """Return the moves of a position in the file's order; [] if the book does not have it.

        `ignore_ply` says whether the move number may differ. Raises OSError, or ValueError for a file that changed
        since it was opened.
        """
