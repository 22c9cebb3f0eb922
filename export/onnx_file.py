"""ONNX files from torch modules, checked against the module in onnxruntime before the file appears."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from search.puct.onnx_file import first_line, open_session
from search.system.files import WholeFile, require_utf8

OPSET = 18
"""The oldest opset that torch's exporter writes without conversion, so that older runtimes read it."""


def write_onnx(
    module: nn.Module, path: Path, inputs: dict[str, torch.Tensor], outputs: Sequence[str], tolerance: float
) -> float:
    """Write a module in evaluation mode as an ONNX file for any number of positions; return their largest difference.

    inputs: tensors that the file is checked on, by name, positions first. The difference is relative to the largest
    number of an output, or to 1 if that is smaller. Raises ValueError in one line, and leaves no file, if the exporter
    is not installed or cannot write the module, if onnxruntime cannot run the file, or if the difference exceeds
    `tolerance`.
    """
    try:
        import onnxscript  # noqa: F401  (torch's exporter needs it, with a less clear error)
    except ImportError as missing:
        raise ValueError(f"ONNX export needs {missing.name}: pip install 'liteshogi[export]'") from None
    require_utf8(path)
    with WholeFile(path) as file:
        try:
            file.write(_serialised(module, inputs, outputs))
        except torch.onnx.OnnxExporterError as refusal:
            reason = first_line(_innermost(refusal))
            raise ValueError(f"{path}: not written: torch cannot export it: {reason}") from None
        file.finish()
        session = open_session(file.part)
        with torch.no_grad():
            truth = module(*inputs.values())
        truth = [output.numpy() for output in (truth if isinstance(truth, tuple) else (truth,))]
        error = 0.0
        for size in sorted({1, len(truth[0])}):  # the file must not be tied to a number of positions
            try:
                found = session.run(list(outputs), {name: given[:size].numpy() for name, given in inputs.items()})
            except Exception as refusal:  # onnxruntime raises classes of its own that it does not export
                raise ValueError(f"{path}: not written: onnxruntime cannot run it: {first_line(refusal)}") from None
            for mine, theirs in zip(found, truth, strict=True):
                error = max(error, float(np.abs(mine - theirs[:size]).max()) / max(1.0, float(np.abs(theirs).max())))
        if not error <= tolerance:
            raise ValueError(f"{path}: not written: as ONNX the network would differ from the trained one by {error:g}")
    return error


def _serialised(module: nn.Module, inputs: dict[str, torch.Tensor], outputs: Sequence[str]) -> bytes:
    positions = torch.export.Dim("positions", min=1)
    noisy = logging.getLogger("torch.onnx")
    level = noisy.level
    noisy.setLevel(logging.ERROR)  # the exporter reports on unrelated packages
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                tuple(inputs.values()),
                input_names=list(inputs),
                output_names=list(outputs),
                dynamic_shapes={name: {0: positions} for name in inputs},
                dynamo=True,
                opset_version=OPSET,
                verbose=False,
            )
        assert program is not None
        return program.model_proto.SerializeToString()
    finally:
        noisy.setLevel(level)


def _innermost(error: Exception) -> Exception:
    """Return the first cause of an error: the exporter's outermost error only names its step that failed."""
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    return error
