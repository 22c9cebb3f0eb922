"""A trained value network as ONNX.

Inputs are the listing's, by name: `x1` int64 (positions, 81), piece 0..27 or 28 for an empty square, seen by the mover;
`x2` int64 (positions, 57), hand feature i at place i or 57. Output: `output` float32 (positions, outputs), the logit
of the mover's win, and of a draw where the network has that output.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from export.onnx_file import write_onnx
from export.positions import Sample
from lite.networks.value_network import listed_inputs
from search.evaluation.feature_sets import YANEURAOU_NAMES

INPUTS, OUTPUT = ("x1", "x2"), "output"
TOLERANCE = 1e-5
"""Largest accepted difference from the module, relative to the largest output."""
CHECKED = 1_000
"""Number of positions that the file is checked on."""


def export_onnx(model: Any, path: Path, sample: Sample) -> float:
    """Write the module as ONNX and return its largest difference from the module on the first CHECKED positions.

    Raises ValueError, and leaves no file, if the exporter is not installed or the file differs by more than TOLERANCE.
    """
    if not model.listed:
        features, tokens = model.feature_set.name, ", ".join(model.stacks.tokens)
        part = f"the feature set {features}" if features in YANEURAOU_NAMES else f"stacks by {tokens}"
        raise ValueError(f"ONNX export writes no network with {part}: the inputs x1 and x2 do not hold what it needs")
    checked = sample.part(0, CHECKED)
    inputs = dict(zip(INPUTS, listed_inputs(checked.pieces, checked.hands, checked.in_check), strict=True))
    return write_onnx(copy.deepcopy(model).float().eval(), path, inputs, (OUTPUT,), TOLERANCE)
