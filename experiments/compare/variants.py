"""The variants that a comparison is made of: how a network of each kind is trained, judged, measured and played."""

from __future__ import annotations

import statistics
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import torch

from experiments.labels.yardstick import measure_d1
from experiments.resnet.judge import judge_resnet, plane_tensors, uses_bfloat16
from experiments.resnet.network import load_resnet, multiply_adds
from experiments.resnet.onnx import CHECKED, export_resnet
from experiments.resnet.train import ResnetRun, ResnetTraining
from experiments.timing import sizes, time_network
from export.fold import fold_file
from export.positions import read_sample
from lite.records.reader import Reader
from lite.training.options import TrainingOptions, ValueTraining
from lite.training.run import Run
from lite.training.testing import judge_net
from lite.training.train import ValueRun
from search.evaluation.network_file import load_network
from search.puct.playout_speed import measure_playouts

INFERENCE_BATCH = 256
ROUNDS = 3
TIMES = 3
"""That a folded network is timed."""


@dataclass(frozen=True)
class Variant(ABC):
    """One way of several: its name in tables and directories, and how it is trained."""

    name: str
    options: TrainingOptions

    def with_options(self, **changes: Any) -> Self:
        """The same with other options of the training."""
        return replace(self, options=replace(self.options, **changes))

    def seeded(self, seed: int, runs: Path) -> Self:
        """Its run with a seed, below the directory `runs`."""
        return self.with_options(seed=seed, output=runs / f"{self.name}-seed{seed}")

    @property
    @abstractmethod
    def net(self) -> Path:
        """Where the file lies that an engine plays with."""

    @abstractmethod
    def begin(self) -> Run:
        """The training, begun or resumed."""

    @abstractmethod
    def judge(self) -> dict[str, Any]:
        """The figures of the trained network on the held-out games."""

    @abstractmethod
    def playable(self) -> Path:
        """`net`, made of the trained network if it is not there."""

    @abstractmethod
    def cost(self, searched: bool) -> dict[str, Any]:
        """{evaluation_us: CPU microseconds of one evaluation on one core, bytes: of the weights as they are evaluated,
        multiply_adds: of an evaluation behind the first layer's sums; nodes_per_s: of the search that it is made for,
        on one core, where it is to be `searched`}."""

    def as_trained(self, figures: dict[str, Any]) -> Self:
        """The variant as the run with these figures trained it."""
        return self


@dataclass(frozen=True)
class ValueVariant(Variant):
    """A value network, which the search updates move by move."""

    options: ValueTraining

    @property
    def net(self) -> Path:
        return self.options.output / "net.safetensors"

    def begin(self) -> Run:
        return ValueRun(self.options)

    def judge(self) -> dict[str, Any]:
        return judge_net(str(self.options.output), self.options.valid)

    def playable(self) -> Path:
        if not self.net.is_file():
            fold_file(self.options.output, self.net, self.options.valid)
        return self.net

    def distance(self, yardstick: Sequence[Path]) -> dict[str, Any]:
        """`measure_d1` of the folded network."""
        return measure_d1(str(self.playable()), yardstick).figures()

    def cost(self, searched: bool) -> dict[str, Any]:
        """Of the folded network in the engine, see `time_network`: an update and the layers, along games."""
        net = self.playable()
        times = time_network(str(net), TIMES)
        kept = {name: value for name, value in sizes(load_network(str(net))).items() if name != "row_lanes"}
        return {"evaluation_us": times["evaluation_ns"] / 1000, "nodes_per_s": times["nps"]} | kept


@dataclass(frozen=True)
class ResnetVariant(Variant):
    """A residual policy-value network, which PUCT plays with."""

    options: ResnetTraining

    @property
    def net(self) -> Path:
        return self.options.output / "model.onnx"

    def begin(self) -> Run:
        return ResnetRun(self.options)

    def judge(self) -> dict[str, Any]:
        return judge_resnet(str(self.options.output), self.options.valid)

    def playable(self) -> Path:
        if not self.net.is_file():
            export_resnet(load_resnet(self.options.output)[0], self.net, read_sample((), CHECKED))
        return self.net

    def cost(self, searched: bool) -> dict[str, Any]:
        """Its nodes are playouts, which it is asked for one by one."""
        network = load_resnet(self.options.output)[0]
        found = {
            "evaluation_us": self._evaluation_us(),
            "bytes": sum(weight.numel() * weight.element_size() for weight in network.parameters()),
            "multiply_adds": multiply_adds(network),
        }
        return found | ({"nodes_per_s": measure_playouts(self.playable()).playouts_per_s} if searched else {})

    def _evaluation_us(self) -> float:
        """In batches of 256 positions, planes included, in the numbers that are faster here."""
        threads = torch.get_num_threads()
        with tempfile.TemporaryDirectory() as folder:
            alone = replace(self.options, output=Path(folder) / "run", device="cpu", threads=1)
            model = ResnetRun(alone).model.eval()
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
