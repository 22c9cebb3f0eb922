"""`liteshogi test`: how well a net of any kind predicts the results of held-out games."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from experiments.network_kinds import Precision, judge
from lite.records.file import Refusals
from liteshogi.commands.arguments import Json, Net

RARE = ("draw", "sennichite", "declaration", "move_limit", "entered")
"""What heads beside policy and value foretell."""


@dataclass(frozen=True)
class Command:
    """Test a net on records of games that it did not learn from."""

    net: Net
    """A trained network (or its run's directory), a folded one, an ONNX file, an nn.bin, or `default`; value networks
    and policy-value networks."""
    data: tyro.conf.Positional[tuple[Path, ...]]
    """Held-out records: hcpe, hcpe3 and psv files, any mixture."""
    positions: int | None = None
    """Test on the first so many positions; None: on all."""
    batch_size: int | None = None
    """Positions at a time; None: 8192 for a value network, 512 for a policy-value network."""
    precision: Precision = "float32"
    """Numbers that a policy-value network computes with: bfloat16 is faster where the CPU has it, and differs in the
    third digit of a logit."""
    threads: int = 1
    """Cores to use."""
    yardstick: tuple[Path, ...] = ()
    """Records with the scores of long searches, as `liteshogi expand --label search --nodes 10000` makes them: how far
    a folded net's word, one ply and quiescence deep, is from theirs (d1-RMSE), which goes with games."""
    json: Json = False

    def run(self) -> None:
        distance = {}
        if self.yardstick:
            from experiments.labels.yardstick import measure_d1

            distance = measure_d1(self.net, self.yardstick).figures()
        report = judge(self.net, self.data, self.positions, self.batch_size, self.precision, self.threads) | distance
        if self.json:
            print(json.dumps(report))
            return
        print(as_text(report))
        for line in left_out(report):
            print(line, file=sys.stderr)


def as_text(report: dict[str, Any]) -> str:
    """A report of `lite.training.metrics` for a reader."""
    lines = []
    if report.get("policy_accuracy") is not None:
        lines.append(f"policy accuracy       {_share(report['policy_accuracy'])}, loss {report['policy_loss']:.4f}")
    if "d1_rmse" in report:
        lines.append(
            f"d1-RMSE               {report['d1_rmse']:.4f} +- {report['d1_rmse_error']:.4f} "
            f"(standard error; at {report['d1_scale']} cp a logit, {report['d1_positions']:,} positions)"
        )
    lines += [rare_as_text(name, report[name]) for name in RARE if name in report]
    lines += [
        f"positions             {report['positions']:,} ({report['draws']:,} drawn)",
        f"accuracy              {_share(report['accuracy'])} (draws left out)",
        f"accuracy              {_share(report['accuracy_draw_as_win'])} (a draw as a win)",
        f"accuracy of material  {_share(report['material_accuracy'])}",
        f"log loss              {report['log_loss']:.4f}",
        f"Brier score           {report['brier']:.4f}",
        f"calibration error     {report['calibration_error']:.4f}",
        "predicted  actual  positions",
    ]
    lines += [f"  {b['predicted']:7.3f} {b['actual']:7.3f} {b['positions']:10,}" for b in report["calibration"]]
    lines += ["band                     positions  accuracy  log loss"]
    for band in report["by_ply"] + report["by_score"]:
        lines.append(
            f"  {band['band']:22} {band['positions']:9,}  {_share(band['accuracy']):>8}  {band['log_loss']:8.4f}"
        )
    return "\n".join(lines)


def left_out(report: dict[str, Any]) -> Iterator[str]:
    """What was refused of the records and of the yardstick, a line each, as `train` says it."""
    for kind in ("", "d1_"):
        if reasons := report.get(f"{kind}refused"):
            refusals = Refusals(report[f"{kind}records_read"], Counter(reasons), report[f"{kind}first_refused"])
            yield f"left out: {refusals}"


def rare_as_text(name: str, figures: dict[str, Any]) -> str:
    """A line of `judge_rare`'s figures."""
    return (
        f"{name}: {_share(figures['base_rate'])} of positions; Brier score {figures['brier']:.5f} "
        f"(of the base rate {figures['base_brier']:.5f}), accuracy {_share(figures['accuracy'])} "
        f"(base {_share(figures['base_accuracy'])}), precision {_share(figures['precision'])}, "
        f"recall {_share(figures['recall'])}, average precision {_share(figures['average_precision'])}"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f} %"
