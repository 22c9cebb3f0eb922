"""A policy-value network as an ONNX file of dlshogi's format (see onnx_network.py).

A draw head becomes a third output, `output_draw`; auxiliary heads are left out.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

from experiments.resnet.network import PolicyValueNetwork
from export.positions import Sample
from search.machine.files import WholeFile
from search.puct.onnx_network import DRAW_OUTPUT, INPUTS, OUTPUTS, OnnxNetwork
from search.puct.planes import make_planes

TOLERANCE = 1e-4
"""Largest difference from the module, of the largest output."""
CHECKED = 256
OPSET = 18
"""The oldest that torch's exporter writes without converting: runtimes of some years ago read it."""


class _Exported(nn.Module):
    """What the file computes: rates instead of the value's and the draw's logits."""

    def __init__(self, network: PolicyValueNetwork, draw: bool) -> None:
        super().__init__()
        self.network, self.draw = network, draw

    def forward(self, input1: torch.Tensor, input2: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = self.network.heads(input1, input2)
        outputs = [found.policy, torch.sigmoid(found.value).unsqueeze(1)]
        if self.draw and found.draw is not None:
            outputs.append(torch.sigmoid(found.draw).unsqueeze(1))
        return tuple(outputs)


def export_resnet(model: PolicyValueNetwork, path: Path, sample: Sample, draw: bool = True) -> float:
    """Write the network as ONNX; its largest difference from the module on the sample's first 256 positions.

    draw: whether a draw head becomes an output. Raises ValueError, and leaves no file, if the exporter is not
    installed or the file differs from the module by more than TOLERANCE.
    """
    try:
        import onnxscript  # noqa: F401  (torch's exporter needs it and says so less plainly)
    except ImportError as missing:
        raise ValueError(f"ONNX export needs {missing.name}: pip install 'liteshogi[export]'") from None
    module = _Exported(model.float().eval().to(memory_format=torch.contiguous_format), draw)  # type: ignore[call-overload]
    part = sample.part(0, CHECKED)
    planes = make_planes(part.pieces, part.hands, part.in_check)
    inputs = (torch.from_numpy(planes[0]), torch.from_numpy(planes[1]))
    with WholeFile(path) as file:
        file.write(_serialised(module, inputs))
        file.finish()
        network = OnnxNetwork(file.part)
        with torch.no_grad():
            truth = [output.numpy() for output in module(*inputs)]
        error = 0.0
        for size in sorted({1, len(part)}):  # the file must not be tied to a number of positions
            found = network(planes[0][:size], planes[1][:size])
            for mine, theirs in zip(found, truth, strict=False):
                if mine is not None:
                    scale = max(1.0, float(np.abs(theirs).max()))
                    error = max(error, float(np.abs(mine.reshape(size, -1) - theirs[:size]).max()) / scale)
        if not error <= TOLERANCE:
            raise ValueError(f"{path}: not written: as ONNX the network would differ from the trained one by {error:g}")
    return error


def _serialised(module: _Exported, inputs: tuple[torch.Tensor, torch.Tensor]) -> bytes:
    names = list(OUTPUTS)
    if module.draw and module.network.network_config.draw:
        names.append(DRAW_OUTPUT)
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
                output_names=names,
                dynamic_shapes={name: {0: positions} for name in INPUTS},
                dynamo=True,
                opset_version=OPSET,
                verbose=False,
            )
        assert program is not None
        return program.model_proto.SerializeToString()
    finally:
        noisy.setLevel(level)
