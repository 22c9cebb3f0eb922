"""Fixtures for the experiments: a policy-value network as an ONNX file."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_onnx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of one block with random weights and a draw head, in a path with a space."""
    import torch

    from experiments.resnet import PolicyValueNetwork, ResnetConfig
    from experiments.resnet_onnx import export_resnet
    from export.positions import random_sample

    torch.manual_seed(11)
    path = tmp_path_factory.mktemp("a model") / "tiny net.onnx"
    export_resnet(PolicyValueNetwork(ResnetConfig(1, 8, value_hidden=16, draw=True)).eval(), path, random_sample(8))
    return path
