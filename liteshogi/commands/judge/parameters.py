"""`liteshogi judge parameters`: what each number of the search is worth by a stronger engine's word."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from experiments.judge.judge import Judging
from experiments.judge.parameter_effects import EffectOptions, measure_effects
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Net, Output


@dataclass(frozen=True)
class Command(EffectOptions):
    """Tell what each number of the search is worth by a stronger engine's word; goes on where it was cut.

    By how near win rates and moves come to that engine's where the number is moved: all are moved at once, by chance,
    so many cost no more than one."""

    net: Net
    positions: tyro.conf.Positional[Path]
    """File of positions, as `judge positions` writes it: `sfen SFEN moves ...` a line."""
    output: Output = Path("runs/parameters")
    judging: tyro.conf.OmitArgPrefixes[Judging] = field(kw_only=True)
    json: Json = False

    def run(self) -> None:
        report = measure_effects(self, self.judging)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader, what is told best first."""
    base, doubled = report["base"], report["doubled"]
    lines = [
        f"{report['player']}, {amount(report['positions'], 'position')}, {report['pairs']:,} pairs of searches, by "
        f"{report['judge']} ({report['judge_nodes']:,} nodes)",
        f"win rates off by {base['error']:.4f}, with twice the nodes by {doubled['error']:.4f}; another move than the "
        f"judge's {100 * base['disagreed']:.1f} and {100 * doubled['disagreed']:.1f} %; moves lose {base['lost']:.4f} "
        f"and {doubled['lost']:.4f} of win rate",
        "worth, in hundredths of what twice the nodes are:",
        f"{'':28s}  value  moved   by win rate       by move         by loss         time of a node",
    ]
    rows = sorted(
        report["parameters"].items(), key=lambda row: -abs(row[1]["worth"]) / max(row[1]["worth_error"], 0.01)
    )
    for name, row in rows:
        lines.append(
            f"{name:28s} {row['value']:6d} {row['moved']:+6g} {row['worth']:+7.1f} +- {row['worth_error']:4.1f} "
            f"{row['moves']:+7.1f} +- {row['moves_error']:4.1f} {row['loss']:+7.1f} +- {row['loss_error']:4.1f} "
            f"{row['cost']:+7.1f} +- {row['cost_error']:4.1f}"
        )
    return "\n".join(lines)
