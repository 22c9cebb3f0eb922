"""The options of training runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import torch

from lite.datasets.provenance import learnt_and_judged, sha256_of
from lite.networks.lite_value import LiteConfig
from lite.networks.value_network import NetworkConfig
from lite.records.place import POOL_POSITIONS
from lite.training.checkpoint import json_safe
from lite.training.folder import network_file
from lite.training.optimiser import DEFAULT_RATES, OptimiserConfig
from lite.training.targets import ScoreWinRates
from lite.training.win_rate_model import WinRateModel
from search.evaluation.stacks import PROGRESS
from search.score import CP_PER_LOGIT
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import require_utf8
from search.system.options import OptionError
from search.system.paths import take_paths

SCALES = (1, 100_000)
"""Least and largest centipawns per logit. Programs have 200 to 1,500."""
CALL_OPTIONS = ("resume", "overwrite", "max_steps")
"""Options of a single call."""
FREE_OPTIONS = (
    "output", "data", "valid", "epochs", "init_from", "save_minutes", "keep_epochs", "threads", "device",
    "progress_table", "correct",
)  # fmt: skip
"""Options that may differ in a resumed run: its length, and the places of files, whose content is compared."""


def difference(name: str, before: Any, value: Any) -> str:
    """Return "name before, not value"; of two dictionaries, that of the first entry that differs."""
    if isinstance(before, dict) and isinstance(value, dict):
        for entry in (*value, *before):
            one, other = (options.get(entry, "the default") for options in (before, value))
            if one != other:
                return difference(entry, one, other)
    return f"{name} {before}, not {value}"


def rated(fixed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fixed options of a run with the learning rate that was used, where they leave it open."""
    optimiser = fixed["optimiser"]
    if optimiser["learning_rate"] is not None:
        return fixed
    rate = DEFAULT_RATES.get(optimiser["optimiser"])  # None of an optimiser that this version does not know
    return {**fixed, "optimiser": {**optimiser, "learning_rate": rate}}


@dataclass(frozen=True)
class TrainingOptions:
    """Options of every kind of training."""

    data: tuple[Path, ...]
    """Records to learn from: hcpe, hcpe3, psv and pack files or folders of them, in any mixture."""
    output: Path = Path("runs/lite")
    """Folder of the run."""
    valid: tuple[Path, ...] = ()
    """Held-out records, from other games than the data; the network is tested on them after every epoch."""
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    epochs: int = 15
    """Number of times that every position is seen. Resuming a run with more epochs extends it: its learning rate jumps
    to the value that a run of the new length has at this step."""
    batch_size: int = 8192
    """Positions per step."""
    pool_positions: int = POOL_POSITIONS
    """Positions that are shuffled together, across all files; each takes 240 bytes of memory."""
    lambda_: float = 0.7
    """Weight of the search score in the target, from 0 to 1; the game result has the rest. Positions without a score
    use the result alone."""
    lambda_end: float | None = None
    """Weight of the search score at the end of the run, reached linearly; None keeps it constant."""
    cp_per_logit: float = CP_PER_LOGIT
    """Scale of the scores in centipawns per logit: a position with this score has a win probability of 0.73."""
    fit_scale: bool = False
    """Fit the scale of the scores to the results of the data's games."""
    net_cp_per_logit: float | None = None
    """Scale of the network's own centipawns; None means the scale of the scores."""
    init_from: Path | None = None
    """Start from the weights of this trained network, folded network or nn.bin, of the run in this folder, or of a
    shipped network by its name. Its kind and sizes must match, and a folded network is a dense one. An SFNN may have
    another width and other stacks; a dense network may have fewer lanes and hidden outputs, and lack parts."""
    mirror: bool = False
    """Show each position left-right reversed half of the time."""
    seed: int = 0
    """Seed of the initial weights, the order of the data, and the mirroring."""
    threads: int = 1
    """Cores to use. All of them decode records; a step of a value network uses one per 2,048 positions."""
    save_minutes: float = 5.0
    """Minutes between saved states; the end of every epoch saves one, too."""
    keep_epochs: bool = False
    """Keep the network of every epoch, as epoch-1.safetensors and so on."""
    resume: bool = False
    """Resume the run in the output folder; the options must be the same."""
    overwrite: bool = False
    """Remove the run in the output folder and start a new one."""
    max_steps: int | None = None
    """Save and stop after this number of steps in this call; None means no limit."""

    def __post_init__(self) -> None:
        take_paths(self)

    def check(self) -> None:
        """Raise ValueError for options that cannot be used; OptionError names their fields."""
        if not self.data:
            raise OptionError("`data`: no file is named; name at least one hcpe, hcpe3, psv or pack file", "data")
        if both := learnt_and_judged(self.data, self.valid):
            raise OptionError(
                f"`valid` {both}: is also in the data, itself or as a copy; hold out other games", "valid"
            )
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
        if not 0 < self.save_minutes < float("inf"):
            raise OptionError(f"`save_minutes` {self.save_minutes}: must be more than 0", "save_minutes")
        least, most = SCALES
        for name in ("cp_per_logit", "net_cp_per_logit"):
            scale = getattr(self, name)
            if scale is not None and not least <= scale <= most:
                raise OptionError(f"`{name}` {scale}: must be from {least} to {most:,} centipawns", name)
        if not 0 <= self.seed < 1 << 64:
            raise OptionError(f"`seed` {self.seed}: must be a whole number from 0 to 2^64 - 1", "seed")

    @property
    def kind(self) -> str:
        """Name of the kind of network."""
        raise NotImplementedError

    @property
    def suited_rate(self) -> float | None:
        """Peak learning rate that suits the network; None means the optimiser's default."""
        return None

    @property
    def score_win_rates(self) -> ScoreWinRates | None:
        """Function from scores in centipawns to win rates; None means the logistic function."""
        return None

    def with_rate(self, rate: float | None) -> Self:
        """Return the options with this peak learning rate, where they leave it open."""
        if rate is None or self.optimiser.learning_rate is not None:
            return self
        return replace(self, optimiser=replace(self.optimiser, learning_rate=rate))

    def configuration(self) -> Mapping[str, object]:
        """Return all options but those of a single call, by the names of their fields, flat, as JSON."""
        named: dict[str, Any] = {"kind": self.kind}
        for name, value in asdict(self).items():
            if name not in CALL_OPTIONS:
                named |= value if isinstance(value, dict) else {name: value}
        return {name: json_safe(value) for name, value in named.items()}

    def fixed_options(self) -> Mapping[str, object]:
        """Return the options that a resumed run must keep; of those, only the epochs may grow."""
        free = {*CALL_OPTIONS, *FREE_OPTIONS} - {"epochs", "init_from"}
        return {name: json_safe(value) for name, value in asdict(self).items() if name not in free}


def has_progress_axis(network: NetworkConfig) -> bool:
    """Return whether the progress of the game selects a network's stack."""
    return not PROGRESS.keys().isdisjoint(getattr(network, "stacks", ()))


@dataclass(frozen=True)
class ValueTraining(TrainingOptions):
    """Options of the training of a value network."""

    network: NetworkConfig = field(default_factory=LiteConfig)
    correct: Path | None = None
    """Learn a correction of this folded dense network (a file, or a shipped name): what the labels know beyond its
    evaluation, except for its scale. Positions in check are left out. `fold` adds the correction to the network.
    Requires a dense network with the same perspectives, king, activation and number of hidden layers."""
    captures: bool = True
    """Also learn from positions whose recorded move captures. They may be left out, as the search resolves exchanges
    itself; positions without a move are kept."""
    error_exponent: float | None = None
    """Minimise the absolute error of the win rate to this power, from 1 to 10 (usually 2 to 3); None means the
    cross-entropy."""
    wrm: tuple[float, float] | None = None
    """Learn win rates of nnue-pytorch's model with this offset and scale in centipawns, usually 270 and 340. None means
    the logistic function of the score."""
    saturation: float = 0.0
    """Weight of a penalty on sums of hidden layers beyond the range of their activation; for networks with stacks, a
    shortcut or hidden squares."""
    quantised_epochs: int = 0
    """Number of last epochs that round weights and activations as the exported network does; gradients ignore the
    rounding."""
    progress_table: Path | None = None
    """Table of a progress axis of the stacks: an nn.bin, a network or a progress.bin. None means that it is learnt from
    the move numbers of the data, or taken over from the network that the run starts from. Requires such an axis."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Device that trains: cpu, with this program's own kernels, or cuda, a GPU."""

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
        if self.wrm is not None and not (0 <= self.wrm[0] < float("inf") and 0 < self.wrm[1] < float("inf")):
            raise OptionError(f"`wrm` {self.wrm}: must be an offset of 0 or more and a scale above 0", "wrm")
        if self.wrm is not None and self.fit_scale:
            raise OptionError("`wrm`: has a scale of its own, and `fit_scale` fits that of logits", "wrm", "fit_scale")
        if not 0 <= self.saturation < float("inf"):
            raise OptionError(f"`saturation` {self.saturation}: must be 0 or more", "saturation")
        check_numbers(self, "quantised_epochs", least=0, most=self.epochs)
        if self.correct is not None and self.wrm is not None:
            raise OptionError(f"`correct` {self.correct}: a correction is a logit; leave out `wrm`", "correct", "wrm")
        if self.correct is not None and self.net_cp_per_logit is not None:
            raise OptionError(
                f"`net_cp_per_logit` {self.net_cp_per_logit}: a correction keeps the scale of {self.correct}; "
                "leave this out",
                "net_cp_per_logit",
            )
        if self.progress_table is not None and not has_progress_axis(self.network):
            raise OptionError(
                f"`progress_table` {self.progress_table}: progress selects no stack of this network; leave it out",
                "progress_table",
            )

    @property
    def kind(self) -> str:
        return self.network.name

    @property
    def suited_rate(self) -> float | None:
        return self.network.learning_rate

    @property
    def win_rate_model(self) -> WinRateModel | None:
        """Model of win rates; None means the logistic function."""
        return None if self.wrm is None else WinRateModel(*self.wrm, self.cp_per_logit)

    @property
    def score_win_rates(self) -> ScoreWinRates | None:
        model = self.win_rate_model
        return None if model is None else model.of_scores

    def fixed_options(self) -> Mapping[str, object]:
        digests = {
            name: None if path is None else sha256_of(network_file(path))
            for name, path in (("correct", self.correct), ("progress_table", self.progress_table))
        }
        return {**super().fixed_options(), "network": json_safe(self.network.as_json()), **digests}
