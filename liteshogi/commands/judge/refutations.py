"""`liteshogi judge refutations`: the nodes that a search needs to see the refutations of bad moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.judge.refutations import RefutationOptions, RefutationReport, find_refutations
from liteshogi.commands.arguments import Json, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(RefutationOptions):
    """Measure how many nodes a search needs to see the refutations of the worst moves of a `judge moves` run. Resumes
    an interrupted run."""

    engine: tyro.conf.Positional[str]
    judged: tyro.conf.Positional[Path]
    output: Output = Path("runs/judge/refutations")
    json: Json = False

    def run(self) -> None:
        report = find_refutations(self)
        print(json_text(report) if self.json else as_text(report))


def as_text(report: RefutationReport) -> str:
    """Return the report for a reader."""
    lines = [f"{report.engine}: refutations seen of {len(report.moves)}, by nodes"]
    lines.append(" " * 30 + "".join(f"{nodes:>10,}" for nodes in report.nodes))
    lines += [f"{row.name:30s}" + "".join(f"{count:10d}" for count in row.seen) for row in report.variants]
    lines.append("\nloss  move   refuted by  seen from  position")
    for row in report.moves:
        first = row.seen_from[0]
        nodes = "-" if first is None else f"{first:,}"
        lines.append(f"{row.loss:4d}  {row.move:6s} {row.reply:10s} {nodes:>10s}  {row.sfen}")
    return "\n".join(lines)
