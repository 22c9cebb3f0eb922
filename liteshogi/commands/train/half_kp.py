"""`liteshogi train half_kp`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.nnue import HalfKpConfig
from lite.training.optimiser import OptimiserConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import NNUE_OPTIMISER, ValueCommand


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train an NNUE with HalfKP features, as YaneuraOu uses them."""

    output: Output = Path("runs/half_kp")
    network: Annotated[HalfKpConfig, tyro.conf.arg(name="")] = field(default_factory=HalfKpConfig)
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = NNUE_OPTIMISER
