"""`liteshogi export`: a trained network in the formats of other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from export.export import export_nn_bin, export_onnx_file
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command:
    """Write a network for other programs: ONNX, checked against the trained network, or YaneuraOu's nn.bin.

    `export --resnet` writes policy-value networks as dlshogi's family loads them.
    """

    network: tyro.conf.Positional[Path]
    """For ONNX a trained network file, or its run's directory; for an nn.bin a network file of the engine's."""
    output: Output
    """File to write."""
    onnx: bool = False
    """As ONNX: inputs x1 (positions, 81) and x2 (positions, 57), int64; output the logit (positions, 1)."""
    nnue: bool = False
    """As an nn.bin: HalfKP or K+P, both perspectives. One that was imported becomes the same bytes again."""
    data: tuple[Path, ...] = ()
    """Records to check ONNX on; random positions without them."""
    json: Json = False

    def run(self) -> None:
        if self.onnx == self.nnue:
            raise ValueError("name a format: --onnx or --nnue")
        if self.nnue:
            figures = export_nn_bin(self.network, self.output)
            text = f"{figures['architecture']}; set YaneuraOu's FV_SCALE to {figures['fv_scale']}"
        else:
            figures = export_onnx_file(self.network, self.output, self.data)
            text = f"equals it to {figures['max_error']:.1e} on {figures['positions']:,} positions"
        print(json.dumps(figures) if self.json else f"{self.output}: {figures['bytes']:,} bytes, {text}")
