"""`liteshogi export --resnet`: a policy-value network as an ONNX file of dlshogi's format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from experiments.resnet.onnx import export_resnet_file
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command:
    """Write a policy-value network as an ONNX file that engines of dlshogi's family load."""

    network: tyro.conf.Positional[Path]
    """A trained network file, or its run's directory."""
    output: Output
    """File to write."""
    draw: bool = True
    """Write a draw head as the output output_draw; auxiliary heads are always left out."""
    data: tuple[Path, ...] = ()
    """Records to check the file on; random positions without them."""
    json: Json = False

    def run(self) -> None:
        figures = export_resnet_file(self.network, self.output, self.data, self.draw)
        if self.json:
            print(json.dumps(figures))
        else:
            print(
                f"{self.output}: {figures['bytes']:,} bytes, equals the network to {figures['max_error']:.1e} "
                f"on {figures['positions']} positions"
            )
