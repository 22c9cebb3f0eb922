"""Matches: Elo with its 95 % interval, of games in process and through ShogiArena, and how the latter went."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.arena.course import read_course
from experiments.arena.engine_match import count_results
from experiments.arena.process import GAMES
from experiments.arena.results import read_results
from experiments.elo.sprt import Sprt
from experiments.elo.strength import in_words
from experiments.jobs.ledger import read_entries
from experiments.jobs.shards import LEDGER
from experiments.matches.named_player import player_name
from experiments.matches.standing import Standing
from experiments.report.charts import MACHINE, Row, around, interval, intervals, lines
from experiments.report.section import UNREADABLE, Origin, Section, Table, origin_of
from experiments.usi_client.engines import BY_SHELL
from lite.datasets.description import read_description

COUNTED = "match"
"""The verb of a folder with games in process."""
RATE, MOVES = "win rate of the first player", "moves after the opening"
_FLAGS = {
    "time_ms": "--time",
    "increment_ms": "--increment",
    "byoyomi_ms": "--byoyomi",
    "node_limit": "--nodes",
    "depth_limit": "--depth",
}


def is_counted_match(path: Path) -> bool:
    """Whether a folder holds games in process. Raises as `read_description`."""
    description = read_description(path) if (path / LEDGER).is_file() else None
    return description is not None and description["verb"] == COUNTED


def is_timed_match(path: Path) -> bool:
    """Whether a folder holds games of two through ShogiArena."""
    return (path / "match.yaml").is_file() and (path / GAMES).is_dir() and not is_timed_league(path)


def is_timed_league(path: Path) -> bool:
    """Whether a folder holds games of more than two through ShogiArena."""
    try:
        return len(json.loads((path / "match.yaml").read_text(encoding="utf-8"))["engines"]) > 2
    except (OSError, ValueError, LookupError, TypeError):
        return False


def match_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    rows: list[Row] = []
    course: list[Row] = []
    cells: list[list[str]] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        is_timed = is_timed_match(path)
        read = _read_timed if is_timed else _read_counted
        first, second, report, origin = read(run, path)
        origins.append(origin)
        found = standing_row(report)
        if "Elo" in found:
            named = {"run": run, "first": first, "against": second, "command": origin.command}
            rows.append({**named, **found, MACHINE: origin.machine})
        won = " - ".join(str(report[what]) for what in ("wins", "draws", "losses"))
        cells.append([run, first, second, won, *elo_cells(report), origin.machine])
        if is_timed:
            course += _course(run, path)
    head = ("run", "first", "second", "won - drawn - lost", "Elo", "95 % interval", "machine")
    charts = [intervals("Elo of the first player", rows, "run", "Elo", "against")] if rows else []
    about = (
        "Elo in the first player's view, with its 95 % interval, which has no line to a side without a bound; pairs of "
        "games from one opening are what is counted."
    )
    if course:
        charts.append(lines("How the games went", course, MOVES, RATE, "seen by"))
        about += " How games went is the mean of all, those that are over counting with their result."
    return Section("Matches", about, charts, [Table(head, cells)], origins)


def _course(run: str, path: Path) -> list[Row]:
    """What either player saw of the games."""
    return [
        {
            "seen by": f"{run}: the {moment.player}",
            MOVES: moment.moves,
            **around(RATE, moment.win_rate, moment.error),
            "games over": f"{moment.over:.0%}",
        }
        for moment in read_course(path)
    ]


def standing_row(report: Mapping[str, Any]) -> Row:
    """What hovering tells of a standing."""
    found = interval("Elo", report["elo"], report["elo_low"], report["elo_high"])
    return {**found, **{name: report[name] for name in ("games", "wins", "draws", "losses")}}


def elo_cells(report: Mapping[str, Any]) -> tuple[str, str]:
    """The difference and its interval, as far as they are known."""
    ends = [report["elo_low"], report["elo_high"]]
    words = in_words(report["elo"], *ends)
    if report["elo"] is None:
        return words, ""
    return f"{report['elo']:+.0f}", " to ".join("?" if end is None else f"{end:+.0f}" for end in ends)


def _read_counted(run: str, path: Path) -> tuple[str, str, dict[str, Any], Origin]:
    description = read_description(path) or {}
    try:
        first, second = _players(description)
    except UNREADABLE as error:
        raise ValueError(f"{path}: its description names no two players ({error!r:.200}); leave this run out") from None
    return first, second, _standing(path, description).report(), origin_of(run, description)


def _players(description: Mapping[str, Any]) -> tuple[str, str]:
    """As the match calls them; in older descriptions, which do not tell, by their networks, limits and options."""
    if named := description.get("counted", {}).get("players"):
        return str(named["first"]), str(named["second"])
    options, nets = description["options"], {net.get("role"): str(net["name"]) for net in description["nets"]}
    first, second = (
        player_name(
            nets[side],
            {what: int(options.get(f"{before}{what}") or 0) for what in ("nodes", "depth")},
            options.get(f"{side}_option", {}),
        )
        for side, before in (("first", ""), ("second", "second_"))
    )
    return first, second


def _standing(path: Path, description: Mapping[str, Any]) -> Standing:
    """The pairs that count, by the test that the match was played with, if it had one."""
    entries = list(read_entries(path / LEDGER))
    pairs, sprt = 1 + max((job for job, _ in entries), default=0), None
    try:
        if counted := description.get("counted"):
            pairs = int(counted["games"]) // 2
            sprt = Sprt(**counted["sprt"]) if counted["sprt"] else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: its description tells no way to count its games ({error!r})") from None
    standing = Standing(pairs, sprt)
    for job, counts in entries:
        standing.see(job, counts)
    return standing


def _read_timed(run: str, path: Path) -> tuple[str, str, dict[str, Any], Origin]:
    try:
        match, first, second = (
            json.loads((path / name).read_text(encoding="utf-8"))
            for name in ("match.yaml", "first.yaml", "second.yaml")
        )
        limits, seed = _limits(match["rules"]["time_control"]), match["tournament"]["seed"]
        names = [_player(engine) for engine in (first, second)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: its match.yaml, first.yaml and second.yaml are not a match's ({error!r})") from None
    command = f"liteshogi match {names[0]} {names[1]} {limits}"
    return names[0], names[1], count_results(read_results(path)), Origin(run, command, seed=str(seed))


def _limits(control: Mapping[str, int]) -> str:
    """The options that limit a match's moves, by what its configuration calls them."""
    return " ".join(f"{_FLAGS[name]} {limit}" for name, limit in control.items() if limit)


def _player(engine: Mapping[str, Any]) -> str:
    """An engine by its program, its arguments and what is set, files by their names alone."""
    options = {name.rstrip("|"): str(value) for name, value in engine["options"].items()}
    chosen = [f"{name}={Path(value).name}" for name, value in options.items() if not name.startswith("NetworkDelay")]
    command = (engine["engine_path"], *engine["engine_args"])
    if command[: len(BY_SHELL)] == BY_SHELL:
        command = command[len(BY_SHELL) :]
    return " ".join([*(Path(word).name for word in command), *chosen])
