"""Judgements: what an engine's moves lose by a stronger one's word, and boards of where the two differ most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.report.charts import Row, around, intervals
from experiments.report.section import UNREADABLE, Board, Origin, Section, Table

LOSS = "loss a move, centipawns"
BOARDS = 6
"""Of each judgement."""


def is_judgement(found: Any) -> bool:
    """Whether a JSON value is what `liteshogi judge moves --json` prints."""
    return isinstance(found, dict) and {"engine", "judge", "variants", "worst"} <= found.keys()


def judgement_section(reports: Mapping[str, dict[str, Any]]) -> Section:
    """Reports by the names of their runs. Raises ValueError in words for one that cannot be read."""
    rows: list[Row] = []
    lines: list[list[str]] = []
    boards: list[Board] = []
    origins: list[Origin] = []
    for run, report in reports.items():
        try:
            judge = f"{report['judge']}, {report['judge_nodes']:,} nodes"
            for one in report["variants"]:
                name, loss, error = f"{report['engine']}, {one['name']}", one["loss"], one["error"]
                found = around(LOSS, loss, error)
                rows.append({"player": f"{run}: {name}", **found, "as the judge": one["as_judge"], "judge": judge})
                lines.append([run, name, f"{loss:.1f} +- {error:.1f}", f"{one['as_judge']:.1%}", judge])
            boards += [_board(run, row) for row in report["worst"][:BOARDS]]
        except UNREADABLE as error:
            raise ValueError(
                f"{run}: no judgement that this program can read ({error!r:.200}); make it again"
            ) from None
        command = f"liteshogi judge moves {report['engine']} POSITIONS --judge '{report['judge']}'"
        origins.append(Origin.by(run, command, [report.get("made_by", {})], []))
    chart = intervals("What a move loses, by the judge's word", rows, "player", LOSS, "judge")
    table = Table(("run", "player", LOSS, "as the judge", "judge"), lines)
    about = (
        "Mean loss with its 95 % interval. The boards are where the player's move loses most; scores are the mover's."
    )
    return Section("Judgements", about, [chart], [table], origins, boards)


def _board(run: str, row: dict[str, Any]) -> Board:
    chosen = f"{row['moves'][0]} is chosen ({row['scores'][0]:+d})"
    return Board(
        row["sfen"], (f"{run}: {chosen}", f"{row['best_move']} is the judge's ({row['best']:+d})", row["sfen"])
    )
