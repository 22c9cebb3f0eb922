"""`liteshogi fold`: convert a trained network to the file that the search evaluates."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from export.fold import Folding, FoldReport, fold_file
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output, Overwrite
from liteshogi.json_output import json_text
from search.system.interrupt import ends_as_interrupts

LISTED = 16
"""Most stacks that the text names."""


@dataclass(frozen=True)
class Command(Folding):
    """Fold a trained network into table rows and small integer layers, the form that the engine plays with."""

    net: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="NET")]
    output: Output
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            report = fold_file(self)
        print(json_text(report) if self.json else as_text(report, self.output))
        if not self.data and not self.json:
            print("no --data: measured on positions of random games, without results", file=sys.stderr)


def as_text(report: FoldReport, output: Path) -> str:
    """Return the figures as text."""

    def points(change: float | None) -> str:
        return "not known" if change is None else f"{100 * change:+.3f} points"

    loss = report.log_loss_change
    lines = [
        f"fold            equals the trained network to {report.float64_max_error:.1e} (float64, logits)",
        f"rows            int16, sums reach at most {report.largest_sum:.1f}; shift {report.input_shift} to u8",
        f"quantisation    on {report.positions:,} positions ({report.source}):",
        f"  accuracy      {points(report.accuracy_change)}",
        f"  log loss      {'not known' if loss is None else f'{loss:+.5f}'}",
        f"  sign flips    {100 * report.sign_flips:.3f} %",
        f"  error         {report.mean_error:.4f} logits (root mean square), up to {report.largest_error:.3f}",
        *_stack_lines(report),
        f"written         {output}: {' x '.join(map(str, report.shape))}, {report.bytes:,} bytes",
    ]
    if (fit := report.output_fit) is not None:
        change = f"log loss {fit.log_loss_change:+.5f}"
        lines.insert(-1, f"output          {fit.slope:.3f} * logit {fit.offset:+.3f} fits the results: {change}")
    return "\n".join(lines)


def _stack_lines(report: FoldReport) -> list[str]:
    """Return the cost of each stack, or of those with the largest errors, and the stacks with few positions."""
    if not report.stacks:
        return []
    stacks = sorted(report.stacks, key=lambda one: -one.mean_error)
    shown = sorted(stacks[:LISTED], key=lambda one: one.stack)
    named = "" if len(stacks) <= LISTED else f"        the {LISTED} with the largest errors"
    lines = [f"by stack{named}"]
    for one in shown:
        change = "" if one.log_loss_change is None else f", log loss {one.log_loss_change:+.5f}"
        lines.append(
            f"  {one.name}: {amount(one.positions, 'position')}, error {one.mean_error:.4f}{change}, "
            f"sign flips {100 * one.sign_flips:.2f} %"
        )
    if rare := report.rare_stacks:
        more = f" and {len(rare) - LISTED} more" if len(rare) > LISTED else ""
        lines.append(f"few positions   {len(rare)} of the stacks: {'; '.join(rare[:LISTED])}{more}")
    return lines
