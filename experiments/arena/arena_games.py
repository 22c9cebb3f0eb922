"""The games of a run through ShogiArena: results, pairs, failures, and events in its log."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.arena.process import GAMES, LOG
from lite.run_folder import Line, read_lines

FIRST, SECOND = "first", "second"
"""Names of a match's engines in ShogiArena's files; readers see other names."""
WRITING_SECONDS = 2.0
"""Seconds after which a file that cannot be read counts as damaged: ShogiArena writes its files in place."""


def seat_names(engines: int) -> list[str]:
    """Return the names of a number of engines in ShogiArena's files."""
    return [FIRST, SECOND, *(f"player{number}" for number in range(3, engines + 1))][:engines]


@dataclass(frozen=True)
class ArenaGame(Line, kind="game"):
    """A game through ShogiArena and its result."""

    game: str
    """ShogiArena's name of the game."""
    pair: str
    """Key that the two games from one opening with exchanged colours share."""
    points: float | None
    """Points of the first of its players: 0, 0.5 or 1; None if the game failed."""
    ending: str
    """ShogiArena's word for the ending."""
    players: tuple[str, str] = (FIRST, SECOND)
    """Seats of both players, in the order of `seat_names`."""


def read_arena_games(arena: Path) -> list[ArenaGame]:
    """Return the games in ShogiArena's folder that were played or failed, in order; none before the first has ended."""
    database, schedule = arena / GAMES / "game.db", arena / GAMES / "schedule.json"
    if not database.is_file() or not schedule.is_file():
        return []
    end = time.monotonic() + WRITING_SECONDS
    while True:
        try:
            pairs, seats = _read_schedule(schedule)
            rows = _read_database(database)
            break
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)
    games = []
    for game, ending, black, white in rows:
        points = None
        first, second = sorted((black, white), key=seats.index)
        if ending.startswith("DRAW"):
            points = 0.5
        elif ending.startswith(("BLACK_WIN", "WHITE_WIN")):
            points = float(ending.startswith("BLACK") == (black == first))
        elif ending == "PAUSED":
            continue  # by an interrupt: it will be played
        games.append(ArenaGame(game, pairs.get(game) or game, points, ending, (first, second)))
    return games


def recorded_games(folder: Path) -> list[ArenaGame]:
    """Return the games that a run folder has recorded, the last result of each. Raises as `read_lines`."""
    return list({line.game: line for line in read_lines(folder, ArenaGame)}.values())


def _read_schedule(path: Path) -> tuple[dict[str, str], list[str]]:
    """Return ({name of a game: key of its pair}, the seats in order)."""
    try:
        games = json.loads(path.read_text("utf-8"))["games"]
        pairs = {game["game_id"]: game["pair_key"] for game in games}
        return pairs, seat_names(len({game[colour] for game in games for colour in ("black", "white")}))
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{path}: {error!r}") from error


def _read_database(path: Path) -> list[tuple[str, str, str, str]]:
    """Return (name, ending, black, white) of each game."""
    question = """select game_name, game_result, black.player_name, white.player_name
    from game join player black on black.id = black_player_id join player white on white.id = white_player_id
    order by game.id"""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(question).fetchall()
    except sqlite3.Error as error:
        raise OSError(f"{path}: {error!r}") from error


def pair_results(results: Iterable[ArenaGame]) -> list[tuple[float, int]]:
    """Return (the first player's points, games) of every pair; failed games are left out."""
    pairs: dict[str, tuple[float, int]] = {}
    for one in results:
        if one.points is not None:
            points, games = pairs.get(one.pair, (0.0, 0))
            pairs[one.pair] = points + one.points, games + 1
    return list(pairs.values())


def read_failure(arena: Path) -> str:
    """Return why the first failed game failed; only ShogiArena's log has a move that was late because this machine
    stalled."""
    try:
        text = (arena / GAMES / "failures" / "run_failures.jsonl").read_text(encoding="utf-8")
        record: dict[str, Any] = json.loads(text.splitlines()[0])
    except (OSError, ValueError, IndexError):
        late = re.search(r"Invalidating timeout: .* reason=(explanatory-lag) .* lag_ms=(\d+)", _read_log(arena))
        if late is None:
            return "for a reason that shogiarena does not report"
        return f"a move was late while the machine stalled for {late[2]} ms: {late[1]}"
    return " ".join(str(record.get("short_message")).split())


def read_mishaps(arena: Path, seats: Sequence[str]) -> dict[str, str]:
    """Return, by seat, text on crashes and illegal moves, which ShogiArena counts as losses and reports in its log
    only."""
    kinds = {"Error during move by": "broke off", "Illegal move from": "made an illegal move"}
    found = Counter(re.findall(rf"\]: ({'|'.join(kinds)}) ({'|'.join(seats)}): ", _read_log(arena)))
    return {
        engine: " and ".join(
            f"{words} {found[kind, engine]} times" for kind, words in kinds.items() if found[kind, engine]
        )
        for engine in seats
        if any(name == engine for _, name in found)
    }


def _read_log(arena: Path) -> str:
    """Return ShogiArena's log; empty without one."""
    try:
        return (arena / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
