"""`liteshogi loop`: generations of networks that learn from their own searches."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from experiments.factory.expand import Mixture
from experiments.games.player import Ending, Variety
from experiments.loop.generation_table import as_table
from experiments.loop.loop import LoopReport, run_loop
from experiments.loop.options import Loop
from lite.networks.dense import DenseConfig
from lite.training.options import ValueTraining
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.commands.train.configuration import described, read_configuration
from liteshogi.commands.train.dense import DENSE_OPTIMISER

KINDS = ("lite", "untied", "dense", "half_kp", "k_p", "sfnn")
"""Kinds of networks that a loop trains: those that alpha-beta searches with."""
# A generation has few positions, so batches are small, for more steps. Networks are evaluated when exchanges are
# settled: learning captures that a search finds anyway costs games (docs/guide/loop.md).
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
    """Improve a network by reinforcement: self-play, training on its searches, a match. Resumes an interrupted run.

    It begins from a network, or from material alone."""

    output: Output = Path("runs/loop")
    variety: tyro.conf.OmitArgPrefixes[Variety] = field(default_factory=lambda: Loop().variety)
    ending: tyro.conf.OmitArgPrefixes[Ending] = field(default_factory=lambda: Loop().ending)
    mixture: tyro.conf.OmitArgPrefixes[Mixture] = field(default_factory=lambda: Loop().mixture)
    config: Annotated[
        Path | None,
        tyro.conf.arg(
            help="Training of the candidates: the config.json of a training, or a file like it with its kind. Without "
            "it a dense network of width 128, both perspectives, mirrored, 6 epochs."
        ),
    ] = None
    json: Json = False

    def run(self) -> None:
        report = run_loop(part(Loop, self), DEFAULT_TRAINING if self.config is None else read_training(self.config))
        print(json.dumps(report.figures()) if self.json else as_text(report))


def read_training(path: Path) -> ValueTraining:
    """Return the training of a value network that a file describes. Raises OSError or ValueError."""
    options = read_configuration(path)
    kind = options.get("kind")
    if kind not in KINDS:
        raise ValueError(f'{path}: a loop trains networks of a "kind" among {", ".join(KINDS)}, not {kind}')
    command = importlib.import_module(f"liteshogi.commands.train.{kind}").Command
    return part(ValueTraining, described(command, options, path, kind))


def as_text(report: LoopReport) -> str:
    """Return the generations for a reader, and the file of the best network."""
    return f"{as_table(report.generations)}\nthe best: {report.best}"
