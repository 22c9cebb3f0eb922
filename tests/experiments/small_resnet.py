"""A small untrained policy-value network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a training run of the network."""
    import torch

    from experiments.resnet.network import PolicyValueNetwork, ResnetConfig, save_resnet

    torch.manual_seed(4)
    folder = tmp_path_factory.mktemp("run")
    save_resnet(folder / "network.safetensors", PolicyValueNetwork(ResnetConfig(1, 8, value_hidden=8)).eval(), {})
    return folder


@pytest.fixture(scope="session")
def onnx_file(trained: Path, made_once: Callable[..., Path]) -> Path:
    """The network as an ONNX file."""

    def make(path: Path) -> None:
        from experiments.network_kinds.exporting import export

        export(str(trained / "network.safetensors"), path)

    return made_once(trained / "net.onnx", make)
