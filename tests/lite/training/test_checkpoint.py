"""Files of a run: equal networks give equal bytes; damaged and forged files are refused at once in one line."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from experiments.network_kinds.kind import kind_of
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig, LiteValueNetwork
from lite.networks.nnue import HalfKpConfig
from lite.networks.untied import UntiedConfig
from lite.networks.value_network import NetworkConfig
from lite.training.checkpoint import (
    NETWORK,
    STATE,
    file_format,
    load_model,
    load_state,
    read_tensors,
    save_model,
    save_state,
    write_tensors,
)
from lite.training.training_speed import synthetic_batch
from search.evaluation.network_file import load_network
from tests.lite.training.conftest import JSON

CONFIGS = (LiteConfig(), UntiedConfig(perspectives=2), DenseConfig(), HalfKpConfig(width=32))
FILES = Path(__file__).parents[2] / "data" / "networks"
SAID = {
    "lite": [-0.830448, -0.57157, -0.815271],
    "blog": [-0.938882, -0.911629, -0.867916],
    "untied": [-0.47174, -0.462428, -0.4616],
    "dense": [-0.49395, -0.531089, -0.453167],
}


@pytest.mark.parametrize("name", SAID)
def test_networks_in_files_keep_their_outputs(name: str) -> None:
    model, training = load_model(FILES / f"{name}.safetensors")
    assert (training.cp_per_logit, training.provenance) == (321.0, {"cp_per_logit": 321.0})
    batch = synthetic_batch(3)
    assert model.logits(batch.pieces, batch.hands, batch.in_check).tolist() == pytest.approx(SAID[name], abs=1e-5)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_equal_networks_give_equal_files(config: NetworkConfig, tmp_path: Path) -> None:
    model = config.build()
    contents = set()
    for number in range(4):
        save_model(tmp_path / f"{number}", model, {"b": 1, "a": "一"})
        contents.add((tmp_path / f"{number}").read_bytes())
    save_model(tmp_path / "other order", model, {"a": "一", "b": 1})
    assert contents == {(tmp_path / "other order").read_bytes()}
    loaded, training = load_model(tmp_path / "0")
    assert (training.cp_per_logit, training.provenance) == (None, {"a": "一", "b": 1})
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
        ({"more": 1}, "'more' is not one of its fields"),
    ],
)
def test_an_invalid_description_is_refused_before_building_a_network(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    model, path = LiteConfig().build(), tmp_path / "forged.safetensors"
    of_kind = next((config for config in CONFIGS if config.name == changes.get("network")), LiteConfig())
    write_tensors(path, NETWORK, model.state_dict(), {"network": of_kind.as_json() | changes, "training": {}})
    with pytest.raises(ValueError, match=words) as refused:
        load_model(path)
    assert str(refused.value).startswith(str(path))
    assert len(str(refused.value)) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "'network' is missing"),
        ([], "no JSON object"),
        ({"network": None, "training": {}}, "not an object"),
        ({"network": LiteConfig().as_json()}, "'training' is missing"),
        ({"network": LiteConfig().as_json(), "training": []}, "no attribute"),
        ({"network": LiteConfig().as_json(), "training": {"cp_per_logit": "x"}}, "cp_per_logit 'x'"),
    ],
)
def test_an_incomplete_description_is_refused(data: Any, words: str, tmp_path: Path) -> None:
    write_tensors(tmp_path / "net", NETWORK, LiteConfig().build().state_dict(), data)
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "net")


@pytest.mark.parametrize("scale", [True, 0, -1.0, float("inf"), float("nan"), None, [600.0]])
def test_an_invalid_scale_is_refused(scale: Any, tmp_path: Path, model: LiteValueNetwork) -> None:
    save_model(tmp_path / "net", model, {"cp_per_logit": scale})
    with pytest.raises(ValueError, match=r"net: .*cp_per_logit .* is not a positive number"):
        load_model(tmp_path / "net")


def test_read_tensors_do_not_depend_on_the_file(tmp_path: Path, model: LiteValueNetwork) -> None:
    path = tmp_path / "net.safetensors"
    save_model(path, model, {})
    tensors, _ = read_tensors(path, NETWORK)
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    assert all(torch.equal(tensor, model.state_dict()[name]) for name, tensor in tensors.items())


def test_a_deeply_nested_description_is_refused(tmp_path: Path) -> None:
    header = {"format": NETWORK, "version": "2", "data": "[" * 100_000}
    save_file({"x": torch.zeros(1)}, tmp_path / "net", header)
    with pytest.raises(ValueError, match="nested too deeply"):
        load_model(tmp_path / "net")


def header_of(content: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length])


def with_header(content: bytes, header: dict[str, Any]) -> bytes:
    (length,) = struct.unpack("<Q", content[:8])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


@pytest.fixture(scope="module")
def model() -> LiteValueNetwork:
    return LiteValueNetwork((4, 2, 8), layout="blog", perspectives=2)


def test_truncated_network_files_are_refused(tmp_path: Path, model: LiteValueNetwork) -> None:
    path = tmp_path / "net.safetensors"
    save_model(path, model, {"cp_per_logit": 700})
    again, trained = load_model(path)
    assert (trained.cp_per_logit, trained.provenance) == (700, {"cp_per_logit": 700})
    assert again.config == model.config
    assert not again.training
    assert [p.name for p in tmp_path.iterdir()] == ["net.safetensors"]
    whole = path.read_bytes()
    for cut in (0, 4, 100, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"net\.safetensors"):
            load_model(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_model(tmp_path / "none.safetensors")
    save_file({"a": torch.zeros(2)}, path)
    assert file_format(path) == ""
    with pytest.raises(ValueError, match="another program"):
        load_model(path)


def test_any_flipped_bit_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    save_state(path, {"average": {"l3.weight": torch.rand(7, 9)}, "random": {"torch": torch.get_rng_state()}}, {"a": 1})
    whole = path.read_bytes()
    for place in range(8, len(whole), 37):
        for bit in (0, 6):
            broken = bytearray(whole)
            broken[place] ^= 1 << bit
            path.write_bytes(bytes(broken))
            with pytest.raises(ValueError, match=r"state\.safetensors: "):
                load_state(path)
    path.write_bytes(whole)
    assert load_state(path)[1] == {"a": 1}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(tmp_path: Path, model: LiteValueNetwork, bad: float) -> None:
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors["l3.weight"][2, 3] = bad
    data = {"network": model.config, "training": {}}
    write_tensors(tmp_path / "net.safetensors", NETWORK, tensors, data)
    with pytest.raises(ValueError, match=r"net\.safetensors: l3\.weight holds numbers that are not finite"):
        load_model(tmp_path / "net.safetensors")


@pytest.mark.parametrize("kind", [NETWORK, STATE])
def test_files_of_another_version_are_refused(tmp_path: Path, kind: str, model: LiteValueNetwork) -> None:
    path = tmp_path / "old.safetensors"
    write_tensors(path, kind, model.state_dict(), {"network": model.config, "training": {}})
    header = header_of(path.read_bytes())
    del header["__metadata__"]["checksum"]
    header["__metadata__"]["version"] = "1"
    path.write_bytes(with_header(path.read_bytes(), header))
    with pytest.raises(ValueError, match=rf"a {kind} of version 1; this program reads version 2"):
        read_tensors(path, kind)


@pytest.mark.parametrize("read", [load_model, load_network, kind_of])
def test_quotations_of_a_header_stay_in_one_line(tmp_path: Path, model: LiteValueNetwork, read: Any) -> None:
    path = tmp_path / "net.safetensors"
    write_tensors(path, NETWORK, model.state_dict(), {"network": model.config, "training": {}})
    header = header_of(path.read_bytes())
    header["l4.bias"]["dtype"] = {"\n": None}
    path.write_bytes(with_header(path.read_bytes(), header))
    with pytest.raises(ValueError, match=r"net\.safetensors: not a safetensors file|only a part of one") as refusal:
        read(str(path) if read is kind_of else path)
    assert "\n" not in str(refusal.value)


@settings(max_examples=200)
@given(st.data())
def test_any_value_in_a_description_is_read_or_refused(
    tmp_path: Path, model: LiteValueNetwork, data: st.DataObject
) -> None:
    """Replace any value or key of the description or the header; the file is read or refused in one line."""
    path = tmp_path / "net.safetensors"
    described: Any = {"network": model.config, "training": {"cp_per_logit": 600.0, "valid": {}}}
    here: Any = described
    while data.draw(st.booleans()) and any(isinstance(value, dict) for value in here.values()):
        here = here[data.draw(st.sampled_from([key for key, value in here.items() if isinstance(value, dict)]))]
    key = data.draw(st.sampled_from(sorted(here)) if here else st.text(max_size=5))
    if data.draw(st.booleans()):
        here[key] = data.draw(JSON)
    else:
        here.pop(key, None)
    write_tensors(path, NETWORK, model.state_dict(), described)
    if data.draw(st.booleans()):
        header = header_of(path.read_bytes())
        part = header[data.draw(st.sampled_from(sorted(header)))]
        part[data.draw(st.sampled_from(sorted(part)))] = data.draw(JSON)
        path.write_bytes(with_header(path.read_bytes(), header))
    message = f"{path}: read"
    try:
        again, training = load_model(path)
        assert again.state_dict().keys() == model.state_dict().keys()
        assert isinstance(training.provenance, dict)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "a.safetensors", STATE, {"a": torch.zeros(2)}, {})
    with pytest.raises(ValueError, match=r"this is a liteshogi training state, not a liteshogi network"):
        read_tensors(tmp_path / "a.safetensors", NETWORK)
