"""A trained network as ONNX, checked against the module in onnxruntime before anyone gets to see the file.

Inputs are the listing's, by name: `x1` int64 (positions, 81), piece 0..27 or 28 for an empty square, seen by the mover;
`x2` int64 (positions, 57), hand feature i at place i or 57. Output: `output` float32 (positions, 1), the logit of the
mover's win. Heads that only help training are not part of what a module's `forward` gives, so they are dropped.
"""

from __future__ import annotations

import copy
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from export.positions import Sample
from lite.networks.value_network import listed_inputs
from search.machine.files import write_atomically

INPUTS, OUTPUT = ("x1", "x2"), "output"
TOLERANCE = 1e-5
CHECKED = 1_000


def export_onnx(model: Any, path: Path, sample: Sample) -> float:
    """Write the module as ONNX and return its largest difference from the module on the sample's first 1,000 positions.

    Raises ValueError, and leaves no file, if the exporter is not installed or the file differs by more than TOLERANCE.
    """
    if model.feature_set != "piece_square":
        raise ValueError(f"ONNX export takes nets over piece_square, this one is over {model.feature_set}")
    try:
        import onnxruntime
        import onnxscript  # noqa: F401  (torch's exporter needs it and says so less plainly)
    except ImportError as missing:
        raise ValueError(f"ONNX export needs {missing.name}: pip install 'liteshogi[export]'") from None
    net = copy.deepcopy(model).float().eval()
    checked = sample.part(0, CHECKED)
    inputs = listed_inputs(checked.pieces, checked.hands, checked.in_check)
    content = _serialised(net, inputs)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        truth = net(*inputs).numpy()
    error = 0.0
    for size in (len(truth), 1):  # the file must not be tied to a number of positions
        found = session.run([OUTPUT], {name: x[:size].numpy() for name, x in zip(INPUTS, inputs, strict=True)})[0]
        error = max(error, float(np.abs(found - truth[:size]).max()))
    if not error <= TOLERANCE * max(1.0, float(np.abs(truth).max())):
        raise ValueError(f"{path}: not written: as ONNX the network would differ from the trained one by {error:g}")
    write_atomically(path, content)
    return error


def _serialised(module: nn.Module, inputs: tuple[torch.Tensor, torch.Tensor]) -> bytes:
    positions = torch.export.Dim("positions", min=1)
    noisy = logging.getLogger("torch.onnx")
    level = noisy.level
    noisy.setLevel(logging.ERROR)  # the exporter reports on packages that have nothing to do with this
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                inputs,
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_shapes={name: {0: positions} for name in INPUTS},
                dynamo=True,
                verbose=False,
            )
        assert program is not None
        return program.model_proto.SerializeToString()
    finally:
        noisy.setLevel(level)
