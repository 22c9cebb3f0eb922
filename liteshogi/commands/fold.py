"""`liteshogi fold`: convert a trained network to the file that the search evaluates."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from export.fold import FoldReport, fold_file
from liteshogi.commands.arguments import Json, Net, Output, Overwrite
from liteshogi.json_output import json_text


@dataclass(frozen=True)
class Command:
    """Fold a trained network into table rows and small integer layers, the form that the engine plays with."""

    net: Net
    """Trained network file, or the folder of its run."""
    output: Output
    """File to write, in .safetensors."""
    data: tuple[Path, ...] = ()
    """Records on which the cost of quantisation is measured, preferably held-out ones: hcpe, hcpe3 or psv. Without them
    it is measured on positions of random games, and the change in accuracy is not known."""
    positions: int = 50_000
    """Number of positions on which the cost is measured."""
    cp_per_logit: float | None = None
    """Centipawns per logit of the network's scores. Default: the scale that it was trained with."""
    keep_float: bool = False
    """Also write the folded network in float32, as NAME.float.safetensors."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        report = fold_file(
            Path(self.net),
            self.output,
            self.data,
            self.positions,
            self.cp_per_logit,
            self.keep_float,
            self.overwrite,
        )
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
        f"written         {output}: {' x '.join(map(str, report.shape))}, {report.bytes:,} bytes",
    ]
    return "\n".join(lines)
