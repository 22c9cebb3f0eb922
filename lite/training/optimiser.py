"""The optimiser, its learning-rate schedule, and the averaging of weights.

Two presets. `adamw`, the default: AdamW with a warm-up and a cosine down to 0. `sgd`: momentum SGD at 0.04 as in the
article, then 0.004 and 0.0004, a third of the run each (the steps of its author's training scripts). Either can take
another schedule.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import nn

from lite.training.optimiser_steps import AdamW, MomentumSgd, Optimiser
from search.system.bounds import check_choice
from search.system.options import OptionError

OptimiserName = Literal["adamw", "sgd"]
Schedule = Literal["cosine", "one_cycle", "steps"]
Average = Literal["ema", "swa", "none"]
DEFAULT_RATES = {"adamw": 0.02, "sgd": 0.04}
"""Peak learning rates where neither the options nor the kind of network have one."""
EMA_DECAY, SWA_START = 0.998, 0.75
WARM_UP = {"cosine": 0.03, "one_cycle": 0.3}
START_DIVISOR, END_DIVISOR = 25, 25e4
"""one_cycle begins and ends at the peak rate divided by these, as in PyTorch's OneCycleLR."""


@dataclass(frozen=True)
class OptimiserConfig:
    """Options of the optimiser."""

    optimiser: OptimiserName = "adamw"
    """adamw: AdamW with warm-up and cosine. sgd: momentum SGD; the rate falls to a tenth after each third of the run,
    as in the article on the original lite network."""
    learning_rate: float | None = None
    """Peak learning rate. None means the one that suits the kind of network: 0.04 for dense, 0.005 for half_kp, k_p
    and sfnn, 0.002 for resnet; for lite and untied 0.02 with adamw and 0.04 with sgd."""
    schedule: Schedule | None = None
    """Learning-rate schedule. cosine: linear rise, then a cosine down to 0. one_cycle: cosines from a 25th of the peak
    up and down. steps: three thirds, each at a tenth of the previous rate. None means cosine with adamw, steps with
    sgd."""
    warm_up: float | None = None
    """Share of the run in which the rate of cosine or one_cycle rises; None means 0.03 for cosine, 0.3 for
    one_cycle."""
    weight_decay: float | None = None
    """Decay of weights, not of biases and normalisation; None means 0.01 for adamw, 0.0001 for sgd."""
    clip: float = 1.0
    """Maximum norm of the gradient over all weights; longer gradients are scaled down to it. 0 means no limit."""
    average: Average = "ema"
    """Weights that are tested and saved. ema: exponential moving average. swa: mean over the last part of the run.
    none: the last weights."""
    ema_decay: float = EMA_DECAY
    """Share of the old average that ema keeps at each step."""
    swa_start: float = SWA_START
    """Share of the run after which the mean of swa begins."""

    @property
    def rate_schedule(self) -> str:
        """Chosen schedule, or the preset's."""
        return self.schedule or ("steps" if self.optimiser == "sgd" else "cosine")

    def check(self) -> None:
        """Raise ValueError for options that cannot be used; OptionError names their fields."""
        check_choice("optimiser", self.optimiser, get_args(OptimiserName))
        if self.schedule is not None:
            check_choice("schedule", self.schedule, get_args(Schedule))
        check_choice("average", self.average, get_args(Average))
        if self.learning_rate is not None and not 0 < self.learning_rate < math.inf:
            raise OptionError(f"`learning_rate` {self.learning_rate}: must be more than 0", "learning_rate")
        for name in ("clip", "weight_decay"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise OptionError(f"`{name}` {value}: must be 0 or more", name)
        if self.warm_up is not None and not 0 <= self.warm_up <= 1:
            raise OptionError(f"`warm_up` {self.warm_up}: must be from 0 to 1", "warm_up")
        for name in ("swa_start", "ema_decay"):  # at 1 no step would enter the average
            share = getattr(self, name)
            if not 0 <= share < 1:
                raise OptionError(f"`{name}` {share}: must be from 0 to less than 1", name)
        if self.warm_up is not None and self.rate_schedule == "steps":
            raise OptionError(
                f"`warm_up` {self.warm_up}: has no effect with the schedule steps; leave it out", "warm_up"
            )
        for name, default, average in (("ema_decay", EMA_DECAY, "ema"), ("swa_start", SWA_START, "swa")):
            if getattr(self, name) != default and self.average != average:
                raise OptionError(
                    f"`{name}` {getattr(self, name)}: has no effect with the average {self.average}; leave it out, or "
                    f"choose {average}",
                    name,
                )


def make_optimiser(config: OptimiserConfig, model: nn.Module) -> Optimiser:
    """Return the optimiser of all parameters of a model; tables and matrices decay, vectors do not."""
    parameters = list(model.parameters())
    is_sgd = config.optimiser == "sgd"
    decay = config.weight_decay if config.weight_decay is not None else (1e-4 if is_sgd else 0.01)
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return (MomentumSgd if is_sgd else AdamW)(groups, highest_rate(config))


def highest_rate(config: OptimiserConfig) -> float:
    """Return the chosen peak learning rate, or the preset's."""
    return DEFAULT_RATES[config.optimiser] if config.learning_rate is None else config.learning_rate


def rate_at(config: OptimiserConfig, step: int, steps: int) -> float:
    """Return the learning rate of step 0 .. steps-1, which depends on the step alone."""
    rate = highest_rate(config)
    schedule = config.rate_schedule
    if schedule == "steps":
        return rate * 0.1 ** (3 * step // steps)
    rise = (WARM_UP[schedule] if config.warm_up is None else config.warm_up) * steps
    if schedule == "one_cycle":
        # Smith and Topin 2018, without their change of the momentum.
        top = max(rise - 1, 0)
        if step < top:
            return _along_cosine(rate / START_DIVISOR, rate, step / top)
        return _along_cosine(rate, rate / END_DIVISOR, (step - top) / max(1, steps - 1 - top))
    warm_up = max(1, round(rise))
    if step < warm_up:
        return rate * (step + 1) / warm_up
    return rate * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))


def _along_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * 0.5 * (1 + math.cos(math.pi * share))


class WeightAverage:
    """A copy of a model with averaged weights.

    Running statistics of batch normalisation are averaged, too: they are means over recent batches themselves, and once
    the weights hardly change, their average is the averaged network's own statistic.
    """

    def __init__(self, config: OptimiserConfig, model: nn.Module) -> None:
        self.config = config
        self.model: Any = copy.deepcopy(model).eval().requires_grad_(False)
        self.count = 0

    def restart(self, model: nn.Module) -> None:
        """Make the average equal to the model's weights, before the first step."""
        self.model.load_state_dict(model.state_dict())
        self.count = 0

    def update(self, model: nn.Module, progress: float) -> None:
        """Add the weights after a step to the average; `progress` is the share of the run that is done, 0..1."""
        if self.config.average == "none" or (self.config.average == "swa" and progress <= self.config.swa_start):
            weight, self.count = 1.0, 0  # an extended run may come back here
        else:
            self.count += 1
            # The first steps of an exponential average weigh more, else the random first weights would stay too long.
            weight = max(1 - self.config.ema_decay, 9 / (9 + self.count))
            if self.config.average == "swa":
                weight = 1 / self.count
        pairs = list(zip(self.model.state_dict().values(), model.state_dict().values(), strict=True))
        floats = [pair for pair in pairs if pair[0].is_floating_point()]
        torch._foreach_lerp_([mine for mine, _ in floats], [value for _, value in floats], weight)
        for mine, value in pairs:
            if not mine.is_floating_point():
                mine.copy_(value)
