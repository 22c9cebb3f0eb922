"""The part of a training run that depends on the kind of network: how it is built, what it learns, how it is tested."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.networks.shapes import shapes_alone
from lite.records.batch import Batch
from lite.records.reader import Reader
from lite.training.memory import machine_memory, network_bytes, refuse_beyond_memory
from lite.training.metrics import Report
from lite.training.network_origin import NetworkOrigin
from lite.training.options import TrainingOptions
from lite.workers import Workers


@dataclass(frozen=True)
class HeldOutFigures:
    """Figures of a network on held-out records."""

    loss: float
    """Mean of the loss that the run minimises, against the targets of its last step; the epoch with the lowest mean is
    kept."""
    report: Report
    """Figures of the value against the results of the games."""
    parts: Mapping[str, Any]
    """Figures of this kind of network alone, JSON values by name."""


class Task(ABC):
    """One kind of training."""

    divides_batches = False
    """Whether `losses` and `test` compute only this process's share of a batch."""
    loss_version = 1
    """Version of the held-out loss; only losses of equal versions can be compared."""

    def __init__(self, options: TrainingOptions, workers: Workers) -> None:
        """Raises ValueError where the processes or the memory do not suit the options."""
        self.options, self.workers = options, workers
        if workers.size > 1 and not self.divides_batches:
            raise ValueError(f"{options.kind} networks are trained by one process: start it without torchrun")
        with shapes_alone():
            sketch = self.untrained()
        step_bytes = options.batch_size * self.position_bytes(sketch)
        refuse_beyond_memory(network_bytes(sketch), step_bytes, options.batch_size, self.memory())

    @abstractmethod
    def untrained(self) -> Any:
        """Return the network of the options with random weights."""

    def build(self) -> Any:
        """Return the network to train, on the device that trains it."""
        return self.untrained()

    @abstractmethod
    def position_bytes(self, model: Any) -> int:
        """Return a lower bound of the bytes that a step takes per position."""

    def memory(self) -> int | None:
        """Return the bytes of memory where the network is trained; None if unknown."""
        return machine_memory()

    def reader(self, files: tuple[Path, ...], shuffle: bool, **filters: Any) -> Reader:
        """Return a reader of record files as this kind of training needs them."""
        options = self.options
        pool, threads = options.pool_positions, options.threads
        return Reader(files, options.batch_size, shuffle, options.seed, **filters, pool_positions=pool, threads=threads)

    def is_enough(self, batch: Batch, positions: int) -> bool:
        """Return whether a step is taken on a batch; `positions` is the size of the data.

        Positions of skipped batches come again in the order of another epoch.
        """
        # An epoch's short last batch has poorer statistics.
        return len(batch) == self.options.batch_size or positions < self.options.batch_size

    def positions_learnt(self, batch: Batch) -> int:
        """Return the number of positions of a batch that a step learns from."""
        return len(batch)

    def begin_step(self, model: Any, step: int, steps: int) -> None:  # noqa: B027 (few kinds change while they learn)
        """Prepare a network for step 0 .. steps-1 of the run."""

    @abstractmethod
    def losses(self, model: Any, batch: Batch, target: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        """Return scalars of a batch by name: `loss`, which is minimised, and perhaps its parts.

        target: f4 (B,), see `TargetSchedule`. Where `divides_batches`, each process returns its share's part of the
        batch's means.
        """

    @abstractmethod
    def test(self, model: Any, batches: Iterable[tuple[Batch, np.ndarray]]) -> HeldOutFigures:
        """Return a network's figures on held-out batches with their targets f4 (B,)."""

    @abstractmethod
    def summary(self, figures: HeldOutFigures) -> str:
        """Return held-out figures as part of a line."""

    @abstractmethod
    def load_network(self, path: Path) -> nn.Module:
        """Return the trained network of a file. Raises OSError, ValueError."""

    def start_from(self, model: Any, start: Any) -> None:
        """Give the network to train the weights of another one. Raises ValueError if they do not fit."""
        if start.config != model.config:
            theirs, ours = (json.dumps(network.config) for network in (start, model))
            raise ValueError(f"holds a network of {theirs}, and this run trains one of {ours}")
        model.load_state_dict(start.state_dict())

    def prepare(self, model: Any, batches: Iterable[Batch]) -> None:  # noqa: B027 (few kinds learn something)
        """Learn what a new network needs before its first step; `batches` are those of the data, in its first order.

        Raises ValueError if the data do not suffice.
        """

    @abstractmethod
    def save_network(self, path: Path, model: Any, origin: NetworkOrigin) -> None:
        """Write a network and its origin."""
