"""The lines that a training run prints before its first step and after its last one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from lite.amounts import amount
from lite.records.file import Refusals
from lite.records.reader import Reader
from lite.training.folder import RunFolder
from lite.training.log import EpochTest
from lite.training.optimiser import highest_rate, rate_at
from lite.training.options import TrainingOptions
from lite.training.state import BestEpoch, Extension, InitialNetwork
from search.evaluation.network import LANES

FEW_STEPS = 300
"""A run with fewer steps teaches a network little more than which side is to move."""
ENOUGH_STEPS = 1000
CHANCE = 0.52
"""Held-out accuracy below which a network is no better than chance."""


@dataclass(frozen=True)
class Facts:
    """Facts about a training run that its lines report."""

    options: TrainingOptions
    folder: RunFolder
    reader: Reader
    lost: Sequence[Refusals]
    """Records that opening the data and the held-out files has refused."""
    step: int
    """Steps taken so far."""
    steps: int
    """Steps of the whole run."""
    steps_per_epoch: int
    parameters: int
    """Number of the network's parameters."""
    cp_per_logit: float
    """Scale of the scores."""
    processes: int
    """Processes that train together."""
    gpu: str
    """Name of the GPU that trains; empty on a CPU."""
    init_from: InitialNetwork | None
    extended: tuple[Extension, ...]
    forgotten: str
    """Reason why the best network is chosen again; empty if it is not."""
    best: BestEpoch | None
    tested: EpochTest | None
    """Held-out figures of the network at this step."""


def gpu_name(model: torch.nn.Module) -> str:
    """Return the name of the GPU that holds a model; empty if it lies in main memory."""
    device = next(model.parameters()).device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else ""


def introduction(run: Facts) -> Iterator[str]:
    """Yield the lines before the first step."""
    options = run.options
    yield (
        f"{amount(run.reader.positions, 'position')}, {amount(run.steps, 'step')}, "
        f"{run.parameters:,} parameters, {run.cp_per_logit:.0f} cp per logit"
        + ("" if options.net_cp_per_logit is None else f", the network's {options.net_cp_per_logit:.0f}")
        + ("" if run.processes == 1 else f", {run.processes} processes")
        + (f", on {run.gpu}" if run.gpu else "")
    )
    if options.resume and not run.step:
        yield f"{options.output}: the run had saved nothing yet, so it begins again"
    width = getattr(getattr(options, "network", None), "width", LANES)
    if width % LANES:
        wider = width + -width % LANES
        yield f"width {width}: the engine pads its rows to {wider}, so a width of {wider} costs no more time in play"
    if run.init_from:
        yield f"starts from {options.init_from}, sha256 {run.init_from.sha256[:16]}"
    if options.valid:
        yield (
            "valid loss compares with the targets that the run ends with and chooses best.safetensors; log loss "
            "and accuracy compare with the results of the games"
        )
    if run.forgotten:
        yield f"{run.folder.best}: {run.forgotten}; the next epoch replaces it"
    lost = Refusals()
    for one in run.lost:
        lost.add(one)
    if lost.refused:
        more = lost.refused - len(lost.named)
        yield f"left out: {'; '.join(lost.named)}" + (f"; and {more:,} more" if more else "")
    for path, times in Counter(file.path.resolve() for file in run.reader.files).items():
        if times > 1:
            yield f"{path}: is given {times} times (itself or by its folder), so its positions count {times} times"
    if run.reader.unscored and (options.lambda_ or options.lambda_end):
        share = run.reader.unscored
        percentage = f"about {100 * share:.0f} %" if share >= 0.005 else "less than 1 %"
        which = "no position has a" if share == 1 else f"{percentage} of the positions have no"
        yield f"{which} score: their targets are the results of their games alone"
    if run.extended and run.extended[-1].step == run.step:
        rate = rate_at(options.optimiser, run.step, run.steps)
        yield (
            f"extended from {amount(run.extended[-1].epochs, 'epoch')} to {options.epochs}: the learning rate jumps to "
            f"{rate:.2g} of {highest_rate(options.optimiser):.2g}, the rate of a run of the new length at this step"
        )


def refused_while_reading(reader: Reader) -> str:
    """Return the line about records that were refused after their files had been opened; empty if there are none."""
    return f"left out: {reader.refusals}" if reader.refusals.refused > reader.lost.refused else ""


def conclusion(run: Facts, speed: float, waiting: float) -> Iterator[str]:
    """Yield the lines after the last step.

    `speed` is in positions per second, `waiting` the share of the time that steps waited for records.
    """
    yield (
        f"{run.folder.network}: trained, {speed:,.0f} positions/s, {100 * waiting:.0f} % of the time waiting for "
        "records"
    )
    if run.best:
        best, tested = run.best, run.tested
        if best.step == run.step:
            yield f"{run.folder.best}: the same network, as the last epoch is the best one, loss {best.loss:.4f}"
        else:
            last = f"loss {tested.loss:.4f}" if tested else "not tested on them"
            yield (
                f"{run.folder.best}: network of epoch {best.epoch}, the best on the held-out games, loss "
                f"{best.loss:.4f}; the last epoch: {last}"
            )
    report = None if run.tested is None else run.tested.report
    accuracy, found = None, ""
    if report is not None and report.accuracy is not None:
        accuracy, found = report.accuracy, f"; held-out accuracy {report.accuracy_text()}, chance is 50 %"
    if run.steps < FEW_STEPS:
        verb = "teaches" if run.steps == 1 else "teach"
        yield f"warning: {amount(run.steps, 'step')} {verb} a network little{found}. {_more_steps(run)}"
    elif accuracy is not None and accuracy < CHANCE:
        yield f"warning: the network has learnt nothing{found}. Lower the learning rate, or look at the data"


def _more_steps(run: Facts) -> str:
    """Return advice on how to take enough steps: smaller batches, then more epochs; or more games."""
    options = run.options
    positions = min(options.batch_size, run.reader.positions) * run.steps
    batch_size = max(32, 1 << int(math.log2(max(positions / ENOUGH_STEPS, 1))))
    if batch_size < min(options.batch_size, run.reader.positions):
        steps = run.reader.positions // batch_size * options.epochs
        return f"Take more games, or a batch size of {batch_size}, which makes {amount(steps, 'step')}"
    return f"Take more games, or {math.ceil(ENOUGH_STEPS / run.steps_per_epoch)} epochs"
