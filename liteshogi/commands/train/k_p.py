"""`liteshogi train k_p`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.nnue import KpConfig
from lite.training.optimiser import OptimiserConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import NNUE_OPTIMISER, ValueCommand


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train an NNUE with K+P features, which is small and fast."""

    output: Output = Path("runs/k_p")
    network: Annotated[KpConfig, tyro.conf.arg(name="")] = field(default_factory=KpConfig)
    optimiser: Annotated[OptimiserConfig, tyro.conf.arg(name="")] = NNUE_OPTIMISER
