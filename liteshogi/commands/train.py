"""`liteshogi train`: a value network, from records to a run's directory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.lite_value import LiteConfig
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.train import train_value
from liteshogi.commands.arguments import Json, Output, part


@dataclass(frozen=True)
class Command(ValueTraining):
    """Train a network on game records and write it, tested on held-out games, into a run's directory.

    `train --resnet` trains the policy-value network of the comparisons.
    """

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/lite")
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = field(default_factory=OptimiserConfig)
    lambda_: Annotated[float, tyro.conf.arg(name="lambda")] = 0.7
    network: Annotated[LiteConfig, tyro.conf.arg(name="")] = field(default_factory=LiteConfig)
    json: Json = False

    def run(self) -> None:
        figures = train_value(part(ValueTraining, self))
        if self.json:
            print(json.dumps(figures))
