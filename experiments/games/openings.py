"""Openings of games: lines of a file or the start position, with random moves after them on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.compiled_game import ENDINGS, MATE, UNFINISHED, game_dtype, rules_end
from experiments.games.player import Ending
from search.rules.movegen import list_moves
from search.rules.play import set_game, split_moves, without_ending
from search.rules.position import do_move, new_position
from search.rules.sfen import move_to_usi
from search.system.files import require_file

TRIES = 1000
"""Random openings to try before giving up."""


class NoOpening(ValueError):
    """No random opening fits."""


@dataclass(frozen=True)
class Openings:
    """Positions from which games begin."""

    lines: tuple[str, ...] = ("startpos",)
    """Each `startpos` or an SFEN, with `moves ...` or without."""
    least: int = 0
    """Minimum number of random moves after a line."""
    most: int = 0
    """Maximum number of random moves after a line."""

    def draw(self, random: np.random.Generator, fits: Callable[[str], bool] | None = None) -> str:
        """Draw openings until one `fits`, and return it. Raises NoOpening if none of `TRIES` does."""
        for _ in range(TRIES):
            opening = self.play_on(self.lines[int(random.integers(len(self.lines)))], random)
            if opening is not None and (fits is None or fits(opening)):
                return opening
        raise NoOpening(f"none of {TRIES} random openings can be played; allow fewer random moves")

    def play_on(self, line: str, random: np.random.Generator) -> str | None:
        """Return the line with random moves appended; its own moves stay, as they count for repetitions.

        Returns None if the result has no legal move.
        """
        left = int(random.integers(self.least, self.most + 1))
        pos = new_position()
        start, played = split_moves(line)
        set_game(pos, start, played)
        while moves := list_moves(pos):
            if left == 0:
                return " moves ".join((start, " ".join(played))) if played else start
            move = moves[int(random.integers(len(moves)))]
            played = (*played, move_to_usi(move))
            do_move(pos, np.int64(move))
            left -= 1
        return None


def read_openings(path: Path, ending: Ending | None = None) -> tuple[str, ...]:
    """Read the openings of a file, one per line: `[position] startpos moves ...`, `sfen SFEN moves ...` or an SFEN.

    Empty lines, lines that begin with # and the ending of a game (`resign`, `win`) are ignored. With an `ending`, an
    opening from which no game with it can be played is refused. Raises OSError, and ValueError that names the file and
    line.
    """
    require_file(path)
    lines, pos, game = [], new_position(), np.zeros(1, game_dtype)[0]
    if ending is not None:
        ending.write(game)
    for number, text in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        line = text.strip().removeprefix("position ").strip()
        if not line or line.startswith("#"):
            continue
        try:
            line = without_ending(line)
            set_game(pos, *split_moves(line))
        except ValueError as error:
            raise ValueError(f"{path} line {number}: {error}") from None
        if ending is not None and (over := _over(pos, game)) != UNFINISHED:
            raise ValueError(f"{path} line {number}: the game is over ({ENDINGS[over]}); remove the line")
        lines.append(line)
    if not lines:
        raise ValueError(f"{path}: no opening; write one SFEN or `startpos moves ...` per line")
    return tuple(lines)


def _over(pos: np.void, game: np.void) -> int:
    """Return the ending of a game that is over before its first move; UNFINISHED otherwise."""
    ending = int(rules_end(pos, game)[0])
    return MATE if ending == UNFINISHED and not list_moves(pos) else ending
