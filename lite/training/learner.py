"""Steps of a training run: a network, its optimiser and the average of its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from lite.records.batch import Batch
from lite.training.checkpoint import optimiser_tensors, restore_optimiser
from lite.training.memory import keep_freed_memory
from lite.training.optimiser import WeightAverage, make_optimiser, rate_at
from lite.training.state import SavedRun
from lite.training.targets import TargetSchedule
from lite.training.task import Task
from search.system.options import OptionError


class Learner:
    """A network that learns step by step."""

    def __init__(self, task: Task, targets: TargetSchedule, start: nn.Module | None, saved: SavedRun | None) -> None:
        """`start` gives the first weights, which are random without it; `saved` is a run to resume."""
        options = task.options
        keep_freed_memory()
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self._task, self.targets = task, targets
        self.model = task.build()
        if start is not None:
            self._start_from(start)
        self.optimiser = make_optimiser(options.optimiser, self.model)
        self.average = WeightAverage(options.optimiser, self.model)
        if saved is not None:
            with saved.named_errors():
                self.model.load_state_dict(saved.tensors["model"])
                self.average.model.load_state_dict(saved.tensors["average"])
                self.average.count = saved.state.average_count
                restore_optimiser(self.optimiser, saved.tensors["optimiser"])
                torch.set_rng_state(saved.tensors["random"]["torch"])

    def _start_from(self, start: Any) -> None:
        """Take over the weights of a network. Raises OptionError if its configuration does not allow it."""
        try:
            self._task.start_from(self.model, start)
        except ValueError as error:
            raise OptionError(f"`init_from` {self._task.options.init_from}: {error}", "init_from") from None

    def take_step(self, batch: Batch, step: int) -> dict[str, float]:
        """Take step 0 .. steps-1 of the run on a batch and return the losses by name.

        Raises FloatingPointError, with the weights untouched, if the loss or the gradient is not finite.
        """
        config, steps = self._task.options.optimiser, self.targets.steps
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(config, step, steps)
        self.optimiser.zero_grad()
        self._task.begin_step(self.model, step, steps)
        with np.errstate(all="ignore"):  # an overflow ends in a loss or a gradient that is refused below
            losses = self._task.losses(self.model, batch, self.targets.at(batch, step), step)
            losses["loss"].backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        self._task.workers.total(*losses.values(), *gradients)
        length = torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.clip or float("inf"))
        if not (torch.isfinite(losses["loss"]) and torch.isfinite(length)):
            raise FloatingPointError(f"loss {losses['loss'].item()}, length of the gradient {length.item()}")
        self.optimiser.step()
        self.average.update(self.model, (step + 1) / steps)
        return {name: loss.item() for name, loss in losses.items()}

    @property
    def rate(self) -> float:
        """Learning rate of the last step."""
        return float(self.optimiser.param_groups[0]["lr"])

    @property
    def parameters(self) -> int:
        """Number of the network's parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def tensors(self) -> dict[str, dict[str, torch.Tensor]]:
        """Return all that a resumed learner needs, as `SavedRun` has it."""
        return {
            "model": self.model.state_dict(),
            "average": self.average.model.state_dict(),
            "optimiser": optimiser_tensors(self.optimiser),
            "random": {"torch": torch.get_rng_state()},
        }
