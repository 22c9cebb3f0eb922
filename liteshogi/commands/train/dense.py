"""`liteshogi train dense`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.dense import DenseConfig
from lite.training.optimiser import OptimiserConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import ValueCommand

DENSE_OPTIMISER = OptimiserConfig(learning_rate=DenseConfig.learning_rate)


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train a plain table with one row per feature, without shared kernels."""

    output: Output = Path("runs/dense")
    network: Annotated[DenseConfig, tyro.conf.arg(name="")] = field(default_factory=DenseConfig)
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = DENSE_OPTIMISER
