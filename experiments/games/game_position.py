"""A position with the moves that led to it, as in the USI protocol and in files of positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.openings import read_openings
from search.rules.play import set_game, split_moves
from search.rules.position import new_position


@dataclass(frozen=True)
class GamePosition:
    """A position of a game: a start and the moves played from it."""

    start: str
    """`startpos` or `sfen SFEN`."""
    moves: tuple[str, ...] = ()
    """Moves from the start, in USI."""

    @classmethod
    def parse(cls, line: str) -> GamePosition:
        """Parse `startpos` or `[sfen] SFEN`, with `moves ...` or without."""
        start, moves = split_moves(line)
        return cls(start if start == "startpos" or start.startswith("sfen ") else f"sfen {start}", moves)

    @property
    def text(self) -> str:
        """The arguments of USI's `position` command."""
        return " ".join([self.start, *(["moves", *self.moves] if self.moves else [])])

    def after(self, move: str) -> GamePosition:
        """Return the position after a move."""
        return GamePosition(self.start, (*self.moves, move))

    def own_turns_before(self, count: int) -> Iterator[GamePosition]:
        """Yield the last `count` earlier positions with the same side to move, or fewer if there are fewer."""
        for back in range(2 * count, 0, -2):
            if back <= len(self.moves):
                yield GamePosition(self.start, self.moves[: len(self.moves) - back])

    def set_up(self) -> np.void:
        """Return the position as a record of `position_dtype`."""
        pos = new_position()
        set_game(pos, self.start.removeprefix("sfen "), self.moves)
        return pos


def read_positions(path: Path, most: int | None = None) -> list[GamePosition]:
    """Return the first `most` positions of a file, without duplicates; None means all. Raises as `read_openings`."""
    return [GamePosition.parse(line) for line in dict.fromkeys(read_openings(path))][:most]
