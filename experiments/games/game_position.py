"""A position and the moves that led to it, as files of positions and the USI protocol write it."""

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
    """Where a game stood."""

    start: str
    """`startpos` or `sfen SFEN`."""
    moves: tuple[str, ...] = ()
    """USI moves played from there."""

    @classmethod
    def parse(cls, line: str) -> GamePosition:
        """`startpos` or an SFEN, perhaps behind `sfen`, and perhaps `moves ...`."""
        start, moves = split_moves(line)
        return cls(start if start == "startpos" or start.startswith("sfen ") else f"sfen {start}", moves)

    @property
    def text(self) -> str:
        """What USI writes behind `position`."""
        return " ".join([self.start, *(["moves", *self.moves] if self.moves else [])])

    def after(self, move: str) -> GamePosition:
        """The position behind a move."""
        return GamePosition(self.start, (*self.moves, move))

    def own_turns_before(self, count: int) -> Iterator[GamePosition]:
        """The last `count` positions before this one that its mover had to move in, or as many as there are."""
        for back in range(2 * count, 0, -2):
            if back <= len(self.moves):
                yield GamePosition(self.start, self.moves[: len(self.moves) - back])

    def set_up(self) -> np.void:
        """A record of `position_dtype`."""
        pos = new_position()
        set_game(pos, self.start.removeprefix("sfen "), self.moves)
        return pos


def read_positions(path: Path, most: int | None = None) -> list[GamePosition]:
    """The first positions of a file, as `read_openings` reads it; `most` None: all. Raises OSError or ValueError."""
    return [GamePosition.parse(line) for line in dict.fromkeys(read_openings(path))][:most]
