"""`liteshogi judge parameters`: the effect of each number of the search by a stronger engine's scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from experiments.judge.judge import Judging
from experiments.judge.parameter_effects import EffectOptions, EffectsReport, measure_effects
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Net, Output
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command(EffectOptions):
    """Measure the effect of each parameter of the search by a stronger engine's scores. Resumes an interrupted run.

    The effect of a parameter is how much closer the search's win rates and moves come to that engine's. All parameters
    are moved at once, at random, so many cost no more than one."""

    net: Net
    positions: tyro.conf.Positional[Path]
    """File of positions, as `judge positions` writes it: `sfen SFEN moves ...` per line."""
    output: Output = Path("runs/judge/parameters")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_effects(self, self.judging)
        print(json_text(report) if self.json else as_text(report))


def as_text(report: EffectsReport) -> str:
    """Return the report for a reader, the most certain effects first."""
    base, doubled = report.base, report.doubled
    lines = [
        f"{report.player}, {amount(report.positions, 'position')}, {report.pairs:,} pairs of searches, by "
        f"{report.judge} ({report.judge_nodes:,} nodes)",
        f"win rates differ by {base['error']:.4f}, with twice the nodes by {doubled['error']:.4f}; moves differ from "
        f"the judge's in {100 * base['disagreed']:.1f} and {100 * doubled['disagreed']:.1f} %; moves lose "
        f"{base['lost']:.4f} and {doubled['lost']:.4f} of win rate",
        "effects, in hundredths of the effect of twice the nodes:",
        f"{'':28s}  value  moved   by win rate       by move         by loss         time of a node",
    ]
    rows = sorted(report.parameters.items(), key=lambda row: -abs(row[1].effect) / max(row[1].effect_error, 0.01))
    for name, row in rows:
        lines.append(
            f"{name:28s} {row.value:6d} {row.moved:+6g} {row.effect:+7.1f} +- {row.effect_error:4.1f} "
            f"{row.moves:+7.1f} +- {row.moves_error:4.1f} {row.loss:+7.1f} +- {row.loss_error:4.1f} "
            f"{row.cost:+7.1f} +- {row.cost_error:4.1f}"
        )
    return "\n".join(lines)
