"""Conversion of a trained network to the file that the search evaluates, with a check and the cost of quantisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from export.folded import FoldedNetwork, fold, module_outputs
from export.output_fit import OutputFit, fit_output
from export.positions import Sample, read_sample
from export.quantise import cost_of, largest_scales, quantise, quantised_logits
from export.quantise_nnue import quantise_nnue
from export.stack_costs import StackCost, rare_stacks, stack_costs
from lite.datasets.provenance import sha256_of
from lite.networks.dense import DensePieceSquareNetwork
from lite.networks.from_folded import dense_network
from lite.networks.joined import join
from lite.program import release
from lite.training.checkpoint import UnfoldedCorrection, json_safe, load_model
from lite.training.folder import network_file
from search.evaluation.feature_sets import YANEURAOU_NAMES
from search.evaluation.network import EvalNetwork, UnusableScale
from search.evaluation.network_file import SUFFIX, load_network, save_network
from search.evaluation.nnue_file import is_nnue
from search.score import CP_PER_LOGIT
from search.system.files import check_output
from search.system.options import OptionError
from search.system.paths import PathLike, as_paths

TOLERANCE = 1e-9
"""Largest accepted difference between the folded form and the module, both in float64, relative to the largest output
or, if that is smaller, to 1."""
CONSTANT = 1e-6
"""Outputs that differ by less, in logits, are those of a network that does not look at the position."""
CHECKED = 10_000
"""Number of positions on which both are compared."""


@dataclass(frozen=True)
class FoldReport:
    """Exactness of a fold, cost of quantisation, and dimensions."""

    float64_max_error: float
    """Largest difference of the folded form from the trained network in logits, both in float64."""
    positions: int
    """Positions on which the cost of quantisation was measured."""
    accuracy_change: float | None
    """Accuracy of the integers minus that of float64, as a share of decided positions; None without results."""
    log_loss_change: float | None
    """Log loss of the integers minus that of float64, in nats per position; None without results."""
    sign_flips: float
    """Share of positions whose predicted winner changed."""
    largest_error: float
    """Largest error of the logit on these positions."""
    mean_error: float
    """Root mean square error of the logit on these positions."""
    source: str
    """Source of the positions."""
    largest_sum: float
    """Bound of an accumulator lane, in units of the trained network."""
    input_shift: int
    """Bits by which accumulator sums are shifted to become the first layer's inputs."""
    shifts: tuple[int, ...]
    """Bits by which each hidden layer's sums are shifted to become the next layer's inputs."""
    shape: tuple[int, ...]
    """Rows, inputs of the first layer, and outputs of each layer."""
    cp_per_logit: float
    """Centipawns per logit of the folded network."""
    bytes: int
    """Size of the integers in bytes."""
    stacks: tuple[StackCost, ...]
    """Cost of each stack that positions choose; empty if the network has one stack."""
    rare_stacks: tuple[str, ...]
    """Names of the stacks that fewer than 100 positions choose."""
    output_fit: OutputFit | None
    """Scale and offset of the output that were fitted to results; None if it was not fitted."""


class UnfoldableNnBin(ValueError):
    """The error for an nn.bin, whole or damaged, in the place of a trained network; carries its path."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: is an nn.bin, which needs no folding; import it")
        self.path = path


def fold_file(
    checkpoint: PathLike,
    output: PathLike,
    data: PathLike | Sequence[PathLike] = (),
    positions: int = 50_000,
    cp_per_logit: float | None = None,
    keep_float: bool = False,
    overwrite: bool = False,
    fit: bool = False,
    onto: str | None = None,
) -> FoldReport:
    """Fold a trained network, given by its file or the folder of its run, into a file for the engine.

    data: records on which the cost of quantisation is measured; random positions without them. positions: number of
    positions measured. cp_per_logit: centipawns per logit; None means the scale of `onto`, without it that of the
    training. keep_float: also write the folded network in float32. overwrite: whether existing files are replaced. fit:
    fit scale and offset of the output to the results of the data, after the cost is measured. onto: the folded network
    that the trained one corrects; the file then holds the sum of both. Raises OSError, OptionError, or ValueError.
    """
    if positions < 1:
        raise OptionError(f"`positions` {positions}: must be at least 1", "positions")
    if cp_per_logit is not None and not 0 < cp_per_logit < math.inf:
        raise OptionError(f"`cp_per_logit` {cp_per_logit}: must be a finite number above 0", "cp_per_logit")
    checkpoint, output, data = Path(checkpoint), Path(output), as_paths(data)
    if fit and not data:
        raise OptionError("`fit_output`: needs the results of games; name records as `data`", "fit_output", "data")
    truth = output.with_suffix(".float.safetensors")
    inputs = [network_file(Path(one)) for one in (checkpoint, onto) if one is not None]
    for path in (output, truth) if keep_float else (output,):
        check_output(path, (SUFFIX,), overwrite, inputs)
    if checkpoint.is_file() and is_nnue(checkpoint):
        raise UnfoldableNnBin(checkpoint)
    model, training = load_model(checkpoint)
    scale = training.cp_per_logit or CP_PER_LOGIT
    if onto is not None:
        model, scale = _joined(model, onto, training.corrected)
    elif training.corrected is not None:
        raise UnfoldedCorrection(checkpoint, training.corrected)
    sample = read_sample(data, max(positions, CHECKED))
    priced = sample.part(0, positions)
    provenance = {"network": model.config, "training": training.provenance, "program": {"liteshogi": release()}}
    try:
        folded, error = fold_checked(model, sample)
        net = _quantised(folded, priced, cp_per_logit or scale, json_safe(provenance))
    except UnusableScale as problem:
        raise OptionError(f"{checkpoint}: {problem}; give another `cp_per_logit`", "cp_per_logit") from None
    except ValueError as problem:
        raise ValueError(f"{checkpoint}: {problem}") from None
    report = describe(folded, net, priced, error)
    if fit:
        try:
            net, fitted = fit_output(net, priced)
        except ValueError as problem:
            raise OptionError(f"`fit_output`: {priced.source}: {problem}", "fit_output") from None
        report = replace(report, output_fit=fitted)
    net.provenance["fold"] = asdict(report)
    save_network(net, output)
    if keep_float:
        folded.save(truth)
    return report


def _quantised(folded: FoldedNetwork, sample: Sample, scale: float, provenance: dict[str, Any]) -> EvalNetwork:
    """Return the integer network of a folded one, in the arithmetic of its feature set; `scale` is in centipawns per
    logit.

    Raises ValueError if it gives all positions of the sample the same value, or does not fit the integers.
    """
    values = folded.outputs(sample)[:, 0]
    if len(values) > 1 and np.ptp(values) < CONSTANT:
        raise ValueError(
            f"the network gives every position the same value ({values[0]:.3g} logits), so it has learnt nothing; "
            "train more steps, in smaller batches or at a lower learning rate"
        )
    if folded.feature_set.name in YANEURAOU_NAMES:
        return quantise_nnue(folded, scale, provenance, sample)
    return quantise(folded, sample, scale, provenance)


def _joined(correction: Any, onto: str, corrected: str | None) -> tuple[DensePieceSquareNetwork, float]:
    """Return the sum of a trained correction and the folded network `onto`, and the centipawns per logit of the latter.

    `onto` must have the SHA-256 `corrected`. The search's margins suit its scale, whatever that of the correction's
    labels was. Raises OSError, OptionError.
    """
    path = network_file(Path(onto))
    try:
        if corrected is None:
            raise ValueError("the trained network corrects none; leave this out")
        if sha256_of(path) != corrected:
            raise ValueError(f"the trained network corrects another, of SHA-256 {corrected}")
        network = load_network(path)
        return join(dense_network(network), correction), network.cp_per_logit
    except ValueError as error:
        raise OptionError(f"`onto` {onto}: {error}", "onto") from None


def fold_checked(model: Any, sample: Sample) -> tuple[FoldedNetwork, float]:
    """Return the folded form, and its largest difference from the module in float64 on the first positions of a sample.

    CHECKED positions are compared. Raises ValueError if the difference exceeds TOLERANCE, relative to the largest
    output.
    """
    folded = fold(model)
    checked = sample.part(0, CHECKED)
    truth = module_outputs(model, checked)
    error = float(np.abs(folded.outputs(checked) - truth).max())
    if not error <= TOLERANCE * max(1.0, float(np.abs(truth).max())):
        raise ValueError(
            f"the folded network differs from the trained one by {error:g}: this is a bug, please report it"
        )
    return folded, error


def describe(folded: FoldedNetwork, net: EvalNetwork, sample: Sample, error: float) -> FoldReport:
    """Return the report of a fold; `error` is its largest difference from the trained network."""
    exact, found, stack = folded.logits(sample), quantised_logits(net, sample), folded.selected(sample)
    return FoldReport(
        float64_max_error=error,
        **asdict(cost_of(exact, found, sample)),
        source=sample.source,
        largest_sum=largest_scales(folded)[1],
        input_shift=net.input_shift,
        shifts=tuple(layer.shift for layer in net.layers[:-1]),
        shape=(net.feature_set.rows, net.perspectives * net.width, *(layer.bias.shape[-1] for layer in net.layers)),
        cp_per_logit=net.cp_per_logit,
        bytes=net.rows.nbytes + sum(layer.weight.nbytes + layer.bias.nbytes for layer in net.layers),
        stacks=stack_costs(folded.stacks, stack, exact, found, sample.result),
        rare_stacks=rare_stacks(folded.stacks, stack),
        output_fit=None,
    )
