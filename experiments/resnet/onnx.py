"""Export of a policy-value network to ONNX in dlshogi's format, see `search.puct.onnx_network`.

A draw head becomes a third output, `output_draw`; auxiliary heads are left out.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from experiments.resnet.network import PolicyValueNetwork
from export.onnx_file import write_onnx
from export.positions import Sample
from search.puct.onnx_network import DRAW_OUTPUT, INPUTS, OUTPUTS
from search.puct.planes import make_planes

TOLERANCE = 1e-4
"""Largest accepted difference from the module, relative to the largest output."""
CHECKED = 256
"""Positions on which the file is compared with the module."""


class _Exported(nn.Module):
    """The exported computation: rates instead of logits for value and draw."""

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
    """Write the network as ONNX; return its largest difference from the module on the sample's first 256 positions.

    With `draw` a draw head becomes an output. Raises ValueError, and leaves no file, if the exporter is missing or the
    file differs from the module by more than TOLERANCE.
    """
    module = _Exported(model.float().eval().to(memory_format=torch.contiguous_format), draw)  # type: ignore[call-overload]
    part = sample.part(0, CHECKED)
    planes = make_planes(part.pieces, part.hands, part.in_check)
    inputs = {name: torch.from_numpy(plane) for name, plane in zip(INPUTS, planes, strict=True)}
    outputs = [*OUTPUTS, DRAW_OUTPUT] if draw and model.network_config.draw else list(OUTPUTS)
    return write_onnx(module, path, inputs, outputs, TOLERANCE)
