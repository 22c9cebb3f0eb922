"""For all experiments: positions of the sample without games, and a small policy-value network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.network_kinds import export
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig, save_resnet
from lite.datasets.convert import Conversion, convert
from lite.records.formats import NO_RESULT, hcpe_dtype

SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="session")
def without_games(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A hundred hcpe records."""
    path = tmp_path_factory.mktemp("sample") / "played.hcpe"
    convert(Conversion((SAMPLE,), path))
    records = np.fromfile(path, hcpe_dtype)[:100]
    records["padding"], records["result"] = NO_RESULT, 0
    return records.tobytes()


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training: a small network that knows nothing."""
    torch.manual_seed(4)
    folder = tmp_path_factory.mktemp("run")
    save_resnet(folder / "network.safetensors", PolicyValueNetwork(ResnetConfig(1, 8, value_hidden=8)).eval(), {})
    return folder


@pytest.fixture(scope="session")
def onnx_file(trained: Path) -> Path:
    """The same network as ONNX."""
    export(str(trained / "network.safetensors"), trained / "net.onnx")
    return trained / "net.onnx"
