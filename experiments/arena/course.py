"""The course of a match's games: the first player's win rate by the number of moves, as either player saw it.

A game's result is one bit at its end. The players' scores on the way show with less noise, and earlier, who gained, and
in which part of the game. A finished game keeps counting with its result, so that no figure is of the longer games
alone.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.arena.arena_games import FIRST, SECOND, read_arena_games
from experiments.arena.process import GAMES
from search.score import win_rate

EVERY = 10
"""Moves between two figures."""
LEAST_PAIRS = 10
"""Fewest pairs of which a course is computed: fewer show nothing but noise."""
MOST_OVER = 0.95
"""Share of games that have ended at the last figure."""
_GAMES = """select game.id, initial_position_sfen, black.player_name
from game join player black on black.id = black_player_id where game_result != 'PAUSED' order by game.id"""
_SCORES = "select eval from game_move where game_id = ? and next_move != 516 order by ply"
"""Excludes the row that ends a game, whose move is rsshogi's MOVE_END: a report does not need that library."""


@dataclass(frozen=True)
class Moment:
    """The state of all games after a number of moves."""

    moves: int
    """Moves after the opening."""
    player: str
    """Player whose scores are used: FIRST or SECOND."""
    win_rate: float
    """The first player's win rate by this player's last search, mean of all games."""
    error: float
    """Standard error of `win_rate`, from pairs of games."""
    over: float
    """Share of the games that have ended."""


def read_course(arena: Path) -> list[Moment]:
    """Return a match's moments in order, each as both players saw it; none for a match of few pairs. Raises OSError."""
    pairs: dict[str, list[tuple[np.ndarray, int]]] = {}
    results = read_arena_games(arena)
    games = _read_scores(arena) if results else []
    longest = max((len(scores) for _, scores in games), default=0)
    for result, (first_begins, scores) in zip(results, games, strict=False):  # a game may have ended between
        if result.points is not None:
            seen = _seen(scores, first_begins, result.points, longest)
            pairs.setdefault(result.pair, []).append((seen, len(scores)))
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    if len(whole) < LEAST_PAIRS:
        return []
    rates = np.array([(one + other) / 2 for (one, _), (other, _) in whole])
    lengths = np.array([length for pair in whole for _, length in pair])
    last = int(np.quantile(lengths, MOST_OVER))
    means, errors = rates.mean(0), rates.std(0, ddof=1) / math.sqrt(len(whole))
    return [
        Moment(moves, player, float(means[place, moves]), float(errors[place, moves]), float((lengths < moves).mean()))
        for moves in range(EVERY, last + 1, EVERY)
        for place, player in enumerate((FIRST, SECOND))
    ]


def _read_scores(arena: Path) -> list[tuple[bool, list[int | None]]]:
    """Return, for each game of `read_arena_games`, whether its first player begins, and the mover's score of each
    move."""
    database = arena / GAMES / "game.db"
    try:
        with contextlib.closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return [
                ((" w " in sfen) != (black == FIRST), [score for (score,) in connection.execute(_SCORES, (number,))])
                for number, sfen, black in connection.execute(_GAMES).fetchall()
            ]
    except sqlite3.Error as error:
        raise OSError(f"{database}: {error!r}") from error


def _seen(scores: Sequence[int | None], first_begins: bool, points: float, longest: int) -> np.ndarray:
    """Return f8 (2, longest + 1): the first player's win rate by each player, by the number of moves; the game's result
    once it is over."""
    seen = np.full((2, longest + 1), points)
    seen[:, 0] = 0.5
    for moves, score in enumerate(scores, 1):
        mover = int((moves % 2 == 1) != first_begins)
        seen[:, moves] = seen[:, moves - 1]
        if score is not None:
            seen[mover, moves] = abs(mover - win_rate(score))
    return seen
