"""`liteshogi judge moves`: the loss of an engine's choices against a stronger engine's."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.judge import Judging
from experiments.judge.losses import OVER, LossOptions, LossReport, measure_losses
from experiments.judge.statistics import error_text
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(LossOptions):
    """Measure what an engine's moves lose, in centipawns, by a stronger engine's long searches. Resumes an interrupted
    run."""

    engine: tyro.conf.Positional[str]
    positions: tyro.conf.Positional[Path]
    """File of positions, as `judge positions` writes it: `sfen SFEN moves ...` per line."""
    output: Output = Path("runs/judge/moves")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_losses(self, self.judging)
        print(as_json(report) if self.json else as_text(report))


def as_json(report: LossReport) -> str:
    """Return the report as JSON, with the positions of the greatest losses also in a list of their own."""
    return json_text(report, {"worst": report.worst})


def as_text(report: LossReport) -> str:
    """Return the report for a reader."""
    over = "  ".join(f"over {limit}" for limit in OVER)
    lines = [
        f"{report.engine}, {report.earlier} of its earlier turns searched first, by {report.judge} "
        f"({report.judge_nodes:,} nodes), {amount(len(report.positions), 'position')}, "
        f"scores limited to {report.clip} cp",
        f"{'':30s}  loss per move     {over}  as the judge",
    ]
    for row in report.variants:
        shares = "  ".join(f"{100 * share:6.1f} %" for share in (row.over_100, row.over_200, row.over_400))
        loss = f"{row.loss:6.1f} {error_text(row.error, '4.1f')}"
        line = f"{row.name:30s} {loss}  {shares}     {100 * row.as_judge:6.1f} %"
        if row.difference is not None:
            line += f"   {row.difference:+6.1f} {error_text(row.difference_error, '4.1f')}".rstrip()
        lines.append(line)
    if report.worst:
        lines.append("\nloss  move   best    score, of the best  position")
    for one in report.worst:
        lines.append(
            f"{one.losses[0]:4d}  {one.moves[0]:6s} {one.best_move:6s} {one.scores[0]:6d}  {one.best:6d}"
            f"       {one.sfen}"
        )
    return "\n".join(lines)
