"""Export of networks for other programs: ONNX, nn.bin, a C++ header, test vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from experiments.network_kinds.kind import Kind, UnsuitableNetwork, kind_of, network_file_of
from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import is_nnue
from search.system.files import check_output
from search.system.options import OptionError

FOLDED_SUFFIXES = (".bin", ".h", ".json")
"""Suffixes of the files that a folded network is exported as: an nn.bin, a C++ header, test vectors."""


@dataclass(frozen=True)
class OnnxExport:
    """An ONNX file that was written."""

    format: Literal["onnx"] = field(default="onnx", init=False)
    max_error: float
    """Largest difference from the trained network on the checked positions, relative to the largest output."""
    positions: int
    """Number of positions that were checked."""
    bytes: int
    """Size of the file."""


@dataclass(frozen=True)
class VectorExport:
    """A file of test vectors that was written."""

    format: Literal["test vectors"] = field(default="test vectors", init=False)
    positions: int
    """Number of positions in the file."""
    bytes: int
    """Size of the file."""


@dataclass(frozen=True)
class HeaderExport:
    """A C++ header that was written, and the file of its weights."""

    format: Literal["C++"] = field(default="C++", init=False)
    weights: str
    """Path of the file of weights."""
    weights_bytes: int
    """Size of the file of weights in bytes."""
    bytes: int
    """Size of the header in bytes."""


@dataclass(frozen=True)
class NnBinExport:
    """An nn.bin that was written."""

    format: Literal["nn.bin"] = field(default="nn.bin", init=False)
    architecture: str
    """YaneuraOu's name of the architecture."""
    names_itself: bool
    """Whether the file is read as this network without being given that name."""
    fv_scale: int
    """FV_SCALE that comes nearest to the network's scale."""
    kept_cp_per_logit: float
    """Centipawns per logit with that FV_SCALE."""
    cp_per_logit: float
    """Centipawns per logit of the network."""
    default_fv_scale: int
    """FV_SCALE of readers that have no setting for it."""
    default_cp_per_logit: float
    """Centipawns per logit in readers that have no setting for FV_SCALE."""
    bytes: int
    """Size of the file."""


Export = OnnxExport | VectorExport | HeaderExport | NnBinExport


class UnsuitableSuffix(UnsuitableNetwork):
    """The error for a network of a kind that is not exported under this suffix."""

    def __init__(self, network_path: str, kind: Kind, output: Path, suitable: Sequence[str]) -> None:
        self.output = output
        self.unfolded = kind is Kind.VALUE and output.suffix.lower() in FOLDED_SUFFIXES
        """Whether the network could be exported under this suffix if it were folded."""
        remedy = f"end the output in {' or '.join(suitable)}"
        if self.unfolded:
            remedy = f"to write {output.suffix}, fold it first"
        elif kind is Kind.FOLDED and output.suffix.lower() == ".onnx" and not is_nnue(network_file_of(network_path)):
            remedy = "for ONNX name the trained network that it was folded from"
        super().__init__(network_path, kind, f"which is written as {', '.join(suitable)}, not as {output}; {remedy}")


def export(
    network_path: str, output: Path, data: Sequence[Path] = (), draw: bool = True, overwrite: bool = False
) -> Export:
    """Write a network for other programs: trained networks as ONNX; folded ones as nn.bin, C++ header or test vectors.

    data: records on which ONNX is checked; without them it is checked on random positions. draw: whether a policy-value
    network's draw output is exported, too. overwrite: whether an existing file is replaced. Raises OSError, OptionError
    that names the field, UnsuitableSuffix if networks of this kind are not written as `output`, or ValueError.
    """
    kind = kind_of(network_path)
    if not network_file_of(network_path).exists():
        raise FileNotFoundError(f"{network_path}: there is no such network")
    if kind in (Kind.VALUE_ONNX, Kind.POLICY_VALUE_ONNX):
        raise ValueError(f"{network_path}: is already an ONNX file")
    suitable = FOLDED_SUFFIXES if kind is Kind.FOLDED else (".onnx",)
    if output.suffix.lower() not in suitable:
        raise UnsuitableSuffix(network_path, kind, output, suitable)
    if data and kind is Kind.FOLDED:
        raise OptionError("`data`: is for checking ONNX, and this output is not ONNX", "data")
    if not draw and kind is not Kind.POLICY_VALUE:
        raise OptionError(f"`draw`: is for policy-value networks, and {network_path} is {kind.value}", "draw")
    if kind is Kind.FOLDED:
        return _export_folded(network_path, output, overwrite)
    check_output(output, overwrite=overwrite, inputs=(network_file_of(network_path),))
    from export.positions import read_sample

    if kind is Kind.VALUE:
        from export.onnx_export import CHECKED, export_onnx
        from lite.training.checkpoint import load_standalone_model

        sample = read_sample(data, CHECKED)
        error = export_onnx(load_standalone_model(network_path)[0], output, sample)
    else:
        from experiments.resnet.network import load_resnet
        from experiments.resnet.onnx import CHECKED as PLANES_CHECKED
        from experiments.resnet.onnx import export_resnet

        sample = read_sample(data, PLANES_CHECKED)
        error = export_resnet(load_resnet(network_path)[0], output, sample, draw)
    return OnnxExport(error, len(sample), output.stat().st_size)


def _export_folded(network_path: str, output: Path, overwrite: bool) -> Export:
    """Write a folded network in the format of the output's suffix.

    Whether the format can hold the network is checked before the output file is.
    """
    network, inputs = load_network(network_path), (network_file_of(network_path),)
    if output.suffix.lower() == ".json":
        from export.vectors import write_vectors

        check_output(output, overwrite=overwrite, inputs=inputs)
        count = write_vectors(network, inputs[0].name, output)
        return VectorExport(count, output.stat().st_size)
    if output.suffix.lower() == ".h":
        from export.cpp import weights_file, write_header

        weights = weights_file(output)
        if weights.resolve() == inputs[0].resolve():
            raise ValueError(f"{output}: its weights would replace the input {weights}; choose another name")
        for path in (output, weights):
            check_output(path, overwrite=overwrite, inputs=inputs)
        size, weights_bytes = write_header(network, inputs[0].name, output)
        return HeaderExport(str(weights), weights_bytes, size)
    from export.nnue import default_fv_scale, names_itself, nearest_fv_scale, nnue_architecture, write_nnue

    architecture = nnue_architecture(network)
    check_output(output, overwrite=overwrite, inputs=inputs)
    size = write_nnue(network, output)
    fv_scale, default_scale = nearest_fv_scale(network), default_fv_scale(network)
    per_logit = network.output_divisor / network.logit_per_output
    return NnBinExport(
        architecture=str(architecture),
        names_itself=names_itself(network),
        fv_scale=fv_scale,
        kept_cp_per_logit=per_logit / fv_scale,
        cp_per_logit=network.cp_per_logit,
        default_fv_scale=default_scale,
        default_cp_per_logit=per_logit / default_scale,
        bytes=size,
    )
