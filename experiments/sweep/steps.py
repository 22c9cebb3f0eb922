"""The steps that a network goes through: trained, folded, tested. Each has a typed result and runs in any process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from experiments.labels.yardstick import measure_d1
from experiments.network_kinds.kind import Kind, kind_of
from experiments.network_kinds.testing import measure_network
from experiments.resnet.network import TARGET_BITS, load_resnet, multiply_adds
from experiments.resnet.onnx import CHECKED, export_resnet
from experiments.resnet.train import ResnetTask, ResnetTraining
from experiments.sweep.training import Training
from export.fold import Folding, fold_file
from export.positions import read_sample
from lite.records.reader import Reader
from lite.training.folder import RunFolder
from lite.training.log import EpochTest, positions_learnt, read_log
from lite.training.metrics import CalibrationBin, Report
from lite.training.run import Run
from lite.training.targets import score_win_rates, sigmoid
from lite.training.testing import leakage_warning, load_predictor
from lite.training.train import ValueTask
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.score import CP_PER_LOGIT
from search.system.files import write_atomically

Part = TypeVar("Part")
PLANES = "planes"
"""Features of residual networks."""
FOLDED_POSITIONS = 10_000
"""Positions that show what rounding costs."""


@dataclass(frozen=True)
class Epoch:
    """Figures on the held-out games after an epoch."""

    loss: float
    accuracy: float | None
    log_loss: float | None
    policy_accuracy: float | None = None
    policy_loss: float | None = None
    accuracy_error: float | None = None
    """Standard error of `accuracy`; None where the records do not separate games."""


@dataclass(frozen=True)
class Trained:
    """The result of a training; None means not recorded."""

    steps: int | None
    samples: int
    """Positions learnt from, each as often as it came."""
    epochs: int
    parameters: int | None
    resumed: bool
    log: tuple[Epoch, ...] = ()
    seconds: float = 0.0
    """Duration of the training, or of its last part where it was interrupted."""
    cpu_seconds: float = 0.0
    """CPU time of the process, with that of its start."""
    warnings: tuple[str, ...] = ()
    """Warnings of the training, for instance about held-out positions in the training data."""


@dataclass(frozen=True)
class Folded:
    """The loss of a fold."""

    rounding: float
    """Root of the mean squared error of the logit; of a residual network the largest error of an output."""
    sign_flips: float | None = None
    """Share of positions whose predicted winner changed; None of a residual network."""
    log_loss_change: float | None = None
    """Log loss of the folded network less that of the trained one; None where the data have no results."""


@dataclass(frozen=True)
class Rare:
    """Figures of a head that predicts a rare event, beside those of its base rate; see `measure_rare`."""

    base_rate: float
    brier: float
    base_brier: float
    log_loss: float
    base_log_loss: float
    accuracy: float
    base_accuracy: float
    precision: float | None
    recall: float | None
    precision_at_positives: float | None
    average_precision: float | None
    calibration: tuple[CalibrationBin, ...] = ()


@dataclass(frozen=True)
class Tested:
    """Figures of a network on held-out positions; None means not measured."""

    report: Report
    policy_accuracy: float | None = None
    policy_loss: float | None = None
    draw: Rare | None = None
    targets: tuple[str, ...] = ()
    """Auxiliary targets that were trained: those with positives in the data."""
    d1_rmse: float | None = None
    d1_rmse_error: float | None = None
    residual: float | None = None
    residual_by_kind: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Size:
    """The part of a network's cost that does not depend on the machine."""

    features: str
    shape: tuple[int, ...]
    """Lanes, perspectives and outputs of each layer; of a residual network blocks and channels."""
    bytes: int
    """Bytes of the weights as they are evaluated."""
    multiply_adds: int
    """Multiplications of an evaluation after the first layer's sums; with layer stacks, those of one stack."""


@dataclass(frozen=True)
class TrainStep:
    """Train a network to its end; an interrupted training is resumed."""

    training: Training
    """The training; its `output` is the run's folder."""
    progress: Path | None = None
    """File in which the training reports its steps and the time left."""
    yardstick: tuple[Path, ...] = ()
    """Held-out positions that the network is measured on later, for a warning if it has learnt from them."""

    def run(self) -> Trained:
        begun = time.monotonic()
        folder = RunFolder(self.training.output)
        resumed = folder.state.exists()
        run = begin(replace(self.training, resume=resumed, overwrite=not resumed))
        outcome = run.train(self._report if self.progress else None)
        log, warnings = read_log(folder.path), list(run.warnings)
        if self.yardstick:
            warnings.append(leakage_warning(str(folder.path), self.yardstick, held_out="yardstick's positions"))
        return Trained(
            outcome.steps,
            positions_learnt(log),
            self.training.epochs,
            sum(parameter.numel() for parameter in run.learner.model.parameters()),
            resumed,
            tuple(_epoch(line) for line in log if isinstance(line, EpochTest)),
            seconds=round(time.monotonic() - begun, 1),
            cpu_seconds=round(time.process_time(), 1),
            warnings=tuple(line.removeprefix("warning: ") for line in warnings if line),
        )

    def _report(self, text: str) -> None:
        assert self.progress is not None
        with suppress(OSError):  # on a full disk the training itself says so
            write_atomically(self.progress, text.encode())


@dataclass(frozen=True)
class FoldStep:
    """Make the file of a trained network that the engine plays with."""

    run_folder: Path
    net: Path
    data: tuple[Path, ...] = ()
    """Held-out records that rounding is measured on."""
    positions: int = FOLDED_POSITIONS
    onto: str | None = None
    """The folded network that the trained one corrects, if any; the file holds the sum of both."""

    def run(self) -> Folded:
        if kind_of(str(self.run_folder)) is Kind.POLICY_VALUE:
            return Folded(export_resnet(load_resnet(self.run_folder)[0], self.net, read_sample((), CHECKED)))
        found = fold_file(Folding(self.run_folder, self.net, self.data, self.positions, overwrite=True, onto=self.onto))
        return Folded(found.mean_error, found.sign_flips, found.log_loss_change)


@dataclass(frozen=True)
class MeasureStep:
    """Measure a network on held-out positions."""

    net: str
    """A folded network, or a trained residual one."""
    valid: tuple[Path, ...]
    positions: int | None = None
    """Number of positions of `valid`; None means all."""
    yardstick: tuple[Path, ...] = ()
    residual: Path | None = None
    kinds: Mapping[str, Path] = field(default_factory=dict)

    def run(self) -> Tested:
        is_value = kind_of(self.net) is Kind.FOLDED
        found = measure_network(self.net, self.valid, self.positions)
        d1 = measure_d1(self.net, self.yardstick) if is_value and self.yardstick else None
        return Tested(
            _part(Report, found),
            found.policy_accuracy,
            found.policy_loss,
            None if found.draw is None else _part(Rare, found.draw),
            tuple(name for name in TARGET_BITS if getattr(found, name) is not None),
            d1.rmse if d1 else None,
            d1.error if d1 else None,
            measure_residual(self.net, self.residual) if is_value and self.residual else None,
            {kind: measure_residual(self.net, data) for kind, data in self.kinds.items()} if is_value else {},
        )


def _part(kind: type[Part], whole: object) -> Part:
    """Return the fields of a dataclass from a result that has fields of the same names."""
    return kind(**{one.name: getattr(whole, one.name) for one in fields(kind)})  # type: ignore[arg-type]


def begin(training: Training) -> Run:
    """Return a training that is ready to begin or to be resumed. Raises OSError or ValueError."""
    training.check()
    return Run(training, ResnetTask) if isinstance(training, ResnetTraining) else Run(training, ValueTask)


def _epoch(line: EpochTest) -> Epoch:
    report, parts = line.report, line.parts
    policy = parts.get("policy_accuracy"), parts.get("policy_loss")
    return Epoch(line.loss, report.accuracy, report.log_loss, *policy, report.accuracy_error)


def measure_residual(network_path: str, data: Path) -> float:
    """Return the root of the mean square of a network's static win rate less that of the records' scores.

    Records without a score are left out. Raises OSError, or ValueError if no record has one."""
    predict, squares, count = load_predictor(network_path), 0.0, 0
    for batch in Reader((data,), 8192, shuffle=False):
        rates = sigmoid(predict(batch)[:, 0].astype(np.float64))[batch.scored]
        errors = rates - score_win_rates(batch.score[batch.scored], CP_PER_LOGIT)
        squares, count = squares + float((errors**2).sum()), count + len(errors)
    if not count:
        raise ValueError(f"{data}: no position has a score; a residual needs the teacher's static scores")
    return float(np.sqrt(squares / count))


def size_of(network_path: str, run_folder: Path | None = None) -> Size:
    """Return the size of a network of the engine's, or of the residual network of a run."""
    if run_folder is not None and kind_of(str(run_folder)) is Kind.POLICY_VALUE:
        model = load_resnet(run_folder)[0]
        config = model.network_config
        weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
        return Size(PLANES, (config.blocks, config.channels), weights, multiply_adds(model))
    return size_of_network(load_network(network_path))


def size_of_network(network: EvalNetwork) -> Size:
    """Return the size of a network of the engine's."""
    parts = [network.rows, network.bias, *(part for layer in network.layers for part in (layer.weight, layer.bias))]
    return Size(
        network.feature_set.name,
        (network.width, network.perspectives, *(layer.bias.shape[-1] for layer in network.layers)),
        sum(part.nbytes for part in parts),
        sum(layer.weight.size for layer in network.layers) // network.stacks.count,
    )
