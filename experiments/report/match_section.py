"""The section of matches: Elo with its 95 % interval, and the course of games through ShogiArena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from experiments.arena.arena_games import recorded_games
from experiments.arena.course import read_course
from experiments.arena.engine_match import VERB as USI_VERB
from experiments.arena.engine_match import tally_games
from experiments.arena.process import ARENA
from experiments.elo.sprt import Sprt
from experiments.elo.strength import elo_text
from experiments.jobs.ledger import LandedJob
from experiments.language.catalogue import label, shown
from experiments.matches.standing import Standing, StandingReport
from experiments.report.charts import MACHINE, Row, around, interval, intervals, lines
from experiments.report.section import Origin, Run, Section, Table, origin_of, remarks_tables
from lite.run_folder import read_lines

RATE, MOVES = "win rate of the first player", "moves after the opening"
HEAD = ("run", "first", "second", "won - drawn - lost", "Elo", "95 % interval", "machine")
ABOUT = (
    "Elo from the first player's view, with its 95 % interval, which has no line to a side without a bound; from "
    "pairs of games with one opening."
)
ABOUT_COURSE = " The course is the mean of all games; finished games count with their result."


class Standings(Protocol):
    """Results of a player's games with their Elo."""

    @property
    def games(self) -> int: ...
    @property
    def wins(self) -> int: ...
    @property
    def draws(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def elo(self) -> float | None: ...
    @property
    def elo_low(self) -> float | None: ...
    @property
    def elo_high(self) -> float | None: ...


def match_section(runs: Sequence[Run]) -> Section:
    """Return the section of matches. Raises OSError or ValueError for a run that cannot be read."""
    rows: list[Row] = []
    course: list[Row] = []
    cells: list[list[str]] = []
    origins: list[Origin] = []
    remarks: list[tuple[str, str]] = []
    for run in runs:
        first, second = map(str, run.record.goal["players"])
        is_timed = run.record.verb == USI_VERB
        report: Standings
        if is_timed:
            report = tally_games(recorded_games(run.path))
        else:
            report = counted = read_standing(run)
            remarks += [(run.name, remark) for remark in counted.remarks]
        origin = origin_of(run)
        origins.append(origin)
        found = standing_row(report)
        if "Elo" in found:
            named = {"run": run.name, "first": first, "against": second, "command": label(origin.command)}
            rows.append({**named, **found, MACHINE: label(origin.machine)})
        results = f"{report.wins} - {report.draws} - {report.losses}"
        cells.append([run.name, first, second, results, *elo_cells(report), label(origin.machine)])
        if is_timed:
            course += _course(run)
    charts = [intervals("Elo of the first player", rows, "run", "Elo", "against")] if rows else []
    about = label(ABOUT)
    if course:
        charts.append(lines("Course of the games", course, MOVES, RATE, "seen by"))
        about += label(ABOUT_COURSE)
    tables = [Table(tuple(map(label, HEAD)), cells), *remarks_tables(remarks)]
    return Section(label("Matches"), about, charts, tables, origins)


def read_standing(run: Run) -> StandingReport:
    """Return the standing of the pairs that count, by the test of the match, if it has one."""
    goal, sprt = run.record.goal, run.record.goal["sprt"]
    standing = Standing(int(goal["games"]) // 2, Sprt(**sprt) if sprt else None)
    for line in read_lines(run.path, LandedJob):
        standing.see(line.job, line.counts)
    return standing.report()


def _course(run: Run) -> list[Row]:
    """Return the win rates of the games as both players saw them."""
    return [
        {
            "seen by": label(f"{run.name}: the {moment.player}"),
            MOVES: moment.moves,
            **around(RATE, moment.win_rate, moment.error),
            "games over": f"{moment.over:.0%}",
        }
        for moment in read_course(run.path / ARENA)
    ]


def standing_row(report: Standings) -> Row:
    """Return the fields of a standing that a chart shows."""
    found = interval("Elo", report.elo, report.elo_low, report.elo_high)
    return {**found, "games": report.games, "wins": report.wins, "draws": report.draws, "losses": report.losses}


def elo_cells(report: Standings) -> tuple[str, str]:
    """Return the Elo difference and its interval as text, as far as they are known."""
    ends = [report.elo_low, report.elo_high]
    if report.elo is None:
        return shown(elo_text(report.elo, *ends)), ""
    return f"{report.elo:+.0f}", label(" to ".join("?" if end is None else f"{end:+.0f}" for end in ends))
