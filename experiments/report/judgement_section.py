"""The section of judged moves: the loss of an engine's moves, and boards of the greatest losses."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.elo.strength import student
from experiments.games.game_position import GamePosition
from experiments.judge.losses import JudgedPosition, variant_losses, worst_of
from experiments.judge.statistics import error_text
from experiments.report.charts import Row, around, intervals
from experiments.report.section import Board, Run, Section, Table, origin_of
from lite.run_folder import read_lines
from search.rules.sfen import get_sfen

LOSS = "loss per move, centipawns"
BOARDS = 6
"""Boards of each run."""


def judgement_section(runs: Sequence[Run]) -> Section:
    """Return the section of judged moves. Raises OSError or ValueError for a run that cannot be read."""
    rows: list[Row] = []
    cells: list[list[str]] = []
    boards: list[Board] = []
    for run in runs:
        record = run.record
        judge = f"{record.conditions['judge']['name']}, {record.options['judge_nodes']:,} nodes"
        count = record.goal["count"]
        positions = [row for row in read_lines(run.path, JudgedPosition) if count is None or row.job < count]
        names = [str(name) for name in record.goal["variants"]]
        if not positions:
            cells += [[run.name, f"{record.goal['engine']}, {name}", "no position yet", "", judge] for name in names]
            continue
        for one in variant_losses(names, positions):
            name = f"{record.goal['engine']}, {one.name}"
            reach = 0.0 if one.error is None else student(len(positions) - 1)
            found = around(LOSS, one.loss, one.error, reach)
            loss = f"{one.loss:.1f} {error_text(one.error, '.1f')}".rstrip()
            rows.append({"player": f"{run.name}: {name}", **found, "as the judge": one.as_judge, "judge": judge})
            cells.append([run.name, name, loss, f"{one.as_judge:.1%}", judge])
        boards += [_board(run.name, row) for row in worst_of(positions)[:BOARDS]]
    charts = [intervals("Loss per move, by the judge", rows, "player", LOSS, "judge")] if rows else []
    table = Table(("run", "player", LOSS, "as the judge", "judge"), cells)
    about = (
        "Mean loss, in the chart with its 95 % interval, in the table with its standard error. The boards are the "
        "positions with the greatest losses; scores are the mover's."
    )
    return Section("Judged moves", about, charts, [table], [origin_of(run) for run in runs], boards)


def _board(run: str, row: JudgedPosition) -> Board:
    """Return the board of a position. Raises ValueError for an SFEN that is none, which could not be drawn."""
    sfen = get_sfen(GamePosition.parse(row.sfen).set_up())
    chosen = f"{row.moves[0]} is chosen ({row.scores[0]:+d})"
    return Board(sfen, (f"{run}: {chosen}", f"{row.best_move} is the judge's ({row.best:+d})", sfen))
