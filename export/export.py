"""Networks in the formats of other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from export.nnue import nnue_architecture, write_nnue
from search.evaluation.network_file import load_network
from search.machine.files import refuse_unwritable


def export_onnx_file(net: Path, output: Path, data: Sequence[Path]) -> dict[str, Any]:
    """A trained network (a file, or its run's directory) as ONNX, checked on record files or on random positions.

    {format, max_error, positions, bytes}. Raises OSError or ValueError in words.
    """
    from export.onnx_export import CHECKED, export_onnx
    from export.positions import read_sample
    from lite.training.checkpoint import load_model

    refuse_unwritable(output)
    model, _ = load_model(net)
    error = export_onnx(model, output, read_sample(data, CHECKED))
    return {"format": "onnx", "max_error": error, "positions": CHECKED, "bytes": output.stat().st_size}


def export_nn_bin(path: Path, output: Path) -> dict[str, Any]:
    """A network file of the engine's as an nn.bin; {format, architecture, fv_scale, bytes}. Raises likewise."""
    refuse_unwritable(output)
    net = load_network(path)
    size = write_nnue(net, output)
    architecture = str(nnue_architecture(net))
    return {"format": "nn.bin", "architecture": architecture, "fv_scale": net.output_divisor, "bytes": size}
