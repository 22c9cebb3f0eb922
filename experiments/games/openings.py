"""Where games begin: lines of a file or the start position, perhaps with random moves played on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.games.compiled_game import ENDINGS, MATE, UNFINISHED, game_dtype, rules_end
from experiments.games.player import Ending
from search.rules.movegen import list_moves
from search.rules.play import set_game, split_moves
from search.rules.position import do_move, new_position
from search.rules.sfen import move_to_usi

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
        """The line with random moves played on, its own still before them: repetitions count from where it began.
        None if there is no move then."""
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
    """The openings of a file, one a line: `startpos moves ...`, `sfen SFEN moves ...` or an SFEN, perhaps behind
    `position`; empty lines and those that begin with # say nothing.

    With an `ending`, games with it are to be played from every one. OSError, or ValueError that names the line."""
    lines, pos, game = [], new_position(), np.zeros(1, game_dtype)[0]
    if ending is not None:
        ending.write(game)
    for number, text in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        line = text.strip().removeprefix("position ").strip()
        if not line or line.startswith("#"):
            continue
        try:
            set_game(pos, *split_moves(line))
        except ValueError as error:
            raise ValueError(f"{path} line {number}: {error}") from None
        if ending is not None and (over := _over(pos, game)) != UNFINISHED:
            raise ValueError(f"{path} line {number}: no move is left to be played ({ENDINGS[over]}); leave it out")
        lines.append(line)
    if not lines:
        raise ValueError(f"{path}: holds no opening; write one SFEN or `startpos moves ...` a line")
    return tuple(lines)


def _over(pos: np.void, game: np.void) -> int:
    """How a game is over before its first move; UNFINISHED if it is not."""
    ending = int(rules_end(pos, game)[0])
    return MATE if ending == UNFINISHED and not list_moves(pos) else ending
