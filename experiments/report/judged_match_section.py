"""The section of judged matches: the first player's win rate by a stronger engine where games were stopped early."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.elo.strength import student
from experiments.jobs.ledger import LandedJob
from experiments.judge.judged_match import Shares, SharesReport
from experiments.report.charts import MACHINE, Row, around, intervals
from experiments.report.match_section import RATE
from experiments.report.section import Run, Section, Table, origin_of
from lite.run_folder import read_lines

HEAD = ("run", "first", "against", "judge", "plies", "games", "ended before", RATE, "machine")


def judged_match_section(runs: Sequence[Run]) -> Section:
    """Return the section of judged matches. Raises OSError or ValueError for a run that cannot be read."""
    rows: list[Row] = []
    cells: list[list[str]] = []
    origins = [origin_of(run) for run in runs]
    for run, origin in zip(runs, origins, strict=True):
        options = run.record.options
        first, second = map(str, run.record.goal["players"])
        judge = f"{run.record.conditions['judge']['name']}, {options['judge_nodes']:,} nodes"
        report = _report(run)
        played = ["0", "0"] if report is None else [str(report.games), str(report.ended)]
        share = "no pair yet" if report is None else f"{report.share:.3f}"
        if report is not None and report.share_error is not None:
            share += f" +- {report.share_error:.3f}"
        cells.append([run.name, first, second, judge, str(options["plies"]), *played, share, origin.machine])
        if report is not None:
            named = {"run": run.name, "first": first, "against": second, "judge": judge, "command": origin.command}
            reach = 0.0 if report.share_error is None else student(report.pairs - 1)
            found = around(RATE, report.share, report.share_error, reach)
            rows.append({**named, **found, "games": report.games, MACHINE: origin.machine})
    charts = [intervals("Win rate where games were stopped early", rows, "run", RATE, "against")] if rows else []
    about = (
        "Games are stopped early, after a number of plies, and the judge's win rate counts; games that ended before "
        "count by their result. The chart has the mean's 95 % interval, the table its standard error, by pairs. It is "
        "no Elo."
    )
    return Section("Judged matches", about, charts, [Table(HEAD, cells)], origins)


def _report(run: Run) -> SharesReport | None:
    """Return the shares of the games that the last call asked for; None before the first pair."""
    shares = Shares(int(run.record.goal["games"]) // 2)
    for line in read_lines(run.path, LandedJob):
        shares.see(line.job, line.counts)
    games, _ = shares.measure()
    return shares.report() if games else None
