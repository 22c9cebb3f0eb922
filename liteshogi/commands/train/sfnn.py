"""`liteshogi train sfnn`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.sfnn import SfnnConfig
from lite.training.optimiser import OptimiserConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import NNUE_OPTIMISER, ValueCommand


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train an SFNN, YaneuraOu's network of layer stacks, with any of its feature sets."""

    output: Output = Path("runs/sfnn")
    network: Annotated[SfnnConfig, tyro.conf.arg(name="")] = field(default_factory=SfnnConfig)
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = NNUE_OPTIMISER
