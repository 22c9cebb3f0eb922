"""Leagues: every player's rating with its error, and how each meeting went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.jobs.ledger import read_entries
from experiments.jobs.shards import LEDGER
from experiments.league.in_process import Crosstable, meetings_of
from experiments.league.league import STANDINGS
from experiments.league.ratings_table import standings
from experiments.report.charts import MACHINE, Chart, Row, interval, intervals
from experiments.report.match_section import is_timed_league
from experiments.report.section import UNREADABLE, Origin, Section, Table, origin_of
from lite.datasets.description import read_description
from search.system.metadata import parse_json

PLAYERS = ("player", "rating", "95 %", "points", "games", "stronger than the next", "won - drawn - lost")
MEETINGS = ("first", "second", "won - drawn - lost", "share", "pairs with 0, 1/2, 1, 1 1/2, 2 points")


def is_league(path: Path) -> bool:
    """Whether a folder holds a league."""
    if (path / STANDINGS).is_file() or is_timed_league(path):
        return True
    description = read_description(path) if (path / LEDGER).is_file() else None
    return description is not None and "players" in description["options"]


def league_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        description = read_description(path)
        origin = origin_of(run, description) if description else Origin(run)
        try:
            report = _standings(path, description)
            rows = [_row(player, origin.machine) for player in report["players"] if player["games"]]
            tables.append(Table(PLAYERS, [_cells(player) for player in report["players"]], f"{run}: ratings"))
            tables.append(Table(MEETINGS, [_meeting(one) for one in report["meetings"]], f"{run}: meetings"))
        except UNREADABLE as error:
            raise ValueError(f"{path}: no league that this program can read ({error!r:.200}); leave it out") from None
        if rows:
            charts.append(intervals(f"{run}: ratings", rows, "player", "Elo", "league"))
        origins.append(origin)
    about = "Ratings by all games at once (Bradley-Terry), with a mean of 0; intervals are 95 %, from pairs of games."
    return Section("Leagues", about, charts, tables, origins)


def _standings(path: Path, description: dict[str, Any] | None) -> dict[str, Any]:
    """What was written at the end of the league, or, of one in process, what has been played."""
    if description is None or not (path / LEDGER).is_file():
        if not (path / STANDINGS).is_file():
            raise ValueError("through ShogiArena it has standings when it has ended; its command goes on with it")
        return _read(path / STANDINGS)
    names = [str(net["name"]) for net in description["nets"] if str(net.get("role", "")).startswith("player ")]
    if (path / STANDINGS).is_file():  # it knows what the players were called
        names = _read(path / STANDINGS)["names"]
    meetings = meetings_of(len(names), bool(description["options"]["gauntlet"]))
    entries = list(read_entries(path / LEDGER))
    rounds = 1 + max((number // len(meetings) for number, _ in entries), default=0)
    table = Crosstable(names, meetings, rounds)
    for number, counts in entries:
        table.see(number, counts)
    return standings(names, table.meetings())


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file ({error}); play the league's command again") from None
    return found if isinstance(found, dict) else {}


def _row(player: Mapping[str, Any], machine: str) -> Row:
    elo, error = player["elo"], player["error"]
    told = {name: player[name] for name in ("games", "wins", "draws", "losses")}
    return {
        "player": player["name"],
        "league": "",
        **interval("Elo", elo, elo - error, elo + error),
        **told,
        MACHINE: machine,
    }


def _cells(player: Mapping[str, Any]) -> list[str]:
    chance = "" if player["superiority"] is None else f"{player['superiority']:.0%}"
    won = " - ".join(str(player[what]) for what in ("wins", "draws", "losses"))
    rating, error = f"{player['elo']:+.0f}", f"± {player['error']:.0f}"
    return [player["name"], rating, error, f"{player['points']:g}", str(player["games"]), chance, won]


def _meeting(one: Mapping[str, Any]) -> list[str]:
    won = " - ".join(str(one[what]) for what in ("wins", "draws", "losses"))
    pairs = ", ".join(map(str, one["pentanomial"]))
    return [one["first"], one["second"], won, f"{one['points'] / one['games']:.0%}", pairs]
