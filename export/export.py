"""The verb `export`: a trained network in the formats of other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from search.machine.files import refuse_unwritable


@dataclass(frozen=True)
class Export:
    """Write a network for other programs: ONNX, checked against the trained network, or YaneuraOu's nn.bin.

    `export --resnet` writes policy-value networks as dlshogi's family loads them.
    """

    network: tyro.conf.Positional[Path]
    """For ONNX a trained network file, or its run's directory; for an nn.bin a network file of the engine's."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File to write."""
    onnx: bool = False
    """As ONNX: inputs x1 (positions, 81) and x2 (positions, 57), int64; output the logit (positions, 1)."""
    nnue: bool = False
    """As an nn.bin: HalfKP or K+P, both perspectives. One that was imported becomes the same bytes again."""
    data: tuple[Path, ...] = ()
    """Records to check ONNX on; random positions without them."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        if self.onnx == self.nnue:
            raise ValueError("name a format: --onnx or --nnue")
        refuse_unwritable(self.output)
        figures, text = self._nnue() if self.nnue else self._onnx()
        figures["bytes"] = self.output.stat().st_size
        print(json.dumps(figures) if self.json else f"{self.output}: {figures['bytes']:,} bytes, {text}")

    def _onnx(self) -> tuple[dict[str, Any], str]:
        from export.onnx_export import CHECKED, export_onnx
        from export.positions import read_sample
        from lite.training.checkpoint import load_model

        model, _ = load_model(self.network)
        error = export_onnx(model, self.output, read_sample(self.data, CHECKED))
        figures = {"format": "onnx", "max_error": error, "positions": CHECKED}
        return figures, f"equals it to {error:.1e} on {CHECKED:,} positions"

    def _nnue(self) -> tuple[dict[str, Any], str]:
        from export.nnue import nnue_architecture, write_nnue
        from search.evaluation.network_file import load_network

        net = load_network(self.network)
        write_nnue(net, self.output)
        architecture = str(nnue_architecture(net))
        figures = {"format": "nn.bin", "architecture": architecture, "fv_scale": net.output_divisor}
        return figures, f"{architecture}; set YaneuraOu's FV_SCALE to {net.output_divisor}"
