"""`liteshogi train lite`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.lite_value import LiteConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import ValueCommand


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train a lite value network, in which parallel lines of the board share kernels."""

    output: Output = Path("runs/lite")
    network: Annotated[LiteConfig, tyro.conf.arg(name="")] = field(default_factory=LiteConfig)
