"""`liteshogi test --resnet`: a policy-value network's accuracy, losses and calibration on held-out games."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from experiments.resnet.judge import Precision, judge_resnet
from experiments.resnet.network import TARGET_BITS
from liteshogi.commands.arguments import Json
from liteshogi.commands.test import as_text


@dataclass(frozen=True)
class Command:
    """Test a policy-value network on records of games that it has not learned from."""

    net: tyro.conf.Positional[str]
    """A trained network, its run's directory, or an ONNX file with dlshogi's inputs."""
    data: tyro.conf.Positional[tuple[Path, ...]]
    """Held-out records: hcpe, hcpe3 and psv files, any mixture."""
    positions: int | None = None
    """Stop after about so many positions."""
    batch_size: int = 512
    """Positions at a time."""
    precision: Precision = "float32"
    """Numbers to compute with: bfloat16 is faster where the CPU has it, and differs in the third digit of a logit."""
    threads: int = 1
    """Cores to use."""
    json: Json = False

    def run(self) -> None:
        if not self.data:
            raise ValueError("no data: name at least one hcpe, hcpe3 or psv file")
        torch.set_num_threads(self.threads)
        report = judge_resnet(self.net, self.data, self.batch_size, self.positions, self.precision)
        if self.json:
            print(json.dumps(report))
            return
        if report["policy_accuracy"] is not None:
            print(f"policy accuracy       {100 * report['policy_accuracy']:.2f} %, loss {report['policy_loss']:.4f}")
        for name in ("draw", *TARGET_BITS):
            if name in report:
                print(rare_as_text(name, report[name]))
        print(as_text(report))


def rare_as_text(name: str, figures: dict[str, Any]) -> str:
    """A line of `judge_rare`'s figures."""

    def share(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.2f} %"

    return (
        f"{name}: {share(figures['base_rate'])} of positions; Brier score {figures['brier']:.5f} "
        f"(of the base rate {figures['base_brier']:.5f}), accuracy {share(figures['accuracy'])} "
        f"(base {share(figures['base_accuracy'])}), precision {share(figures['precision'])}, "
        f"recall {share(figures['recall'])}, average precision {share(figures['average_precision'])}"
    )
