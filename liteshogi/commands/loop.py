"""`liteshogi loop`: a network that goes beyond its teacher, or needs none."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from experiments.factory.expand import Mixture
from experiments.games.player import Ending, Variety
from experiments.loop.generation_table import as_table
from experiments.loop.loop import run_loop
from experiments.loop.options import Loop
from lite.networks.dense import DenseConfig
from lite.training.options import ValueTraining
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.commands.train.configuration import described, read_configuration
from liteshogi.commands.train.dense import DENSE_OPTIMISER

KINDS = ("lite", "untied", "dense", "half_kp", "k_p")
"""What a loop can train: networks that the engine searches with."""
# A generation has few positions, so batches are small: steps are what teaches. What a search finds by taking something
# is no matter of a network that is asked when exchanges are settled, and guessing it costs games (docs/loop.md).
DEFAULT_TRAINING = ValueTraining(
    data=(),
    network=DenseConfig(128, (32,), 2),
    optimiser=DENSE_OPTIMISER,
    batch_size=2048,
    epochs=6,
    mirror=True,
    quiet=True,
)


@dataclass(frozen=True)
class Command(Loop):
    """Let a network play itself, learn from its searches, and be replaced by what beats it; goes on where it was cut.

    Generation after generation, from a network or from material alone."""

    output: Output = Path("runs/loop")
    variety: tyro.conf.OmitArgPrefixes[Variety] = field(default_factory=lambda: Loop().variety)
    ending: tyro.conf.OmitArgPrefixes[Ending] = field(default_factory=lambda: Loop().ending)
    mixture: tyro.conf.OmitArgPrefixes[Mixture] = field(default_factory=lambda: Loop().mixture)
    config: Annotated[
        Path | None,
        tyro.conf.arg(
            help="How candidates are trained: the config.json of a run of liteshogi train, or a file like it with its "
            "kind. Without it a dense network 128 wide, both views, mirrored, 6 epochs."
        ),
    ] = None
    json: Json = False

    def run(self) -> None:
        report = run_loop(part(Loop, self), DEFAULT_TRAINING if self.config is None else read_training(self.config))
        print(json.dumps(report) if self.json else as_text(report))


def read_training(path: Path) -> ValueTraining:
    """The training of a value network that a file describes. Raises OSError or ValueError in words."""
    options = read_configuration(path)
    kind = options.get("kind")
    if kind not in KINDS:
        raise ValueError(f'{path}: a loop trains networks of a "kind" among {", ".join(KINDS)}, not {kind}')
    command = importlib.import_module(f"liteshogi.commands.train.{kind}").Command
    return part(ValueTraining, described(command, options, path, kind))


def as_text(report: dict[str, Any]) -> str:
    """The generations for a reader, and where the best network is."""
    return f"{as_table(report['generations'])}\nthe best: {report['best']}"
