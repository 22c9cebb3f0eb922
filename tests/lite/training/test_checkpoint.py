"""Network files of training: equal networks give equal bytes, and forged descriptions are refused before they cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from lite.networks.build import build_network
from lite.networks.lite_value import NetworkConfig
from lite.training.checkpoint import NETWORK, load_model, save_model, write_tensors

CONFIGS = (
    NetworkConfig(),
    NetworkConfig(network="untied", perspectives=2),
    NetworkConfig(network="dense"),
    NetworkConfig(network="half_kp", width=32, perspectives=2),
)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.network)
def test_equal_networks_give_equal_files(config: NetworkConfig, tmp_path: Path) -> None:
    model = build_network(config)
    contents = set()
    for number in range(4):
        save_model(tmp_path / f"{number}", model, {"b": 1, "a": "一"})
        contents.add((tmp_path / f"{number}").read_bytes())
    assert len(contents) == 1
    loaded, training = load_model(tmp_path / "0")
    assert training == {"a": "一", "b": 1}
    assert all(torch.equal(loaded.state_dict()[name], tensor) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"perspectives": 1_000_000}, "choose one of 1, 2"),
        ({"perspectives": 2}, r"l3.weight should be \(32, 144\), is \(32, 72\)"),
        ({"dims": [10**8, 4, 32]}, "embedding 100000000"),
        ({"dims": [1024, 227, 1024]}, "should be"),
        ({"dims": [16, 4, 10**400]}, "whole number from 1 to 1024"),
        ({"dims": 2}, "three numbers"),
        ({"hidden": [1] * 1_000_000}, "at most 3"),
        ({"network": "half_kp", "width": 4096, "perspectives": 2}, "should be"),
        ({"width": 1.5}, "width 1.5"),
        ({"more": 1}, "unexpected keyword argument"),
    ],
)
def test_a_description_that_does_not_fit_costs_nothing(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    model, path = build_network(NetworkConfig()), tmp_path / "forged.safetensors"
    write_tensors(path, NETWORK, model.state_dict(), {"network": model.config | changes, "training": {}})
    start = time.perf_counter()
    with pytest.raises(ValueError, match=words) as refused:
        load_model(path)
    assert time.perf_counter() - start < 5
    assert str(refused.value).startswith(str(path))
    assert len(str(refused.value)) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "'network' is missing"),
        ([], "no JSON object"),
        ({"network": None, "training": {}}, "not an object"),
        ({"network": NetworkConfig().__dict__}, "'training' is missing"),
    ],
)
def test_a_description_without_its_parts_is_refused(data: Any, words: str, tmp_path: Path) -> None:
    write_tensors(tmp_path / "net", NETWORK, build_network(NetworkConfig()).state_dict(), data)
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "net")


def test_a_description_without_bottom_is_refused(tmp_path: Path) -> None:
    header = {"format": NETWORK, "version": "1", "data": "[" * 100_000}
    save_file({"x": torch.zeros(1)}, tmp_path / "net", header)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_model(tmp_path / "net")
