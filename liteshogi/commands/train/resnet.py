"""`liteshogi train resnet`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from experiments.resnet.network import ResnetConfig
from experiments.resnet.train import ResnetTraining, train_resnet
from lite.training.optimiser import OptimiserConfig
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.commands.train.configuration import Configuration
from liteshogi.commands.train.outcome import outcome_json
from liteshogi.commands.train.resume import hint_if_interrupted, hint_if_unfinished

RESNET_OPTIMISER = OptimiserConfig(learning_rate=ResnetConfig.learning_rate)


@dataclass(frozen=True)
class Command(ResnetTraining):
    """Train a residual policy-value network in dlshogi's format, optionally with squeeze-and-excitation."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/resnet")
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = RESNET_OPTIMISER
    lambda_: Annotated[float, tyro.conf.arg(name="lambda")] = 0.7
    network: Annotated[ResnetConfig, tyro.conf.arg(name="")] = field(default_factory=ResnetConfig)
    config: Configuration = None
    json: Json = False

    def run(self) -> None:
        options = part(ResnetTraining, self)
        with hint_if_interrupted(options):
            outcome = train_resnet(options)
        hint_if_unfinished(outcome)
        if self.json:
            print(outcome_json(outcome))
