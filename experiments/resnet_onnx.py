"""ONNX files of dlshogi's format, out and in: `liteshogi export --resnet`, and the network behind a file.

Inputs `input1` float32 (positions, 62, 9, 9) and `input2` (positions, 57, 9, 9), outputs `output_policy` (positions,
2187), logits of the move labels, and `output_value` (positions, 1), the mover's win rate: names, shapes and meanings as
dlshogi and its relatives load them. A draw head becomes a third output, `output_draw` (positions, 1), a probability;
auxiliary heads are left out.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro
from torch import nn

from experiments.planes import LABELS, PLANES1, PLANES2, make_planes
from experiments.resnet import PolicyValueNetwork, load_resnet
from export.positions import Sample, read_sample

INPUTS = {"input1": (PLANES1, 9, 9), "input2": (PLANES2, 9, 9)}
OUTPUTS = {"output_policy": (LABELS,), "output_value": (1,)}
DRAW_OUTPUT = "output_draw"
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


class OnnxNetwork:
    """A network in a file of this format, run by onnxruntime; calling it gives policy, win rate and perhaps draw.

    Raises FileNotFoundError, or ValueError that says in words how the file differs from the format.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such file")
        try:
            import onnxruntime
        except ImportError:
            raise ValueError(f"{path}: an ONNX file needs onnxruntime: pip install 'liteshogi[export]'") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own that it does not export
            raise ValueError(f"{path}: onnxruntime cannot read it: {_first_line(error)}") from None
        self._check_signature(path)
        names = [output.name for output in self._session.get_outputs()]
        self._outputs = [name for name in (*OUTPUTS, DRAW_OUTPUT) if name in names]
        self._check_values(path)

    @property
    def has_draw(self) -> bool:
        """Whether there is a draw head."""
        return DRAW_OUTPUT in self._outputs

    def __call__(self, input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Policy logits f4 (B, 2187), win rates f4 (B,), probabilities of a draw f4 (B,) or None; of planes f4."""
        policy, win_rate, *draw = self._session.run(self._outputs, {"input1": input1, "input2": input2})
        return policy, win_rate.reshape(-1), draw[0].reshape(-1) if draw else None

    def _check_signature(self, path: Path) -> None:
        for what, wanted, found in (
            ("input", INPUTS, {given.name: given for given in self._session.get_inputs()}),
            ("output", OUTPUTS, {given.name: given for given in self._session.get_outputs()}),
        ):
            if missing := set(wanted) - set(found):
                raise ValueError(
                    f"{path}: not a policy-value network of dlshogi's format: no {what} {min(missing)}, it has "
                    f"{', '.join(found) or 'none'}; export it with these names"
                )
            if what == "input" and (extra := set(found) - set(wanted)):
                raise ValueError(f"{path}: it asks for an input {min(extra)} that dlshogi's format does not have")
            for name, shape in wanted.items():
                _check_tensor(path, found[name], shape)

    def _check_values(self, path: Path) -> None:
        """A run on two empty boards: declared shapes are promises, and numbers may be broken."""
        planes = [np.zeros((2, *shape), np.float32) for shape in INPUTS.values()]
        try:
            policy, win_rate, draw = self(*planes)
        except Exception as error:
            raise ValueError(f"{path}: onnxruntime cannot run it on two positions: {_first_line(error)}") from None
        if policy.shape != (2, LABELS) or win_rate.shape != (2,):
            raise ValueError(f"{path}: outputs {policy.shape} and {win_rate.shape} for two positions; export it again")
        for name, values in (("output_value", win_rate), (DRAW_OUTPUT, draw)):
            if values is not None and not ((values >= 0) & (values <= 1)).all():
                raise ValueError(
                    f"{path}: {name} must be a rate from 0 to 1, is {values[0]:g}: export it behind a sigmoid"
                )
        if not np.isfinite(policy).all():
            raise ValueError(f"{path}: output_policy is not finite: the weights are broken, train or copy it again")


def _check_tensor(path: Path, found: Any, shape: tuple[int, ...]) -> None:
    if found.type != "tensor(float)":
        raise ValueError(f"{path}: {found.name} must be float32, is {found.type}")
    # A symbolic axis is unknown until the network runs; a number must be the right one.
    sizes = found.shape[1:]
    if len(found.shape) != 1 + len(shape) or any(
        isinstance(size, int) and size != wanted for size, wanted in zip(sizes, shape, strict=True)
    ):
        raise ValueError(
            f"{path}: {found.name} must be (positions, {', '.join(map(str, shape))}), is "
            f"({', '.join(map(str, found.shape))}): made for other features or moves"
        )
    if isinstance(found.shape[0], int):
        raise ValueError(
            f"{path}: {found.name} takes {found.shape[0]} positions at a time, neither more nor fewer: export it with "
            f"a dynamic batch axis"
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


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
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(module, inputs, temporary)
        network = OnnxNetwork(temporary)
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
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return error


def _write(module: _Exported, inputs: tuple[torch.Tensor, torch.Tensor], path: Path) -> None:
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
        program.save(str(path), external_data=False)
    finally:
        noisy.setLevel(level)


@dataclass(frozen=True)
class ExportResnet:
    """Write a policy-value network as an ONNX file that engines of dlshogi's family load."""

    network: tyro.conf.Positional[Path]
    """A trained network file, or its run's directory."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File to write."""
    draw: bool = True
    """Write a draw head as the output output_draw; auxiliary heads are always left out."""
    data: tuple[Path, ...] = ()
    """Records to check the file on; random positions without them."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        model, _ = load_resnet(self.network)
        error = export_resnet(model, self.output, read_sample(self.data, CHECKED), self.draw)
        size = self.output.stat().st_size
        if self.json:
            print(json.dumps({"format": "onnx", "max_error": error, "positions": CHECKED, "bytes": size}))
        else:
            print(f"{self.output}: {size:,} bytes, equals the network to {error:.1e} on {CHECKED} positions")
