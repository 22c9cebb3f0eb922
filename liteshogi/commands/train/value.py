"""Base of the commands that train value networks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.nnue import NnueConfig
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.train import train_value
from lite.workers import join_workers
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.commands.train.configuration import Configuration
from liteshogi.commands.train.outcome import outcome_json
from liteshogi.commands.train.resume import hint_if_interrupted, hint_if_unfinished

NNUE_OPTIMISER = OptimiserConfig(learning_rate=NnueConfig.learning_rate)


@dataclass(frozen=True)
class ValueCommand(ValueTraining):
    """Train a value network. Each kind adds its network and its defaults."""

    data: tyro.conf.Positional[tuple[Path, ...]]
    output: Output = Path("runs/lite")
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = field(default_factory=OptimiserConfig)
    lambda_: Annotated[float, tyro.conf.arg(name="lambda")] = 0.7
    config: Configuration = None
    json: Json = False

    def run(self) -> None:
        options = part(ValueTraining, self)
        with hint_if_interrupted(options):
            outcome = train_value(options)
        hint_if_unfinished(outcome)
        if self.json and join_workers().first:
            print(outcome_json(outcome))
