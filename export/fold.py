"""A trained network becomes the file that the search evaluates, checked and priced on the way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from export.folded import FoldedNetwork, fold, module_outputs
from export.positions import Sample, read_sample
from export.quantise import largest_scales, measure_cost, quantise
from export.quantise_nnue import quantise_nnue
from lite.program import release
from lite.training.checkpoint import json_safe, load_model
from lite.training.folder import NETWORK_NAME
from search.evaluation.feature_sets import YANEURAOU_NAMES
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import SUFFIX, save_network
from search.score import CP_PER_LOGIT
from search.system.files import check_output
from search.system.options import OptionError
from search.system.paths import PathLike, as_paths

TOLERANCE = 1e-9
"""Largest difference between the folded form and the module, both in float64."""
CHECKED = 10_000


def fold_file(
    checkpoint: PathLike,
    output: PathLike,
    data: PathLike | Sequence[PathLike] = (),
    positions: int = 50_000,
    cp_per_logit: float | None = None,
    keep_float: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Fold a trained network (a file, or its run's directory) into a file for the engine; the figures, as `describe`
    tells them.

    data: records to price the quantisation on; random positions without them. cp_per_logit: centipawns of one logit
    (that of the training where None). keep_float: write the folded network in float32 beside the file, too. overwrite:
    whether files that are there are replaced. Raises OSError or ValueError in words.
    """
    if positions < 1:
        raise OptionError(f"`positions` {positions}: must be at least 1", "positions")
    if cp_per_logit is not None and not 0 < cp_per_logit < math.inf:
        raise OptionError(f"`cp_per_logit` {cp_per_logit}: must be a finite number above 0", "cp_per_logit")
    checkpoint, output, data = Path(checkpoint), Path(output), as_paths(data)
    truth = output.with_suffix(".float.safetensors")
    for path in (output, truth) if keep_float else (output,):
        check_output(path, (SUFFIX,), overwrite, (checkpoint, checkpoint / NETWORK_NAME))
    model, training = load_model(checkpoint)
    sample = read_sample(data, max(positions, CHECKED))
    folded, error = fold_checked(model, sample)
    priced = sample.part(0, positions)
    scale = float(training.get("cp_per_logit", CP_PER_LOGIT)) if cp_per_logit is None else cp_per_logit
    provenance = {"network": model.config, "training": training, "program": {"liteshogi": release()}}
    if folded.feature_set.name in YANEURAOU_NAMES:
        net = quantise_nnue(folded, scale, json_safe(provenance))
    else:
        net = quantise(folded, priced, scale, json_safe(provenance))
    figures = describe(folded, net, priced, error)
    net.provenance["fold"] = figures
    save_network(net, output)
    if keep_float:
        folded.save(truth)
    return figures


def fold_checked(model: Any, sample: Sample) -> tuple[FoldedNetwork, float]:
    """The folded form, and its largest difference from the module in float64 on the first 10,000 positions of a sample.

    Raises ValueError if that is more than TOLERANCE: the fold would be wrong.
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


def describe(folded: FoldedNetwork, net: EvalNetwork, sample: Sample, error: float) -> dict[str, Any]:
    """The figures of a fold: its exactness, what quantisation cost, the scales chosen.

    float64_max_error: largest difference of the folded form from the network, in logits, both in float64.
    positions, source: of the sample that quantisation was priced on, and what it is from.
    sign_flips: share (0 to 1) of its positions whose predicted winner changed.
    largest_error, mean_error: of the logit; the largest, and the root of the mean square.
    accuracy_change: integers less float64, a fraction of the decided positions (0.001 is 0.1 points); log_loss_change:
    likewise, in nats a position. None where the sample has no results.
    largest_sum: a bound of what a lane of an accumulator can come to, in the trained network's units.
    input_shift, shifts: bits, of the accumulator and of each hidden layer.
    shape: rows, inputs of the first layer, outputs of each layer.
    cp_per_logit: centipawns of one logit. bytes: of the integers.
    """
    cost = asdict(measure_cost(folded, net, sample))
    inputs = net.perspectives * net.width
    return {
        "float64_max_error": error,
        **cost,
        "source": sample.source,
        "largest_sum": largest_scales(folded)[1],
        "input_shift": net.input_shift,
        "shifts": [layer.shift for layer in net.layers[:-1]],
        "shape": [net.feature_set.rows, inputs, *(len(layer.bias) for layer in net.layers)],
        "cp_per_logit": net.cp_per_logit,
        "bytes": net.rows.nbytes + sum(layer.weight.nbytes + layer.bias.nbytes for layer in net.layers),
    }
