"""Where games begin: lines of a file or the start position, perhaps with random moves played on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.rules.movegen import list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import do_move, new_position
from search.rules.sfen import get_sfen

TRIES = 1000
"""Random openings that are thrown away before it is said that none fits."""


@dataclass(frozen=True)
class Openings:
    """Positions that games begin from."""

    lines: tuple[str, ...] = ("startpos",)
    """Each `startpos` or an SFEN, perhaps with `moves ...`."""
    least: int = 0
    """Random moves that are played on, at the least."""
    most: int = 0
    """And at the most."""

    def draw(self, random: np.random.Generator, fits: Callable[[str], bool] | None = None) -> str:
        """An opening, drawn until it `fits`. ValueError if none does."""
        for _ in range(TRIES):
            opening = self.play_on(self.lines[int(random.integers(len(self.lines)))], random)
            if opening is not None and (fits is None or fits(opening)):
                return opening
        raise ValueError(f"of {TRIES} random openings none can be played from; allow fewer random moves")

    def play_on(self, line: str, random: np.random.Generator) -> str | None:
        """The line with random moves played on, as an SFEN; None if there is no move then."""
        left = int(random.integers(self.least, self.most + 1))
        pos = new_position()
        set_game(pos, *split_moves(line))
        while moves := list_moves(pos):
            if left == 0:
                return get_sfen(pos)
            do_move(pos, np.int64(moves[int(random.integers(len(moves)))]))
            left -= 1
        return None


def read_openings(path: Path) -> tuple[str, ...]:
    """The openings of a file, one a line: `startpos moves ...`, `sfen SFEN moves ...` or an SFEN, perhaps behind
    `position`; empty lines and those that begin with # say nothing. OSError, or ValueError that names the line."""
    lines, pos = [], new_position()
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        line = text.strip().removeprefix("position ").strip()
        if not line or line.startswith("#"):
            continue
        try:
            set_game(pos, *split_moves(line))
        except ValueError as error:
            raise ValueError(f"{path} line {number}: {error}") from None
        lines.append(line)
    if not lines:
        raise ValueError(f"{path}: holds no opening; write one SFEN or `startpos moves ...` a line")
    return tuple(lines)
