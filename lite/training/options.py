"""What a training run is told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import torch

from lite.datasets.provenance import learnt_and_judged
from lite.networks.lite_value import LiteConfig
from lite.networks.value_network import NetworkConfig
from lite.records.reader import POOL_POSITIONS
from lite.training.checkpoint import json_safe
from lite.training.optimiser import DEFAULT_RATES, OptimiserConfig
from search.score import CP_PER_LOGIT
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import require_utf8
from search.system.options import OptionError
from search.system.paths import take_paths


def difference(name: str, before: Any, value: Any) -> str:
    """`name before, not value`; of two dictionaries, as the options of a network are, the first entry that differs."""
    if isinstance(before, dict) and isinstance(value, dict):
        for entry in (*value, *before):
            one, other = (options.get(entry, "the default") for options in (before, value))
            if one != other:
                return difference(entry, one, other)
    return f"{name} {before}, not {value}"


def rated(fixed: dict[str, Any]) -> dict[str, Any]:
    """Fixed options as a run recorded them, with the learning rate that was taken where they tell none."""
    optimiser = fixed["optimiser"]
    if optimiser["learning_rate"] is not None:
        return fixed
    return fixed | {"optimiser": optimiser | {"learning_rate": DEFAULT_RATES[optimiser["optimiser"]]}}


@dataclass(frozen=True)
class TrainingOptions:
    """What every kind of training is told."""

    data: tuple[Path, ...]
    """Records to learn from: hcpe, hcpe3 and psv files, any mixture."""
    output: Path = Path("runs/lite")
    """Directory of the run."""
    valid: tuple[Path, ...] = ()
    """Held-out records, of other games than the data: tested after every epoch."""
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    epochs: int = 15
    """Number of times that every position is seen. A resumed run with more epochs is extended: its learning rate goes
    to where a run of the new length has it, and falls from there."""
    batch_size: int = 8192
    """Positions a step."""
    pool_positions: int = POOL_POSITIONS
    """Positions shuffled among each other, out of all files: 240 bytes of memory each."""
    lambda_: float = 0.7
    """Weight of the search score in the target, the rest is the game's result; a position without a score learns from
    the result alone."""
    lambda_end: float | None = None
    """That weight at the end of the run, where it goes on a straight line; None: it stays."""
    cp_per_logit: float = CP_PER_LOGIT
    """Scale of the scores: a position with this score is won with probability 0.73."""
    fit_scale: bool = False
    """Fit that scale to the data instead."""
    net_cp_per_logit: float | None = None
    """Scale of the network's own centipawns, whatever that of the scores is; None: the scores'."""
    init_from: Path | None = None
    """Start from the weights of this trained network (or of the run in this directory), of the same kind and sizes."""
    mirror: bool = False
    """Show each position left-right reversed half of the time: the rules know no left and right."""
    seed: int = 0
    """Of the first weights, the order of the data, and the mirror."""
    threads: int = 1
    """Cores to use: all of them to decode records, and for a value network's step one for each 2,048 positions."""
    save_minutes: float = 5.0
    """Minutes between saved states; one is saved at every epoch's end, too."""
    keep_epochs: bool = False
    """Keep the network of every epoch, as epoch-1.safetensors and so on, to be chosen from by games."""
    resume: bool = False
    """Go on with the run in the output directory, with the same options."""
    overwrite: bool = False
    """Begin anew where a run is in the output directory, and remove that one."""
    max_steps: int | None = None
    """Save and stop after so many steps of this call."""

    def __post_init__(self) -> None:
        take_paths(self)

    def check(self) -> None:
        """Raises ValueError in words for options that make no sense."""
        if not self.data:
            raise OptionError("`data`: no file is named; name at least one hcpe, hcpe3 or psv file", "data")
        if both := learnt_and_judged(self.data, self.valid):
            raise ValueError(f"{both}: both to learn from and held out (or a copy); a test on it would say nothing")
        require_utf8(self.output)
        if self.resume and self.overwrite:
            raise OptionError("`resume` continues a run and `overwrite` removes it; choose one", "resume", "overwrite")
        if self.fit_scale and self.cp_per_logit != CP_PER_LOGIT:
            raise OptionError(
                f"`cp_per_logit` {self.cp_per_logit}: `fit_scale` finds this scale; choose one",
                "cp_per_logit",
                "fit_scale",
            )
        self.optimiser.check()
        for name in ("lambda_", "lambda_end"):
            weight = getattr(self, name)
            if weight is not None and not 0 <= weight <= 1:
                raise OptionError(f"`{name}` {weight}: must be from 0 (results) to 1 (scores)", name)
        check_numbers(self, "epochs", "batch_size", "pool_positions", "max_steps")
        check_numbers(self, "threads", most=MOST_AT_ONCE)
        for name in ("save_minutes", "cp_per_logit", "net_cp_per_logit"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise OptionError(f"`{name}` {value}: must be more than 0", name)
        if not 0 <= self.seed < 1 << 64:
            raise OptionError(f"`seed` {self.seed}: must be a whole number from 0 to 2^64 - 1", "seed")

    @property
    def kind(self) -> str:
        """The network's, as `liteshogi train KIND` names it."""
        raise NotImplementedError

    @property
    def suited_rate(self) -> float | None:
        """The highest learning rate that suits the network; None: the optimiser's own."""
        return None

    def with_rate(self, rate: float | None) -> Self:
        """The same options, with this highest learning rate where they tell none."""
        if rate is None or self.optimiser.learning_rate is not None:
            return self
        return replace(self, optimiser=replace(self.optimiser, learning_rate=rate))

    def configuration(self) -> dict[str, Any]:
        """All options but those of a single call, by the names that the command line has for them, as JSON."""
        named: dict[str, Any] = {"kind": self.kind}
        for name, value in asdict(self).items():
            if name not in ("resume", "overwrite", "max_steps"):
                named |= value if isinstance(value, dict) else {name: value}
        return {name.rstrip("_").replace("_", "-"): json_safe(value) for name, value in named.items()}

    def fixed_options(self) -> dict[str, Any]:
        """The options that a resumed run must not change."""
        free = (
            "output", "resume", "overwrite", "max_steps", "save_minutes", "keep_epochs", "threads", "device", "valid",
            "data",
        )  # fmt: skip
        return {name: json_safe(value) for name, value in asdict(self).items() if name not in free}


@dataclass(frozen=True)
class ValueTraining(TrainingOptions):
    """What the training of a value network is told."""

    network: NetworkConfig = field(default_factory=LiteConfig)
    quiet: bool = False
    """Leave out positions whose move takes something: the search settles exchanges itself. A position without a move
    stays."""
    error_exponent: float | None = None
    """Minimise the error of the win rate to this power (2 to 3 are usual); None: the cross-entropy."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where to train: by this program's own kernels, or on a GPU."""

    def check(self) -> None:
        super().check()
        try:
            torch.device(self.device)
        except RuntimeError:
            raise OptionError(f"`device` {self.device}: must be cpu or cuda", "device") from None
        if self.device == "cuda" and not torch.cuda.is_available():
            raise OptionError(
                "`device` cuda: PyTorch finds no GPU here; leave the option out, or install its CUDA build", "device"
            )
        if self.error_exponent is not None and not 1 <= self.error_exponent <= 10:
            raise OptionError(f"`error_exponent` {self.error_exponent}: must be from 1 to 10", "error_exponent")

    @property
    def kind(self) -> str:
        return self.network.name

    @property
    def suited_rate(self) -> float | None:
        return self.network.learning_rate

    def fixed_options(self) -> dict[str, Any]:
        return super().fixed_options() | {"network": json_safe(self.network.as_json())}
