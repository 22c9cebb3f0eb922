"""Network files of training: equal networks give equal bytes, and forged descriptions are refused before they cost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from lite.networks.config import NetworkConfig
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig
from lite.networks.untied import UntiedConfig
from lite.training.bench import synthetic_batch
from lite.training.checkpoint import NETWORK, load_model, save_model, write_tensors

CONFIGS = (LiteConfig(), UntiedConfig(perspectives=2), DenseConfig(), HalfKpConfig(width=32))
OLD = Path(__file__).parents[2] / "data" / "networks"
"""Files whose descriptions hold the fields of every kind of network, and what their networks said when written."""
SAID = {
    "lite": [-0.830448, -0.57157, -0.815271],
    "blog": [-0.938882, -0.911629, -0.867916],
    "untied": [-0.47174, -0.462428, -0.4616],
    "dense": [-0.49395, -0.531089, -0.453167],
}


@pytest.mark.parametrize("name", SAID)
def test_older_files_are_read(name: str) -> None:
    model, training = load_model(OLD / f"{name}.safetensors")
    assert training == {"cp_per_logit": 321.0}
    batch = synthetic_batch(3)
    assert model.logits(batch.pieces, batch.hands, batch.in_check).tolist() == pytest.approx(SAID[name], abs=1e-5)
    assert set(model.config) == {"network", "dims", "layout", "perspectives"} or name == "dense"


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_equal_networks_give_equal_files(config: NetworkConfig, tmp_path: Path) -> None:
    model = config.build()
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
        ({"network": "dense", "hidden": [1] * 1_000_000}, "at most 3"),
        ({"network": "half_kp", "width": 4096}, "should be"),
        ({"network": "dense", "width": 1.5}, "width 1.5"),
        ({"network": ["lite"]}, "choose one of lite"),
        ({"more": 1}, "'more' is no part of one"),
    ],
)
def test_a_description_that_does_not_fit_costs_nothing(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    model, path = LiteConfig().build(), tmp_path / "forged.safetensors"
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
        ({"network": LiteConfig().as_json()}, "'training' is missing"),
    ],
)
def test_a_description_without_its_parts_is_refused(data: Any, words: str, tmp_path: Path) -> None:
    write_tensors(tmp_path / "net", NETWORK, LiteConfig().build().state_dict(), data)
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "net")


def test_a_description_without_bottom_is_refused(tmp_path: Path) -> None:
    header = {"format": NETWORK, "version": "1", "data": "[" * 100_000}
    save_file({"x": torch.zeros(1)}, tmp_path / "net", header)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_model(tmp_path / "net")
