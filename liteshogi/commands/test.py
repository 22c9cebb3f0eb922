"""`liteshogi test`: how well a net predicts the results of held-out games."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from lite.training.testing import judge_net
from liteshogi.commands.arguments import Json


@dataclass(frozen=True)
class Command:
    """Test a net on records of games that it has not learned from.

    `test --resnet` tests policy-value networks.
    """

    net: tyro.conf.Positional[str]
    """A trained network (or its run's directory), a folded net, an ONNX file, nn.bin, or `default`."""
    data: tyro.conf.Positional[tuple[Path, ...]]
    """Held-out records: hcpe, hcpe3 and psv files, any mixture."""
    positions: int | None = None
    """Stop after about so many positions."""
    batch_size: int = 8192
    """Positions at a time."""
    threads: int = 1
    """Cores to use."""
    json: Json = False

    def run(self) -> None:
        if not self.data:
            raise ValueError("no data: name at least one hcpe, hcpe3 or psv file")
        torch.set_num_threads(self.threads)
        report = judge_net(self.net, self.data, self.batch_size, self.positions)
        print(json.dumps(report) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """A report of `lite.training.metrics` for a reader."""

    def share(value: float | None, digits: int = 2) -> str:
        return "-" if value is None else f"{100 * value:.{digits}f} %"

    lines = [
        f"positions             {report['positions']:,} ({report['draws']:,} drawn)",
        f"accuracy              {share(report['accuracy'])} (draws left out)",
        f"accuracy              {share(report['accuracy_draw_as_win'])} (a draw as a win)",
        f"accuracy of material  {share(report['material_accuracy'])}",
        f"log loss              {report['log_loss']:.4f}",
        f"Brier score           {report['brier']:.4f}",
        f"calibration error     {report['calibration_error']:.4f}",
        "predicted  actual  positions",
    ]
    lines += [f"  {b['predicted']:7.3f} {b['actual']:7.3f} {b['positions']:10,}" for b in report["calibration"]]
    lines += ["band                     positions  accuracy  log loss"]
    for band in report["by_ply"] + report["by_score"]:
        lines.append(
            f"  {band['band']:22} {band['positions']:9,}  {share(band['accuracy']):>8}  {band['log_loss']:8.4f}"
        )
    return "\n".join(lines)
