"""An nn.bin is exported with the bytes that were imported; other networks get YaneuraOu's own header."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from export.nnue import import_nnue, nnue_architecture, nnue_bytes, write_nnue
from liteshogi.commands.export import Command as Export
from liteshogi.commands.import_ import Command as Import
from search.evaluation.evaluation_speed import random_network
from search.evaluation.network import EvalNetwork, Layer
from search.evaluation.network_file import load_network, save_network
from search.evaluation.nnue_architecture import parse_name
from search.evaluation.nnue_file import read_nnue
from search.system.options import OptionError
from tests.yaneuraou_networks import network_bytes


@pytest.mark.parametrize(
    ("features", "width", "first", "second"),
    [("half_kp", 32, 32, 32), ("half_kp", 64, 8, 96), ("k_p", 256, 32, 32), ("k_p", 32, 1, 33), ("k_p", 96, 16, 64)],
)
def test_the_verbs_give_the_same_bytes(
    features: str,
    width: int,
    first: int,
    second: int,
    nnue_content: Callable[..., bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = nnue_content(features, width, first, second)
    (tmp_path / "nn.bin").write_bytes(content)
    Import(tmp_path / "nn.bin", tmp_path / "net.safetensors", json=True).run()
    figures = json.loads(capsys.readouterr().out)
    assert figures["architecture"] == f"{'halfkp' if features == 'half_kp' else 'kp'}_{width}x2-{first}-{second}"
    assert figures["fv_scale"] == 16
    Export(str(tmp_path / "net.safetensors"), tmp_path / "again.bin", json=True).run()
    assert json.loads(capsys.readouterr().out)["bytes"] == len(content)
    assert (tmp_path / "again.bin").read_bytes() == content
    Export(str(tmp_path / "nn.bin"), tmp_path / "copy.bin").run()
    assert (tmp_path / "copy.bin").read_bytes() == content
    assert "FV_SCALE to 16" in capsys.readouterr().out


NAMES = (
    "halfkpvm_32x2_8_32",
    "halfka1_32x2_8_32",
    "halfkahm1_64x2_16_32",
    "ka2_32x2_8_32",
    "SFNN_kp_64_7_32",
    "SFNN_ka2_64_8_64_hand64z_k9k9z_progress2",
    "SFNN_ka2_128_15_48_c0_s16x8_k3k3",
    "SFNN_halfkahm2_64_7_32_k3k3_progress4_hand4",
    "SFNN_halfka2_64_8_32_c32_s16x2",
)


@pytest.mark.parametrize("edge", [False, True], ids=["", "edge"])
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_exported_with_the_imported_bytes(name: str, edge: bool, tmp_path: Path) -> None:
    """All padding, and weights that an output of a shard ignores, are random bytes."""
    content = network_bytes(name, 3, edge)
    (tmp_path / "nn.bin").write_bytes(content)
    net = read_nnue(tmp_path / "nn.bin")
    assert nnue_bytes(net) == content
    import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors")
    found = load_network(tmp_path / "net.safetensors")
    assert nnue_bytes(found) == content
    assert parse_name(name) == nnue_architecture(found)
    assert (found.rows == net.rows).all()


def test_a_network_file_keeps_the_architecture_of_an_nn_bin_without_a_text(tmp_path: Path) -> None:
    name = "SFNN_kp_64_7_32_hand64_k3k3"
    content = network_bytes(name)
    (text,) = struct.unpack_from("<I", content, 8)
    nameless = content[:8] + struct.pack("<I", 3) + b"?\xff?" + content[12 + text :]
    (tmp_path / "nn.bin").write_bytes(nameless)
    with pytest.raises(OptionError, match="name it"):
        import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors")
    found = import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors", architecture=name)
    assert found.architecture == name
    write_nnue(load_network(tmp_path / "net.safetensors"), tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == nameless
    Export(str(tmp_path / "net.safetensors"), tmp_path / "exported.bin").run()  # though the file alone names nothing
    assert (tmp_path / "exported.bin").read_bytes() == nameless


def test_an_export_whose_text_names_another_network_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Older files have hand64 for hand64z, which evaluates otherwise."""
    name, other = "SFNN_kp_64_7_32_hand64_k3k3", "SFNN_kp_64_7_32_hand64z_k3k3"
    (tmp_path / "nn.bin").write_bytes(network_bytes(name))
    for chosen in (name, other):
        net, again = tmp_path / f"{chosen}.safetensors", tmp_path / f"{chosen}.bin"
        import_nnue(tmp_path / "nn.bin", net, architecture=chosen)
        capsys.readouterr()
        Export(str(net), again, json=True).run()
        printed = capsys.readouterr()
        assert json.loads(printed.out)["names_itself"] == (str(nnue_architecture(load_network(again))) == chosen)
        assert [other in line for line in printed.err.splitlines()] == [True] * (chosen == other)


def test_an_import_is_of_one_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is overwritten after its network has been read and before its digest is taken."""
    path, contents = tmp_path / "nn.bin", [network_bytes("kp_32x2_8_32", 2)]
    path.write_bytes(network_bytes("kp_32x2_8_64"))

    def read(path: Path, *settings: Any) -> EvalNetwork:
        net = read_nnue(path, *settings)
        if contents:
            path.write_bytes(contents.pop())
        return net

    monkeypatch.setattr("export.nnue.read_nnue", read)
    found = import_nnue(path, tmp_path / "net.safetensors")
    assert (found.architecture, found.sha256) == ("kp_32x2-8-32", hashlib.sha256(path.read_bytes()).hexdigest())


def test_longer_forms_of_numbers_become_the_shortest(tmp_path: Path) -> None:
    content = network_bytes("SFNN_kp_64_7_32_k3k3")
    (text,) = struct.unpack_from("<I", content, 8)
    bias = 12 + text + 4
    weights = bias + 21 + struct.unpack_from("<I", content, bias + 17)[0]
    (length,) = struct.unpack_from("<I", content, weights + 17)
    last = weights + 20 + length
    longer = content[:last] + bytes([content[last] | 128, 127 * (content[last] >> 6 & 1)]) + content[last + 1 :]
    longer = longer[: weights + 17] + struct.pack("<I", length + 1) + longer[weights + 21 :]
    (tmp_path / "nn.bin").write_bytes(longer)
    assert nnue_bytes(load_network(tmp_path / "nn.bin")) == content


def test_an_own_sfnn_gets_the_text_of_its_architecture(tmp_path: Path) -> None:
    parts = {"activation": "pairwise_clipped_relu", "hidden_squares": True, "shortcut": True}
    net = random_network("k_p", 64, (8, 32), 2, stacks=("k3k3", "hand4"), **parts)
    write_nnue(net, tmp_path / "nn.bin")
    found = load_network(tmp_path / "nn.bin")
    words = found.provenance["nn_bin"]["architecture"]
    assert words.startswith("ModelType=SFNNWithoutPsqt;Features=K+P[1710->64x2],Network=SFNN_KP_64_7_32_HAND4_K3K3{")
    assert all((one.weight == two.weight).all() for one, two in zip(net.layers, found.layers, strict=True))


def test_an_unsupported_network_is_refused_before_the_output_is_checked(tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(b"another's")
    with pytest.raises(ValueError, match="holds no such network"):
        Export("lite-16-4-32", tmp_path / "nn.bin").run()


def test_an_error_names_the_format_of_another_safetensors_file(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    for header, words in (
        ({"format": "liteshogi network"}, "liteshogi network"),
        (None, "safetensors file of another"),
    ):
        save_file({"x": np.zeros(3, np.float32)}, path, header)
        with pytest.raises(ValueError, match=f"this is a {words}.*, not a liteshogi evaluation network"):
            load_network(path)


@settings(max_examples=200)
@given(data=st.data())
def test_random_files_are_written_as_they_were_read(
    data: st.DataObject, nnue_content: Callable[..., bytes], tmp_path: Path
) -> None:
    words = data.draw(st.one_of(st.none(), st.text(max_size=40), st.binary(max_size=40)))
    content = bytearray(nnue_content("k_p", 32, 8, 32, words))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.one_of(st.integers(0, 250), st.integers(0, len(content) - 1)))
        content[at] ^= data.draw(st.integers(1, 255))
    (tmp_path / "nn.bin").write_bytes(content)
    try:
        net = load_network(tmp_path / "nn.bin")
    except ValueError:
        return
    assert nnue_bytes(net) == content
    save_network(net, tmp_path / "net.safetensors")
    assert nnue_bytes(load_network(tmp_path / "net.safetensors")) == content


def test_an_own_network_gets_the_text_that_yaneuraou_writes(tmp_path: Path) -> None:
    net = random_network("k_p", 64, (16, 32), 2)
    assert write_nnue(net, tmp_path / "nn.bin") == (tmp_path / "nn.bin").stat().st_size
    found = load_network(tmp_path / "nn.bin")
    words = found.provenance["nn_bin"]["architecture"]
    assert words.startswith("Features=K+P[1710->64x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[")
    assert words.endswith("(AffineTransformSparseInput[16<-128](InputSlice[128(0:128)])))))")
    assert all((one.weight == two.weight).all() for one, two in zip(net.layers, found.layers, strict=True))
    assert (net.rows == found.rows).all()
    assert [path.name for path in tmp_path.iterdir()] == ["nn.bin"]


def test_the_text_gives_the_scale_of_the_network(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    words = (
        "Features=K+P[1710->32x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-8]("
        "ClippedReLU[8](AffineTransform[8<-64](InputSlice[64(0:64)]))))),fv_scale=16"
    )
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words))
    for scale in (16, 24):
        write_nnue(read_nnue(tmp_path / "nn.bin", scale), tmp_path / f"{scale}.bin")
        assert load_network(tmp_path / f"{scale}.bin").output_divisor == scale
    assert (tmp_path / "16.bin").read_bytes() == (tmp_path / "nn.bin").read_bytes()


def test_a_header_that_does_not_fit_the_network_is_replaced(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    """Provenance may be inherited by a network of other dimensions, or be written by hand."""
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32))
    kept = load_network(tmp_path / "nn.bin").provenance
    for provenance in (kept, {"nn_bin": 3}, {"nn_bin": kept["nn_bin"] | {"file_hash": -1}}, {"nn_bin": {}}):
        net = dataclasses.replace(random_network("k_p", 64, (16, 32), 2), provenance=provenance)
        write_nnue(net, tmp_path / "other.bin")
        assert load_network(tmp_path / "other.bin").width == 64


def test_networks_that_an_nn_bin_cannot_hold_are_refused(tmp_path: Path) -> None:
    fitting = random_network("k_p", 32, (8, 32), 2)
    first = fitting.layers[0]
    cases = {
        "the feature set is piece_square": random_network("piece_square", 32, (8,), 2),
        "perspectives is 1": random_network("k_p", 32, (8,), 1),
        "outputs is": random_network("k_p", 32, (8,), 2, ("value", "draw")),
        "input_shift is 3": dataclasses.replace(fitting, input_shift=3),
        "shift is {5, 6}|shift is {6, 5}": dataclasses.replace(
            fitting, layers=(Layer(first.weight, first.bias, 5), *fitting.layers[1:])
        ),
    }
    for expected, net in cases.items():
        with pytest.raises(ValueError, match=f"no such network: .*({expected})"):
            write_nnue(net, tmp_path / "nn.bin")
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_not_overwritten_by_default(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 8))
    with pytest.raises(ValueError, match=r"name it net\.safetensors"):
        import_nnue(tmp_path / "nn.bin", tmp_path / "net.bin")
    (tmp_path / "net.safetensors").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"net.safetensors: already exists; set `overwrite`"):
        import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors")
    assert (tmp_path / "net.safetensors").read_bytes() == b"mine"
    import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors", overwrite=True)
    assert load_network(tmp_path / "net.safetensors").width == 32


def test_an_export_does_not_overwrite_its_network(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    """The weights of a C++ header have a name that an nn.bin beside it may have."""
    content = nnue_content("k_p", 32, 8, 8)
    (tmp_path / "nn.bin").write_bytes(content)
    (tmp_path / "link.bin").symlink_to("nn.bin")
    of_weights, also = r"nn\.h: its weights would replace the input .*nn\.bin; choose", r"\.bin: is also an input"
    for output, message in (("nn.h", of_weights), ("nn.bin", also), ("link.bin", also)):
        with pytest.raises(ValueError, match=message):
            Export(str(tmp_path / "nn.bin"), tmp_path / output, overwrite=True).run()
    (tmp_path / "net.safetensors").symlink_to("nn.bin")
    with pytest.raises(ValueError, match=r"net\.safetensors: is also an input"):
        import_nnue(tmp_path / "nn.bin", tmp_path / "net.safetensors", overwrite=True)
    assert (tmp_path / "nn.bin").read_bytes() == content


@pytest.mark.slow
@pytest.mark.parametrize("name", ["halfkp random", "halfkp material", "kp random", "kp material"])
def test_full_size_files_are_exported_with_the_imported_bytes(name: str, tmp_path: Path, data_folder: Path) -> None:
    maker = data_folder / "nnue" / "make_nn.py"
    if not maker.is_file():
        pytest.skip("the maker of the recorded networks is not at hand")
    subprocess.run([sys.executable, maker, *name.split(), tmp_path / "nn.bin"], check=True)
    Import(tmp_path / "nn.bin", tmp_path / "net.safetensors").run()
    Export(str(tmp_path / "net.safetensors"), tmp_path / "again.bin").run()
    assert (tmp_path / "again.bin").read_bytes() == (tmp_path / "nn.bin").read_bytes()
