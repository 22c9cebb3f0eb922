"""Conversion of a trained network to the file that the search evaluates, with a check and the cost of quantisation."""

from __future__ import annotations

import math
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
from lite.training.checkpoint import SavedTraining, UnfoldedCorrection, json_safe, load_model
from lite.training.folder import network_file
from search.evaluation.feature_sets import YANEURAOU_NAMES
from search.evaluation.network import EvalNetwork, UnusableScale
from search.evaluation.network_file import SUFFIX, load_network, save_network
from search.evaluation.nnue_file import is_nnue
from search.score import CP_PER_LOGIT
from search.system.bounds import check_number
from search.system.files import check_output
from search.system.options import OptionError
from search.system.paths import take_paths

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


@dataclass(frozen=True)
class Folding:
    """Options of a fold."""

    net: Path
    """Trained network file, or the folder of its run."""
    output: Path
    """File to write (.safetensors)."""
    data: tuple[Path, ...] = ()
    """Records on which the cost of quantisation is measured, preferably held-out ones: hcpe, hcpe3, psv or pack.
    Without them it is measured on positions of random games, and the change in accuracy is not known."""
    positions: int = 50_000
    """Number of positions on which the cost is measured."""
    cp_per_logit: float | None = None
    """Centipawns per logit of the network's scores. Default: the scale that it was trained with, or that of the network
    that it corrects."""
    keep_float: bool = False
    """Also write the folded network in float32, as NAME.float.safetensors."""
    fit_output: bool = False
    """Fit scale and offset of the output to the results of the data, after the cost is measured. An nn.bin exported
    from the network then has the FV_SCALE that fits."""
    onto: str | None = None
    """Folded network, or name of a shipped one, that the trained network corrects: write the sum of both."""
    overwrite: bool = False
    """Replace existing files."""

    def __post_init__(self) -> None:
        take_paths(self)

    @property
    def float_output(self) -> Path:
        """File of the folded network in float32."""
        return self.output.with_suffix(".float.safetensors")

    def check(self) -> None:
        """Raise OptionError for options that cannot be used, UnfoldableNnBin for an nn.bin; OSError."""
        check_number("positions", self.positions, most=None)
        if self.cp_per_logit is not None and not 0 < self.cp_per_logit < math.inf:
            raise OptionError(f"`cp_per_logit` {self.cp_per_logit}: must be a finite number above 0", "cp_per_logit")
        if self.fit_output and not self.data:
            raise OptionError("`fit_output`: needs the results of games; name records as `data`", "fit_output", "data")
        inputs = [network_file(Path(one)) for one in (self.net, self.onto) if one is not None]
        for path in (self.output, self.float_output) if self.keep_float else (self.output,):
            check_output(path, (SUFFIX,), self.overwrite, inputs)
        if self.net.is_file() and is_nnue(self.net):
            raise UnfoldableNnBin(self.net)


def fold_file(options: Folding) -> FoldReport:
    """Fold a trained network into a file for the engine. Raises OSError, OptionError, or ValueError."""
    options.check()
    model, training, scale = _read(options)
    sample = read_sample(options.data, max(options.positions, CHECKED))
    priced = sample.part(0, options.positions)
    provenance = {"network": model.config, "training": training.provenance, "program": {"liteshogi": release()}}
    try:
        folded, error = fold_checked(model, sample)
        net = _quantised(folded, priced, options.cp_per_logit or scale, json_safe(provenance))
    except UnusableScale as problem:
        raise OptionError(f"{options.net}: {problem}; give another `cp_per_logit`", "cp_per_logit") from None
    except ValueError as problem:
        raise ValueError(f"{options.net}: {problem}") from None
    report = describe(folded, net, priced, error)
    if options.fit_output:
        net, fitted = _fitted(net, priced)
        report = replace(report, output_fit=fitted)
    net.provenance["fold"] = asdict(report)
    save_network(net, options.output)
    if options.keep_float:
        folded.save(options.float_output)
    return report


def _read(options: Folding) -> tuple[Any, SavedTraining, float]:
    """Return the trained network, with the one that it corrects, its training, and centipawns per logit."""
    model, training = load_model(options.net)
    if options.onto is not None:
        model, scale = _joined(model, options.onto, training.corrected)
        return model, training, scale
    if training.corrected is not None:
        raise UnfoldedCorrection(options.net, training.corrected)
    return model, training, training.cp_per_logit or CP_PER_LOGIT


def _fitted(net: EvalNetwork, sample: Sample) -> tuple[EvalNetwork, OutputFit]:
    """Fit scale and offset of the output to the results of a sample. Raises OptionError if they cannot be fitted."""
    try:
        return fit_output(net, sample)
    except ValueError as problem:
        raise OptionError(f"`fit_output`: {sample.source}: {problem}", "fit_output") from None


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
