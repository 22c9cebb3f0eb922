"""`liteshogi train untied`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from lite.networks.untied import UntiedConfig
from liteshogi.commands.arguments import Output
from liteshogi.commands.train.value import ValueCommand


@dataclass(frozen=True)
class Command(ValueCommand):
    """Train a lite value network with a separate kernel for every line of the board."""

    output: Output = Path("runs/untied")
    network: Annotated[UntiedConfig, tyro.conf.arg(name="")] = field(default_factory=UntiedConfig)
