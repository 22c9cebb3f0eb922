"""The verb `export`: a trained network in the formats of other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from export.onnx_export import CHECKED, export_onnx
from export.positions import read_sample
from lite.checkpoint import load_model


@dataclass(frozen=True)
class Export:
    """Write a trained network for other programs, checked against the network itself."""

    checkpoint: tyro.conf.Positional[Path]
    """A trained network file, or its run's directory."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File to write."""
    onnx: bool = False
    """As ONNX: inputs x1 (positions, 81) and x2 (positions, 57), int64; output the logit (positions, 1)."""
    data: tuple[Path, ...] = ()
    """Records to check it on; random positions without them."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        if not self.onnx:
            raise ValueError("name a format: --onnx")
        model, _ = load_model(self.checkpoint)
        error = export_onnx(model, self.output, read_sample(self.data, CHECKED))
        figures = {"format": "onnx", "max_error": error, "positions": CHECKED, "bytes": self.output.stat().st_size}
        if self.json:
            print(json.dumps(figures))
        else:
            print(f"{self.output}: {figures['bytes']:,} bytes, equals it to {error:.1e} on {CHECKED:,} positions")
