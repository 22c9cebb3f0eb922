"""What a training run tells its user beside its progress: what it begins with, what came of it, what to do next."""

from __future__ import annotations

import math
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from lite.amounts import amount
from lite.training.optimiser import highest_rate, rate_at
from lite.workers import join_workers

if TYPE_CHECKING:
    from lite.records.reader import Reader
    from lite.training.run import Run

FEW_STEPS = 300
"""A run of fewer teaches a network little more than which side is to move."""
ENOUGH_STEPS = 1000
CHANCE = 0.52
"""A held-out accuracy below this is that of a coin."""


def introduction(run: Run) -> Iterator[str]:
    """What a run says before its first step."""
    options, device = run.options, next(run.model.parameters()).device
    yield (
        f"{amount(run.reader.positions, 'position')}, {amount(run.steps, 'step')}, "
        f"{sum(p.numel() for p in run.model.parameters()):,} parameters, {run.cp_per_logit:.0f} cp per logit"
        + ("" if options.net_cp_per_logit is None else f", the network's {options.net_cp_per_logit:.0f}")
        + ("" if run.workers.size == 1 else f", {run.workers.size} processes")
        + (f", on {torch.cuda.get_device_name(device)}" if device.type == "cuda" else "")
    )
    if run.initial:
        yield f"starts from {options.init_from}, sha256 {run.initial['sha256'][:16]}"
    if run.forgotten:
        yield f"{run.folder.best}: {run.forgotten}; the next epoch's takes its place"
    if run.lost.refused:
        more = run.lost.refused - len(run.lost.named)
        yield f"left out: {'; '.join(run.lost.named)}" + (f"; and {more:,} more" if more else "")
    for path, times in Counter(file.path.resolve() for file in run.reader.files).items():
        if times > 1:
            yield f"{path}: is named {times} times (by itself or with its folder), so its positions count {times} times"
    if run.reader.unscored and (options.lambda_ or options.lambda_end):
        share = run.reader.unscored
        which = "no position has a" if share == 1 else f"about {100 * share:.0f} % of the positions have no"
        yield f"{which} score: they learn from their games' results alone"
    if run.extended and run.extended[-1]["step"] == run.step:
        rate = rate_at(options.optimiser, run.step, run.steps)
        yield (
            f"extended from {amount(run.extended[-1]['epochs'], 'epoch')} to {options.epochs}: the learning rate "
            f"goes to where a run of that length has it now, {rate:.2g} of {highest_rate(options.optimiser):.2g}, "
            "and falls from there"
        )


def refused_while_reading(reader: Reader) -> str:
    """What it says once of records that opening their files did not tell of; empty where there are none."""
    return f"left out: {reader.refusals}" if reader.refusals.refused > reader.lost.refused else ""


def conclusion(run: Run, speed: float, waiting: float) -> Iterator[str]:
    """What it says once trained, at so many positions a second and with this share of the time waiting for records."""
    yield (
        f"{run.folder.network}: trained, {speed:,.0f} positions/s, {100 * waiting:.0f} % of the time waiting for "
        f"records"
    )
    if run.best:
        best = run.best
        if best["step"] == run.step:
            yield f"{run.folder.best}: the same network, for the last epoch's is the best, loss {best['loss']:.4f}"
        else:
            last = f"loss {run.last_valid['loss']:.4f}" if run.last_valid else "not tested on them"
            yield (
                f"{run.folder.best}: of epoch {best['epoch']}, the best on the held-out games, loss "
                f"{best['loss']:.4f}; the other is the last epoch's, {last}"
            )
    accuracy = run.last_valid.get("accuracy")
    found = "" if accuracy is None else f"; held-out accuracy {100 * accuracy:.1f} %, where a coin has 50 %"
    if run.steps < FEW_STEPS:
        yield f"warning: {amount(run.steps, 'step')} can teach little{found}. {_more_steps(run)}"
    elif accuracy is not None and accuracy < CHANCE:
        yield f"warning: nothing was learnt{found}. Lower --learning-rate, or look at the data: liteshogi stat"


def _more_steps(run: Run) -> str:
    """How to take enough steps: in smaller batches, then in more epochs; or with more games."""
    options = run.options
    positions = min(options.batch_size, run.reader.positions) * run.steps
    batch_size = max(32, 1 << int(math.log2(max(positions / ENOUGH_STEPS, 1))))
    if batch_size < min(options.batch_size, run.reader.positions):
        steps = run.reader.positions // batch_size * options.epochs
        return f"Take more games, or --batch-size {batch_size}, which makes {amount(steps, 'step')}"
    return f"Take more games, or --epochs {math.ceil(ENOUGH_STEPS / run.steps_an_epoch)}"


def how_to_resume() -> str:
    """The command that goes on; other verbs that train find their own unfinished runs."""
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    words = [word for word in sys.argv[1:] if word != "--overwrite"]  # the run that it was about is gone
    resumes = verb in ("compare", "loop")
    command = shlex.join(words) if verb == "train" or resumes else "train ..."
    program = "torchrun ... -m liteshogi" if join_workers().size > 1 else "liteshogi"
    return f"go on with: {program} {command}" + ("" if "--resume" in words or resumes else " --resume")
