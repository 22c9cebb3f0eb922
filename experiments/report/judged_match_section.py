"""Matches that are broken off and judged: the first player's win rate by a stronger engine's word."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.jobs.ledger import read_entries
from experiments.jobs.shards import LEDGER
from experiments.judge.judged_match import VERB, Shares
from experiments.report.charts import MACHINE, Row, around, intervals
from experiments.report.match_section import RATE
from experiments.report.section import UNREADABLE, Origin, Section, Table, origin_of
from lite.datasets.description import read_description

HEAD = ("run", "first", "against", "judge", "plies", "games", "ended before", RATE, "machine")


def is_judged_match(path: Path) -> bool:
    """Whether a folder holds what `liteshogi judge match` has found. Raises as `read_description`."""
    description = read_description(path) if (path / LEDGER).is_file() else None
    return description is not None and description["verb"] == VERB


def judged_section(runs: Mapping[str, Path]) -> Section:
    """Runs by their names. Raises OSError, or ValueError in words for one that cannot be read."""
    rows: list[Row] = []
    lines: list[list[str]] = []
    origins: list[Origin] = []
    for run, path in runs.items():
        description = read_description(path) or {}
        try:
            told = description["options"]
            first, second = (Path(told[role]).name for role in ("first", "second"))
            judge = f"{told['judge']['name']}, {told['judge_nodes']:,} nodes"
            origin = origin_of(run, {**description, "options": _options(description)})
            report = _report(path)
        except UNREADABLE as error:
            raise ValueError(
                f"{path}: no judged match that this program can read ({error!r:.200}); leave it out"
            ) from None
        played = [str(report[name]) for name in ("games", "ended")] if report else ["0", "0"]
        lines.append([run, first, second, judge, str(told["plies"]), *played, _share(report), origin.machine])
        origins.append(origin)
        if report:
            share, deviation = report["share"], report["share_error"]
            named = {"run": run, "first": first, "against": second, "judge": judge, "command": origin.command}
            rows.append({**named, **around(RATE, share, deviation), "games": report["games"], MACHINE: origin.machine})
    charts = [intervals("Win rate where games were broken off", rows, "run", RATE, "against")] if rows else []
    about = (
        "Games are broken off after some plies, and the judge's win rate counts; those that ended before count by "
        "their result. The chart has the mean's 95 % interval, the table its standard error, by pairs. It is no Elo."
    )
    return Section("Judged matches", about, charts, [Table(HEAD, lines)], origins)


def _report(path: Path) -> dict[str, Any] | None:
    """How a match stands; None before its first pair."""
    entries = list(read_entries(path / LEDGER))
    if not entries:
        return None
    shares = Shares(1 + max(job for job, _ in entries))
    for job, counts in entries:
        shares.see(job, counts)
    return shares.report()


def _share(report: Mapping[str, Any] | None) -> str:
    if report is None:
        return "no pair yet"
    error = report["share_error"]
    return f"{report['share']:.3f}" + ("" if error is None else f" +- {error:.3f}")


def _options(description: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the command, from what the description tells of the players, the openings and the judge."""
    told = description["options"]
    judge = told["judge"]
    chosen = {name: value for name, value in judge["options"].items() if not name.startswith("NetworkDelay")}
    return {
        "players": [_settings(told[role]) for role in ("first", "second")],
        "openings": description["sources"][0]["sha256"],
        **{name: told[name] for name in ("nodes", "plies", "seed")},
        "judge": shlex.quote(judge["name"]),
        "judge_option": [f"{name}={Path(str(value)).name}" for name, value in chosen.items()],
        "judge_nodes": told["judge_nodes"],
    }


def _settings(player: str) -> dict[str, str]:
    """The options of a player that is told as `NET (100000 nodes, OPTION=VALUE)`."""
    _, *options = player.rpartition(" (")[2].removesuffix(")").split(", ")
    return dict(option.split("=", 1) for option in options)
