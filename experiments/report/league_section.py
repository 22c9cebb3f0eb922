"""The section of leagues: every player's rating with its error, and the meetings."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.arena.arena_games import recorded_games
from experiments.elo.ratings import Meeting
from experiments.jobs.ledger import LandedJob
from experiments.language.catalogue import label
from experiments.league.in_process import Crosstable, meetings_of
from experiments.league.league import USI_VERB, count_meetings
from experiments.league.ratings_table import MeetingRow, PlayerRow, Standings, standings
from experiments.report.charts import MACHINE, Chart, Row, interval, intervals
from experiments.report.section import Run, Section, Table, origin_of, remarks_tables
from lite.run_folder import read_lines

PLAYERS = ("player", "rating", "95 %", "points", "games", "stronger than the next", "won - drawn - lost")
MEETINGS = ("first", "second", "won - drawn - lost", "share", "pairs with 0, 1/2, 1, 1 1/2, 2 points")
ABOUT = "Ratings from all games at once (Bradley-Terry), with a mean of 0; intervals are 95 %, from pairs of games."


def league_section(runs: Sequence[Run]) -> Section:
    """Return the section of leagues. Raises OSError or ValueError for a run that cannot be read."""
    charts: list[Chart] = []
    tables: list[Table] = []
    remarks: list[tuple[str, str]] = []
    origins = [origin_of(run) for run in runs]
    for run, origin in zip(runs, origins, strict=True):
        report = read_standings(run)
        remarks += [(run.name, remark) for remark in report.remarks]
        rows = [_row(player, label(origin.machine)) for player in report.players if player.games]
        for head, cells, what in (
            (PLAYERS, map(_cells, report.players), "ratings"),
            (MEETINGS, map(_meeting, report.meetings), "meetings"),
        ):
            tables.append(Table(tuple(map(label, head)), list(cells), label(f"{run.name}: {what}")))
        if rows:
            charts.append(intervals(f"{run.name}: ratings", rows, "player", "Elo", "league"))
    return Section(label("Leagues"), label(ABOUT), charts, [*tables, *remarks_tables(remarks)], origins)


def read_standings(run: Run) -> Standings:
    """Return the standings of a league by its results so far."""
    names = [str(name) for name in run.record.goal["players"]]
    options = run.record.options
    pairings = meetings_of(len(names), bool(options["gauntlet"]), int(options.get("neighbours", 0)))
    return standings(names, _meetings(run, names, pairings))


def _meetings(run: Run, names: Sequence[str], pairings: Sequence[tuple[int, int]]) -> list[Meeting]:
    if run.record.verb == USI_VERB:
        return count_meetings(recorded_games(run.path), len(names), pairings)
    table = Crosstable(names, pairings, int(run.record.goal["games"]) // 2)
    for line in read_lines(run.path, LandedJob):
        table.see(line.job, line.counts)
    return table.meetings()


def _row(player: PlayerRow, machine: str) -> Row:
    results = {"games": player.games, "wins": player.wins, "draws": player.draws, "losses": player.losses}
    ends = interval("Elo", player.elo, player.elo - player.error, player.elo + player.error)
    return {"player": player.name, "league": "", **ends, **results, MACHINE: machine}


def _cells(player: PlayerRow) -> list[str]:
    chance = "" if player.superiority is None else f"{player.superiority:.0%}"
    results = f"{player.wins} - {player.draws} - {player.losses}"
    rating, error = (f"{player.elo:+.0f}", f"+- {player.error:.0f}") if player.games else ("", "")
    return [player.name, rating, error, f"{player.points:g}", str(player.games), chance, results]


def _meeting(one: MeetingRow) -> list[str]:
    results = f"{one.wins} - {one.draws} - {one.losses}"
    return [one.first, one.second, results, f"{one.points / one.games:.0%}", ", ".join(map(str, one.pentanomial))]
