"""The variants that a comparison is made of: how a network of each kind is trained, judged, measured and played."""

from __future__ import annotations

import statistics
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import torch

from experiments.resnet.judge import judge_resnet, plane_tensors, uses_bfloat16
from experiments.resnet.train import ResnetRun, ResnetTraining
from export.quantise import ACTIVATION_NAMES
from lite.records.reader import Reader
from lite.training.options import TrainingOptions, ValueTraining
from lite.training.run import Run
from lite.training.testing import judge_net
from lite.training.train import ValueRun
from search.evaluation.bench import find_games, random_network
from search.evaluation.bench import measure as measure_evaluation

INFERENCE_BATCH = 256
ROUNDS = 3


@dataclass(frozen=True)
class Variant(ABC):
    """One way of several: its name in tables and directories, and how it is trained."""

    name: str
    options: TrainingOptions

    plays: ClassVar[bool] = False
    """Whether there is a player for its networks."""

    def with_options(self, **changes: Any) -> Self:
        """The same with other options of the training."""
        return replace(self, options=replace(self.options, **changes))

    def seeded(self, seed: int, runs: Path) -> Self:
        """Its run with a seed, below the directory `runs`."""
        return self.with_options(seed=seed, output=runs / f"{self.name}-seed{seed}")

    @abstractmethod
    def begin(self) -> Run:
        """The training, begun or resumed."""

    @abstractmethod
    def judge(self) -> dict[str, Any]:
        """The figures of the trained network on the held-out games."""

    @abstractmethod
    def evaluation_us(self) -> float:
        """CPU microseconds of one evaluation on one core."""

    def as_trained(self, figures: dict[str, Any]) -> Self:
        """The variant as the run with these figures trained it."""
        return self


@dataclass(frozen=True)
class ValueVariant(Variant):
    """A value network, which the search updates move by move."""

    options: ValueTraining

    def begin(self) -> Run:
        return ValueRun(self.options)

    def judge(self) -> dict[str, Any]:
        return judge_net(str(self.options.output), self.options.valid)

    def evaluation_us(self) -> float:
        """Of the engine's update and layers, along games, with random weights of the network's dimensions."""
        network = self.options.network.build()
        hidden = tuple(len(bias) for _, bias in network.layers()[:-1])
        lanes = len(network.first_layer()[1])
        width, activation = -(-lanes // 32) * 32, ACTIVATION_NAMES[network.activation]
        random = random_network(network.feature_set, width, hidden, network.perspectives, activation=activation)
        figures = measure_evaluation(random, find_games(None, 200), ROUNDS)
        return float(figures["update_ns"] + figures["forward_ns"]) / 1000


@dataclass(frozen=True)
class ResnetVariant(Variant):
    """A residual policy-value network, which PUCT plays with."""

    options: ResnetTraining

    plays = True

    def begin(self) -> Run:
        return ResnetRun(self.options)

    def judge(self) -> dict[str, Any]:
        return judge_resnet(str(self.options.output), self.options.valid)

    def evaluation_us(self) -> float:
        """In batches of 256 positions, planes included, in the numbers that are faster here."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            model = ResnetRun(replace(self.options, output=Path(folder) / "run", device="cpu")).model.eval()
        batch = next(iter(Reader(self.options.data, INFERENCE_BATCH)))
        bfloat16 = uses_bfloat16(self.options.precision, "cpu")
        times = []
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            for _ in range(ROUNDS + 1):
                begun = time.process_time()
                model.heads(*plane_tensors(batch.pieces, batch.hands, batch.in_check, bfloat16))
                times.append((time.process_time() - begun) / len(batch) * 1e6)
        torch.set_num_threads(threads)
        return statistics.median(times[1:])  # the first warms up

    def as_trained(self, figures: dict[str, Any]) -> Self:
        """Auxiliary targets without positives in the data were left out."""
        network = self.options.network
        targets = tuple(name for name in network.auxiliary if name in figures)
        return self.with_options(network=replace(network, auxiliary=targets))
