"""The verb `fold`: a trained network becomes the file that the search evaluates, checked and priced on the way."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from export.folded import FoldedNetwork, fold, module_logits
from export.positions import Sample, read_sample
from export.quantise import largest_scales, measure_cost, quantise
from export.quantise_nnue import quantise_nnue
from lite.training.checkpoint import json_safe, load_model
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import save_network
from search.machine.files import refuse_unwritable
from search.score import CP_PER_LOGIT

TOLERANCE = 1e-9
"""Largest difference between the folded form and the module, both in float64."""
CHECKED = 10_000


@dataclass(frozen=True)
class Fold:
    """Fold a trained network into table rows and small integer layers, the form that the engine plays with."""

    checkpoint: tyro.conf.Positional[Path]
    """A trained network file, or its run's directory."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File to write."""
    data: tuple[Path, ...] = ()
    """Records to price the quantisation on, best held-out ones: hcpe, hcpe3, psv. Without them random positions serve,
    and what it costs in accuracy is not known."""
    positions: int = 50_000
    """Positions to look at."""
    cp_per_logit: float | None = None
    """Centipawns of one logit; without it the scale that the network was trained with."""
    keep_float: bool = False
    """Write the folded network in float32 beside the file, as NAME.float.safetensors."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        if self.positions < 1:
            raise ValueError(f"--positions {self.positions}: at least one position is needed")
        truth = self.output.with_suffix(".float.safetensors")
        for path in (self.output, truth) if self.keep_float else (self.output,):
            refuse_unwritable(path)
        model, training = load_model(self.checkpoint)
        sample = read_sample(self.data, max(self.positions, CHECKED))
        folded, error = fold_checked(model, sample)
        priced = sample.part(0, self.positions)
        scale = self.cp_per_logit or float(training.get("cp_per_logit", CP_PER_LOGIT))
        provenance = {"network": model.config, "training": training, "program": _versions()}
        if model.activation == "clipped_relu":
            net = quantise_nnue(folded, scale, json_safe(provenance))
        else:
            net = quantise(folded, priced, scale, json_safe(provenance))
        figures = describe(folded, net, priced, error)
        net.provenance["fold"] = figures
        save_network(net, self.output)
        if self.keep_float:
            folded.save(truth)
        print(json.dumps(figures) if self.json else as_text(figures, self.output))
        if not self.data and not self.json:
            print("no --data: positions of random games, whose results say nothing", file=sys.stderr)


def fold_checked(model: Any, sample: Sample) -> tuple[FoldedNetwork, float]:
    """The folded form, and its largest difference from the module in float64 on the first 10,000 positions of a sample.

    Raises ValueError if that is more than TOLERANCE: the fold would be wrong.
    """
    folded = fold(model)
    checked = sample.part(0, CHECKED)
    truth = module_logits(model, checked)
    error = float(np.abs(folded.logits(checked) - truth).max())
    if not error <= TOLERANCE * max(1.0, float(np.abs(truth).max())):
        raise ValueError(
            f"the folded network differs from the trained one by {error:g}: this is a bug, please report it"
        )
    return folded, error


def describe(folded: FoldedNetwork, net: EvalNetwork, sample: Sample, error: float) -> dict[str, Any]:
    """The figures of a fold: its exactness, what quantisation cost, the scales chosen."""
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


def as_text(figures: dict[str, Any], output: Path) -> str:
    """The figures as the lines that the command prints."""

    def points(change: float | None) -> str:
        return "not known" if change is None else f"{100 * change:+.3f} points"

    loss = figures["log_loss_change"]
    lines = [
        f"fold            equals the trained module to {figures['float64_max_error']:.1e} (float64, logits)",
        f"rows            int16, sums reach at most {figures['largest_sum']:.1f}; shift {figures['input_shift']} to u8",
        f"quantisation    on {figures['positions']:,} positions ({figures['source']}):",
        f"  accuracy      {points(figures['accuracy_change'])}",
        f"  log loss      {'not known' if loss is None else f'{loss:+.5f}'}",
        f"  sign flips    {100 * figures['sign_flips']:.3f} %",
        f"  error         {figures['mean_error']:.4f} logits (root mean square), up to {figures['largest_error']:.3f}",
        f"written         {output}: {' x '.join(map(str, figures['shape']))}, {figures['bytes']:,} bytes",
    ]
    return "\n".join(lines)


def _versions() -> dict[str, str]:
    try:
        return {"liteshogi": version("liteshogi")}
    except PackageNotFoundError:
        return {"liteshogi": "source tree"}
