"""`liteshogi loop`: generations of networks that learn from their own searches."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from experiments.factory.expand import Mixture
from experiments.games.player import Ending, Variety
from experiments.loop.generation_table import GenerationRow, as_table
from experiments.loop.loop import LoopReport, run_loop
from experiments.loop.options import Loop
from experiments.loop.stage_results import GateResult, LoopStanding
from lite.networks.dense import DenseConfig
from lite.training.options import ValueTraining
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.commands.train.configuration import described, read_configuration
from liteshogi.commands.train.dense import DENSE_OPTIMISER
from liteshogi.json_output import json_text

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
    captures=False,
)


@dataclass(frozen=True)
class PrintedGeneration:
    """A completed generation; generation 0 has only the figures of the yardstick."""

    generation: int
    """Number of the generation."""
    accepted: bool | None
    """Whether its network has become the best one."""
    games: int | None
    """Number of games of self-play."""
    positions: int | None
    """Number of labelled positions."""
    gate: GateResult | None
    """Result of its match against the best network of the generations before."""
    against: Mapping[str, LoopStanding] | None
    """Results of its matches against other networks, by their names."""
    seconds: float | None
    """Time of all its stages in seconds."""
    steps: int | None = None
    """Number of training steps."""
    loss: float | None = None
    """Held-out loss."""
    accuracy: float | None = None
    """Share of held-out positions whose winner is predicted."""
    accuracy_error: float | None = None
    """Standard error of `accuracy`, with the positions of a game taken as one observation."""
    log_loss: float | None = None
    """Log loss on held-out positions of games."""
    d1_rmse: float | None = None
    """Error of the win rate after one ply and quiescence against long searches."""
    d1_rmse_error: float | None = None
    """Standard error of `d1_rmse`."""
    d1_scale: int | None = None
    """Centipawns per logit that suit the network best."""
    d1_positions: int | None = None
    """Number of positions of the yardstick."""
    d1_records_read: int | None = None
    """Number of records of the yardstick that were read."""
    d1_refused: dict[str, int] | None = None
    """Number of refused records of the yardstick by reason."""
    d1_first_refused: tuple[str, ...] | None = None
    """The first refused records of the yardstick."""


@dataclass(frozen=True)
class PrintedLoop:
    """The completed generations of a loop, and its best network."""

    folder: Path
    """Folder of the loop."""
    best: Path
    """File of the best network."""
    generations: tuple[PrintedGeneration, ...]
    """Completed generations."""


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
            help="Training of the candidates: the run.json of a training, or a JSON object of its options with its "
            "kind. Without it a dense network of width 128, both perspectives, mirrored, 6 epochs."
        ),
    ] = None
    json: Json = False

    def run(self) -> None:
        report = run_loop(part(Loop, self), DEFAULT_TRAINING if self.config is None else read_training(self.config))
        print(json_text(printed(report)) if self.json else as_text(report))


def printed(report: LoopReport) -> PrintedLoop:
    """Return the generations as they are printed."""
    return PrintedLoop(report.folder, report.best, tuple(map(_printed_generation, report.generations)))


def _printed_generation(row: GenerationRow) -> PrintedGeneration:
    return PrintedGeneration(
        generation=row.generation,
        accepted=row.accepted,
        games=row.games,
        positions=row.positions,
        gate=row.gate,
        against=None if row.gate is None else row.against,
        seconds=row.seconds,
        **({} if row.training is None else vars(row.training)),
        **({} if row.yardstick is None else vars(row.yardstick)),
    )


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
