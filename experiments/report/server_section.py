"""The section of games on CSA servers: results by opponent and by end, time used, and every game."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.csa.endings import Result
from experiments.csa.server_results import LostConnection, ServerGameLine, report_of
from experiments.language.catalogue import label
from experiments.report.charts import Chart, Row, lines
from experiments.report.section import Origin, Run, Section, Table, origin_of
from lite.notation.game import Game
from lite.notation.games import read_games
from lite.run_folder import read_lines

RESULTS: tuple[Result, ...] = ("win", "draw", "loss", "unfinished")
POINTS = {"win": 1, "draw": 0, "loss": -1, "unfinished": 0}
GAME, BALANCE, USED = "game", "wins minus losses", "seconds used"
RUNS = ("run", "account", "wins - draws - losses", "unfinished", "lost on time", "lost connections", "machine")
OPPONENTS = ("opponent", "games", "wins - draws - losses", "points", "unfinished", "last game")
ENDS = ("end", "won", "drawn", "lost", "unfinished")
GAMES = (
    "opponent",
    "result",
    "game",
    "colour",
    "moves",
    "own time",
    "longest move",
    "opponent's time",
    "date",
    "record",
)
ABOUT = (
    "Games are in the order of play. Ends are CSA's words: TORYO is a resignation, TIME_UP a loss on time, KACHI a "
    "declaration, JISHOGI an impasse, CHUDAN an interruption by the server, ABNORMAL the opponent's lost connection. "
    "Points count a draw as half; unfinished games do not count. Times are the server's, in seconds."
)
MOST_GAMES = 300
"""Most lines of the table of games, which has the latest ones."""


@dataclass(frozen=True)
class TimeUsed:
    """Seconds that a game's sides used by its record, which has the server's times."""

    own: float
    longest: float
    """Longest own move."""
    opponent: float


def server_section(runs: Sequence[Run]) -> Section:
    """Return the section of games on CSA servers. Raises OSError or ValueError for a run that cannot be read."""
    balance: list[Row] = []
    used: list[Row] = []
    table: list[list[str]] = []
    tables: list[Table] = []
    origins = [origin_of(run) for run in runs]
    for run, origin in zip(runs, origins, strict=True):
        games = list(read_lines(run.path, ServerGameLine))
        times = {game.number: _time_used(run, game) for game in games}
        table.append(_totals(run, origin, games))
        balance += _balance(run.name, games)
        used += _used(run.name, games, times)
        if games:
            tables += [_opponents(run.name, games), _ends(run.name, games), _games(run.name, games, times)]
    charts: list[Chart] = []
    if balance:
        charts.append(lines("Wins minus losses", balance, GAME, BALANCE, "run"))
    if used:
        charts.append(lines("Time used per game", used, GAME, USED, "side"))
    return Section(label("Games on servers"), label(ABOUT), charts, [_table(RUNS, table), *tables], origins)


def _table(head: Iterable[str], cells: list[list[str]], title: str = "") -> Table:
    return Table(tuple(map(label, head)), cells, label(title))


def _totals(run: Run, origin: Origin, games: Sequence[ServerGameLine]) -> list[str]:
    options = run.record.options
    name, server = str(options["name"]), f"{options['host']}:{options['port']}"
    report = report_of(server, name, games, list(read_lines(run.path, LostConnection)), run.path)
    counts = (report.unfinished, report.losses_on_time, report.lost_connections)
    results = f"{report.wins} - {report.draws} - {report.losses}"
    return [run.name, label(f"{name} on {server}"), results, *map(str, counts), label(origin.machine)]


def _balance(run: str, games: Iterable[ServerGameLine]) -> list[Row]:
    rows: list[Row] = []
    total = 0
    for game in games:
        total += POINTS[game.result]
        rows.append({"run": run, GAME: game.number, BALANCE: total, "opponent": _opponent(game), **_result(game)})
    return rows


def _used(run: str, games: Iterable[ServerGameLine], times: dict[int, TimeUsed | None]) -> list[Row]:
    rows: list[Row] = []
    for game in games:
        if (used := times[game.number]) is not None:
            for side, seconds in (("own", used.own), ("opponent's", used.opponent)):
                named = {"side": label(f"{run}: {side}"), GAME: game.number, USED: seconds, "opponent": _opponent(game)}
                rows.append({**named, "moves": game.moves, **_result(game)})
    return rows


def _opponents(run: str, games: Iterable[ServerGameLine]) -> Table:
    """Return the results against each opponent; the one with most games first."""
    met: dict[str, list[ServerGameLine]] = defaultdict(list)
    for game in games:
        met[_opponent(game)].append(game)
    cells = []
    for name, own in sorted(met.items(), key=lambda item: -len(item[1])):
        win, draw, loss, unfinished = _counts(own)
        counted = win + draw + loss
        points = f"{(win + draw / 2) / counted:.0%}" if counted else ""
        last = max(game.started for game in own)[:10]
        cells.append([name, str(len(own)), f"{win} - {draw} - {loss}", points, str(unfinished), last])
    return _table(OPPONENTS, cells, f"{run}: opponents")


def _ends(run: str, games: Sequence[ServerGameLine]) -> Table:
    """Return how games ended; the most frequent end first."""
    ends = [end for end, _ in Counter(game.ending for game in games).most_common()]
    cells = [[label(end), *map(str, _counts([game for game in games if game.ending == end]))] for end in ends]
    return _table(ENDS, cells, f"{run}: ends of games")


def _games(run: str, games: Sequence[ServerGameLine], times: dict[int, TimeUsed | None]) -> Table:
    latest = games[: -MOST_GAMES - 1 : -1]
    cells = []
    for game in latest:
        used = times[game.number]
        seconds = ["", "", ""] if used is None else [f"{one:,.0f}" for one in (used.own, used.longest, used.opponent)]
        when = game.started[:16].replace("T", " ")
        found = [str(game.number), label(game.colour), str(game.moves), *seconds, when, game.kif]
        cells.append([_opponent(game), label(", ").join(_result(game).values()), *found])
    title = "games" if len(latest) == len(games) else f"the latest {len(latest)} of {len(games):,} games"
    return _table(GAMES, cells, f"{run}: {title}")


def _opponent(game: ServerGameLine) -> str:
    return game.white if game.colour == "black" else game.black


def _result(game: ServerGameLine) -> Row:
    return {"result": label(game.result), "end": label(game.ending)}


def _counts(games: Iterable[ServerGameLine]) -> tuple[int, int, int, int]:
    """Return the numbers of won, drawn, lost and unfinished games."""
    found = Counter(game.result for game in games)
    win, draw, loss, unfinished = (found[result] for result in RESULTS)
    return win, draw, loss, unfinished


def _time_used(run: Run, line: ServerGameLine) -> TimeUsed | None:
    """Return the time that a game took by its record; None if there is none, or none that can be read."""
    if not line.kif:
        return None
    try:
        game = next(iter(read_games(run.path / line.kif, unfinished=True)), None)
    except OSError:
        return None
    if not isinstance(game, Game):
        return None
    begins = game.start_sfen.split()[1] == "b"
    mine = 0 if begins == (line.colour == "black") else 1
    seconds = game.times.clip(0) / 1000
    own, opponent = seconds[mine::2], seconds[1 - mine :: 2]
    return TimeUsed(float(own.sum()), float(own.max(initial=0)), float(opponent.sum()))
