"""Policy-value networks as bytes, for workers on any machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from experiments.network_kinds.kind import Kind, UnsuitableNetwork, kind_of, network_file_of


def network_bytes(network_path: str) -> bytes:
    """Return a policy-value network as the content of an ONNX file. Raises OSError, or ValueError for another kind."""
    kind = kind_of(network_path)
    if kind is Kind.POLICY_VALUE_ONNX:
        return Path(network_path).read_bytes()
    if kind is not Kind.POLICY_VALUE:
        raise UnsuitableNetwork(network_path, kind, "where a policy-value network is needed")
    from experiments.resnet.network import load_resnet
    from experiments.resnet.onnx import CHECKED, export_resnet
    from export.positions import read_sample

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        export_resnet(load_resnet(network_file_of(network_path))[0], path, read_sample((), CHECKED))
        return path.read_bytes()
