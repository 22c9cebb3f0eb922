"""`liteshogi judge moves`: what an engine's choices lose against a stronger engine's."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from experiments.judge.judge import Judging
from experiments.judge.losses import OVER, LossOptions, measure_losses
from lite.amounts import amount
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command(LossOptions):
    """Tell what an engine's moves lose in centipawns, by a stronger engine's long searches of what they lead to."""

    engine: tyro.conf.Positional[str]
    """A network's file or `default`, which is played in process, or the command of a USI engine."""
    positions: tyro.conf.Positional[Path]
    """File of positions, as `judge positions` writes it: `sfen SFEN moves ...` a line."""
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_losses(self, self.judging)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader."""
    over = "  ".join(f"over {limit}" for limit in OVER)
    lines = [
        f"{report['engine']}, {report['earlier']} of its turns before searched first, by {report['judge']} "
        f"({report['judge_nodes']:,} nodes), {amount(len(report['positions']), 'position')}, "
        f"scores cut at {report['clip']} cp",
        f"{'':30s}  loss a move       {over}  as the judge",
    ]
    for row in report["variants"]:
        shares = "  ".join(f"{100 * row[f'over_{limit}']:6.1f} %" for limit in OVER)
        line = (
            f"{row['name']:30s} {row['loss']:6.1f} +- {row['error']:4.1f}  {shares}     {100 * row['as_judge']:6.1f} %"
        )
        if "difference" in row:
            line += f"   {row['difference']:+6.1f} +- {row['difference_error']:4.1f}"
        lines.append(line)
    if report["worst"]:
        lines.append("\nloss  move   best    score, of the best  position")
    for row in report["worst"]:
        lines.append(
            f"{row['losses'][0]:4d}  {row['moves'][0]:6s} {row['best_move']:6s} {row['scores'][0]:6d}  {row['best']:6d}"
            f"       {row['sfen']}"
        )
    return "\n".join(lines)
