"""The network file: written networks are read back, and damaged or foreign files are refused with an error."""

from __future__ import annotations

import dataclasses
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

from search.evaluation.evaluation_speed import random_network
from search.evaluation.feature_sets import king_piece_square
from search.evaluation.network import (
    ACTIVATIONS,
    EvalNetwork,
    Layer,
    Shards,
    centipawns_reference,
    evaluate_reference,
)
from search.evaluation.network_file import (
    FORMAT,
    UnusedSetting,
    _checksum,
    _description,
    _tensors,
    load_network,
    save_network,
)
from search.evaluation.stacks import make_stacks

SMALL = ("k_p", 32, (8,), 2)


@pytest.fixture(scope="module")
def small() -> EvalNetwork:
    return random_network(*SMALL)


@pytest.fixture(scope="module")
def content(small: EvalNetwork, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("net") / "small.safetensors"
    save_network(small, path)
    return path.read_bytes()


def same(first: EvalNetwork, second: EvalNetwork) -> bool:
    arrays = [(first.bias, second.bias)]
    for a, b in zip(first.layers, second.layers, strict=True):
        arrays += [(a.weight, b.weight), (a.bias, b.bias), (np.array(a.shift), np.array(b.shift))]
    plain = (
        "perspectives",
        "input_shift",
        "outputs",
        "activation",
        "output_divisor",
        "logit_per_output",
        "cp_per_logit",
        "provenance",
    )
    return (
        bool((first.rows == second.rows).all())  # their type depends on the version of the file
        and all((a == b).all() and a.dtype == b.dtype for a, b in arrays)
        and all(getattr(first, name) == getattr(second, name) for name in plain)
        and first.feature_set.name == second.feature_set.name
    )


def test_a_saved_network_is_read_back_unchanged(tmp_path: Path, small: EvalNetwork) -> None:
    changed = dataclasses.replace(small, output_divisor=16, input_shift=3, provenance={"data": ["一二三", 1.5, None]})
    save_network(changed, tmp_path / "a" / "net.safetensors")
    assert same(load_network(tmp_path / "a" / "net.safetensors"), changed)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["net.safetensors"]


def test_equal_networks_give_equal_files(tmp_path: Path, small: EvalNetwork) -> None:
    contents = set()
    for number in range(4):
        save_network(dataclasses.replace(small, provenance={"b": 1, "a": "一"}), tmp_path / f"{number}")
        contents.add((tmp_path / f"{number}").read_bytes())
    assert len(contents) == 1


STRANGE = (None, True, -1, 0, 3, 1 << 40, 10**400, 0.5, 1e300, float("nan"), float("inf"), "", "x" * 99, [], {}, [[]])


USABLE = {("provenance", "{}"), ("input_shift", "0"), ("input_shift", "3"), ("output_divisor", "3")}
USABLE |= {("cp_per_logit", "3"), ("cp_per_logit", "0.5"), ("logit_per_output", "0.5")}


@pytest.mark.parametrize("name", sorted(_description(random_network(*SMALL))))
def test_an_invalid_description_is_refused_in_one_line_at_once(name: str, tmp_path: Path, small: EvalNetwork) -> None:
    tensors, path = _tensors(small), tmp_path / "forged.safetensors"
    for value in (*STRANGE, [1_000_000] * 1000):
        data = json.dumps(_description(small) | {name: value})
        header = {"format": FORMAT, "version": "1", "data": data, "checksum": _checksum(tensors, data)}
        save_file(tensors, path, header)
        if (name, repr(value)) in USABLE:
            load_network(path)
            continue
        with pytest.raises(ValueError, match="forged") as caught:
            load_network(path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < len(str(path)) + 300


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("rows", np.zeros((0, 32), np.int16)),
        ("rows", np.zeros((1710, 0), np.int16)),
        ("rows", np.zeros((1710, 33), np.int16)),
        ("rows", np.zeros((1710, 32), np.float32)),
        ("rows", np.zeros((1711, 32), np.int16)),
        ("rows", np.zeros(1710 * 32, np.int16)),
        ("bias", np.zeros(31, np.int16)),
        ("bias", np.zeros((), np.int16)),
        ("layer1.weight", np.zeros((8, 65), np.int8)),
        ("layer1.weight", np.zeros((8, 64), np.uint8)),
        ("layer1.weight", np.zeros((0, 64), np.int8)),
        ("layer1.weight", np.zeros((1025, 64), np.int8)),
        ("layer2.bias", np.zeros(2, np.int32)),
        ("layer3.weight", np.zeros((1, 1), np.int8)),
        ("king_buckets", np.zeros(81, np.int32)),
    ],
)
def test_arrays_of_other_shapes_are_refused(name: str, array: np.ndarray, tmp_path: Path, small: EvalNetwork) -> None:
    tensors, data = _tensors(small) | {name: array}, json.dumps(_description(small))
    header = {"format": FORMAT, "version": "1", "data": data, "checksum": _checksum(tensors, data)}
    save_file(tensors, tmp_path / "forged.safetensors", header)
    with pytest.raises(ValueError, match="forged") as caught:
        load_network(tmp_path / "forged.safetensors")
    assert "\n" not in str(caught.value)


KINDS_OF_ARRAYS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float32, np.bool_)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 40) | st.floats(-4, 1e9) | st.sampled_from(["value", "draw", "k_p"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(["value", "draw"]), inside),
    max_leaves=4,
)


@settings(max_examples=300)
@given(data=st.data())
def test_any_header_is_refused_or_read_exactly(scratch: Path, data: st.DataObject) -> None:
    """A file with any header and any types of arrays is refused, or gives exactly this network."""
    net = random_network("king_piece_square", 32, (8,), 2)
    tensors, description = _tensors(net), _description(net)
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(tensors)))
        tensors[name] = tensors[name].astype(data.draw(st.sampled_from(KINDS_OF_ARRAYS)))
    else:
        description[data.draw(st.sampled_from([*description, "buckets"]))] = data.draw(JSON)
    text = json.dumps(description)
    header = {"format": FORMAT, "version": "2", "data": text, "checksum": _checksum(tensors, text)}
    save_file(tensors, scratch, header)
    try:
        found = load_network(scratch)
    except ValueError as error:
        message = str(error)
    else:
        assert {"buckets": 1} | _description(found) == {"buckets": 1} | description
        read = _tensors(found)
        assert {name: read[name].dtype for name in read} == {name: tensors[name].dtype for name in tensors}
        return
    assert message.startswith(f"{scratch}: ")


def test_a_deeply_nested_description_is_refused(tmp_path: Path) -> None:
    text, path = "[" * 100_000, tmp_path / "deep.safetensors"
    header = {"format": FORMAT, "version": "1", "data": text, "checksum": f"{zlib.crc32(text.encode()):08x}"}
    save_file({}, path, header)
    with pytest.raises(ValueError, match=r"deep\.safetensors: its JSON is nested too deeply"):
        load_network(path)


def test_king_buckets_are_part_of_the_file(tmp_path: Path) -> None:
    features = king_piece_square(np.arange(81) % 4)
    layer = Layer(np.ones((2, 32), np.int8), np.zeros(2, np.int32))
    rows = np.zeros((features.rows, 32), np.int16)
    net = EvalNetwork(features, rows, np.zeros(32, np.int16), (layer,), outputs=("value", "draw"))
    save_network(net, tmp_path / "net.safetensors")
    found = load_network(tmp_path / "net.safetensors")
    assert (found.feature_set.king_bucket == features.king_bucket).all()
    assert found.outputs == ("value", "draw")


@pytest.mark.parametrize(("activation", "version"), list(zip(ACTIVATIONS, "1223", strict=True)))
def test_files_have_the_lowest_version_that_can_hold_them(tmp_path: Path, activation: str, version: str) -> None:
    net, path = random_network(*SMALL, activation=activation), tmp_path / "net.safetensors"
    save_network(net, path)
    with safe_open(path, "numpy") as file:
        header = file.metadata()
    assert header["version"] == version
    assert same(load_network(path), net)
    save_file(_tensors(net), path, header | {"version": "4"})
    with pytest.raises(ValueError, match="a network file of version 4; this program reads versions 1, 2 and 3"):
        load_network(path)


def refused(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "damaged.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged") as caught:
        load_network(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("part", [0, 1, 7, 8, 100, 0.3, 0.999])
def test_truncated_files_are_refused(tmp_path: Path, content: bytes, part: float) -> None:
    refused(tmp_path, content[: int(part if part >= 1 else part * len(content))])


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flips") / "flipped.safetensors"


@settings(max_examples=200)
@given(data=st.data())
def test_any_flipped_bit_is_detected(scratch: Path, content: bytes, small: EvalNetwork, data: st.DataObject) -> None:
    # The header is a small part of the file with the most possible errors.
    start = data.draw(st.sampled_from([0, 8, 16]))
    place = data.draw(st.one_of(st.integers(start, 1500), st.integers(0, len(content) - 1)))
    flipped = bytearray(content)
    flipped[place] ^= 1 << data.draw(st.integers(0, 7))
    scratch.write_bytes(flipped)
    try:
        found = load_network(scratch)
    except ValueError as error:
        message = str(error)
    else:
        assert same(found, small)  # a flip in the header's padding
        return
    assert "flipped.safetensors" in message
    assert "\n" not in message


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(scratch: Path, noise: bytes) -> None:
    scratch.write_bytes(noise)
    with pytest.raises(ValueError, match="flipped"):
        load_network(scratch)


def test_foreign_files_are_identified(tmp_path: Path) -> None:
    path = tmp_path / "foreign.safetensors"
    save_file({"rows": np.zeros(3, np.float32)}, path)
    with pytest.raises(ValueError, match="of another program"):
        load_network(path)
    save_file({"rows": np.zeros(3, np.float32)}, path, {"format": "liteshogi network"})
    with pytest.raises(ValueError, match="fold it first"):
        load_network(path)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_network(tmp_path / "nowhere.safetensors")
    with pytest.raises(FileNotFoundError, match="fold a training run"):
        load_network(tmp_path)
    (tmp_path / "nn.bin").touch()
    with pytest.raises(FileNotFoundError, match=f"a directory; name {re.escape(str(tmp_path / 'nn.bin'))}"):
        load_network(tmp_path)


@pytest.mark.parametrize("given", [{"fv_scale": 24}, {"architecture": "kp_32x2-8-32"}])
def test_settings_of_an_nn_bin_are_refused_for_other_files(given: dict[str, Any]) -> None:
    with pytest.raises(UnusedSetting, match=r"default is no nn\.bin") as refused:
        load_network("default", **given)
    assert refused.value.fields == tuple(given)


WRONG = [
    ({"perspectives": 3}, "perspectives must be 1 or 2"),
    ({"perspectives": 1}, r"layer 1: weight must be int8 \[8, 32\], found int8 \[8, 64\]"),
    ({"input_shift": 16}, "input_shift must be 0 to 15"),
    ({"outputs": ("draw",)}, "outputs must be value"),
    ({"buckets": 9}, "buckets must be 1 to 8, found 9"),
    ({"buckets": 2}, r"layer 2: weight must be int8 \[2, 8\], found int8 \[1, 8\]"),
    ({"activation": "screlu"}, "'screlu' cannot be evaluated"),
    ({"output_divisor": 0}, "output_divisor 0"),
    ({"logit_per_output": float("nan")}, "logit_per_output must be a positive number"),
    ({"cp_per_logit": -1.0}, "cp_per_logit must be a positive number"),
    ({"logit_per_output": 1e8}, "cp_per_logit .*: at logit_per_output 1e.08, .* can be computed"),
    ({"rows": np.zeros((1710, 40), np.int16)}, "rows of 40 lanes"),
    ({"rows": np.zeros((1709, 32), np.int16)}, r"rows must be int16 \[1710, 32\]"),
    ({"bias": np.zeros(32, np.int32)}, r"bias must be int16 \[32\], found int32"),
    ({"sum_bits": 15}, "sum_bits must be 16 to 16"),
    ({"shortcut": 1}, "shortcut must be true or false"),
    ({"shortcut": True}, r"layer 2: weight must be int8 \[1, 7\]"),
    ({"hidden_squares": True}, r"layer 2: weight must be int8 \[1, 16\]"),
    ({"shards": Shards(0, 32, 3)}, r"shards \(0, 32, 3\): common \+ size \* groups must be 64"),
    ({"stacks": make_stacks(("k3k3",))}, r"layer 1: weight must be int8 \[stacks, outputs, inputs\]"),
    ({"layers": ()}, "0 layers"),
    ({"layers": (Layer(np.zeros((2, 64), np.int8), np.zeros(2, np.int32)),)}, r"\[1, 64\]"),
    ({"layers": (Layer(np.zeros((1, 64), np.int8), np.zeros(1, np.int32), 6),)}, "layer 1: shift 6"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_parts_that_do_not_fit_are_refused(small: EvalNetwork, change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(small, **change)


@pytest.mark.parametrize("bias", [1 << 31, -(1 << 31) - 1, 0.5, True])
def test_a_progress_bias_that_is_no_int32_is_refused(bias: object) -> None:
    """An nn.bin and a C++ header would hold another number."""
    table = np.zeros((81, 1548), np.int32)
    with pytest.raises(ValueError, match=f"progress bias {bias}: must be an int32"):
        make_stacks(("progress2",), table, bias)
    for extreme in (-(1 << 31), (1 << 31) - 1):
        assert make_stacks(("progress2",), table, extreme).progress_bias == extreme


def test_a_complete_file_with_invalid_contents_is_refused(tmp_path: Path, small: EvalNetwork) -> None:
    """Files are checked like objects: the file holds an invalid network with a correct checksum."""
    wrong = dataclasses.replace(small)
    object.__setattr__(wrong, "rows", small.rows[:-1])
    save_network(wrong, tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match=r"wrong.safetensors: rows must be int16 \[1710, 32\]"):
        load_network(tmp_path / "wrong.safetensors")


def test_reference_arithmetic_by_hand() -> None:
    """One piece, one lane and small numbers; then the same with a sum beyond int16."""
    net = random_network("piece_square", 32, (), 1)
    rows = np.zeros_like(net.rows)
    rows[7 * 81 + 44, 0] = 100  # own king on 5i
    rows[2324, 0] = 40  # in check
    weight = np.zeros((1, 32), np.int8)
    weight[0, 0] = -3
    layer = Layer(weight, np.array([1000], np.int32))
    net = dataclasses.replace(net, rows=rows, bias=np.zeros(32, np.int16), layers=(layer,), input_shift=1)
    pieces, hands = np.full((3, 81), 28, np.uint8), np.zeros((3, 14), np.uint8)
    pieces[1:, 44] = 7
    outputs = evaluate_reference(net, pieces, hands, np.array([False, False, True]))
    assert outputs[:, 0].tolist() == [1000, 1000 - 3 * 50, 1000 - 3 * 70]
    rows[7 * 81 + 44, 0] = 32767
    assert evaluate_reference(net, pieces, hands, np.array([False, False, True]))[2, 0] == 1000  # wrapped below zero


def test_scores_are_rounded_and_clamped_the_same_way_on_both_sides(small: EvalNetwork) -> None:
    net = dataclasses.replace(small, output_divisor=16, logit_per_output=1 / 600, cp_per_logit=600 * 100 / 90)
    assert centipawns_reference(net, [0, 15, -15, 16, -16, 1440, -1440]) == [0, 0, 0, 1, -1, 100, -100]
    assert centipawns_reference(net, [2**31 - 1, -(2**31)]) == [20000, -20000]
    assert net.logit(-31) == -1 / 600
