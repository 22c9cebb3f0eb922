"""Identification of the architecture of an nn.bin by its text, hashes and sizes, or by a given name."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import PROVENANCE, read_nnue
from search.evaluation.nnue_identification import MissingSetting
from search.evaluation.static_evaluation import evaluate_sfens
from search.system.options import OptionError
from tests.yaneuraou_description import Description
from tests.yaneuraou_networks import network_bytes

NAME = "SFNN_kp_64_7_32_hand64_k3k3"
SFENS = (
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
)


def with_text(content: bytes, text: bytes) -> bytes:
    (length,) = struct.unpack_from("<I", content, 8)
    return content[:8] + struct.pack("<I", len(text)) + text + content[12 + length :]


def outputs(path: Path, name: str | None = None) -> list[int]:
    return [one.output for one in evaluate_sfens(load_network(path, architecture=name), SFENS)]


def described(content: bytes, name: str) -> list[int]:
    found = Description(content, name)
    return [found.output(sfen) for sfen in SFENS]


@pytest.fixture(scope="module")
def content() -> bytes:
    return network_bytes(NAME)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nn.bin"


@pytest.mark.parametrize("text", [b"", b"\xff\x80", b"ModelType=SFNNWithoutPsqt;Features=K+P[1710->64x2],Network=?"])
def test_without_a_name_an_sfnn_is_refused_with_the_possible_names(content: bytes, path: Path, text: bytes) -> None:
    path.write_bytes(with_text(content, text))
    with pytest.raises(OptionError) as caught:
        read_nnue(path)
    message = str(caught.value)
    assert caught.value.fields == ("architecture",)
    assert message.startswith(f"{path}: unknown architecture")
    assert "\n" not in message
    for name in ("SFNN_kp_64_7_32_hand64_k3k3", "SFNN_kp_64_7_32_hand64z_k3k3", "SFNN_kp_64_8_32_hand64_k3k3"):
        assert name in message


SFNN_TEXT = "ModelType=SFNNWithoutPsqt;Features=K+P[1710->{}x2],Network={}{{LayerStack={}}}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SFNN_TEXT.format(64, "SFNN_KP_64_7_32_HAND64_K4K4", 1024), "unknown part 'k4k4'"),
        (SFNN_TEXT.format(64, "SFNNwoP1536", 9), "an SFNN's name is SFNN_FEATURE_W_H1_H2"),
        (SFNN_TEXT.format(128, "SFNN_KP_128_7_32_HAND64_K3K3", 576), "expected 128 lanes, found 64"),
        (SFNN_TEXT.format(64, "SFNN_KP_64_7_96_HAND64_K3K3", 576), "truncated: .* after the first layer"),
        (SFNN_TEXT.format(64, "SFNN_KP_64_7_32_HAND64_K3K3", 9), "unknown architecture"),
    ],
)
def test_a_wrong_text_is_refused_with_the_possible_names(content: bytes, path: Path, text: str, problem: str) -> None:
    path.write_bytes(with_text(content, text.encode()))
    with pytest.raises(OptionError, match=rf"{problem}.*; by its size it could be .*{NAME}.*; name it \(`arch"):
        read_nnue(path)
    assert outputs(path, NAME) == described(content, NAME)


def test_a_wrong_text_of_a_classic_network_is_refused_with_the_possible_names(path: Path) -> None:
    content, other = network_bytes("kp_32x2_8_32"), network_bytes("kp_32x2_8_64")
    text = other[12 : 12 + struct.unpack_from("<I", other, 8)[0]]
    path.write_bytes(with_text(b"".join((content[:4], b"\1\2\3\4", content[8:])), text))
    with pytest.raises(OptionError, match=r"truncated: .*-64; by its size it could be kp_32x2-8-32; name"):
        read_nnue(path)
    assert outputs(path, "kp_32x2_8_32") == described(path.read_bytes(), "kp_32x2_8_32")


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("SFNN_kp_64_8_48_hand4", "SFNN_kp_64_7_48_hand4, SFNN_kp_64_8_48_hand4; name"),
        ("SFNN_kp_64_103_80", "SFNN_kp_64_103_80, SFNN_kp_64_104_80,"),
        ("SFNN_kp_128_7_32_c0_s64x2", "SFNN_kp_128_7_32, SFNN_kp_128_8_32, each also with shards .cC_sSxG.; name"),
        ("SFNN_kp_96_7_32", "SFNN_kp_96_7_32, SFNN_kp_96_8_32; name"),
    ],
)
def test_what_a_size_allows_is_listed(path: Path, name: str, listed: str) -> None:
    """Networks of less than 128 lanes have no shards in YaneuraOu."""
    path.write_bytes(with_text(network_bytes(name), b""))
    with pytest.raises(OptionError, match=f"by its size it could be {listed}"):
        read_nnue(path)


def test_a_network_with_layers_of_unusual_sizes_is_read_by_name(path: Path) -> None:
    content = network_bytes("SFNN_kp_64_7_33")
    path.write_bytes(with_text(content, b""))
    with pytest.raises(OptionError, match=r"no usual architecture .* may be damaged; if it is whole, name it"):
        read_nnue(path)
    assert outputs(path, "SFNN_kp_64_7_33") == described(content, "SFNN_kp_64_7_33")


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("SFNN_kp_48_7_32", "width 48: only multiples of 32"),
        ("SFNN_kp_4160_7_32", "width 4160: 1 to 4096"),
        ("SFNN_kp_32_7_1056", "hidden layer 1056: 1 to 1024"),
        ("kp_4128x2_8_32", "width 4128: 1 to 4096"),
        ("kp_32x2_1056_32", "hidden layer 1056: 1 to 1024"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_without_asking_for_a_name(path: Path, name: str, limit: str) -> None:
    path.write_bytes(network_bytes(name))
    for given in (None, name):
        with pytest.raises(ValueError, match=rf"{limit} can be evaluated$") as caught:
            read_nnue(path, architecture=given)
        assert not isinstance(caught.value, MissingSetting)


def test_a_text_beyond_the_limits_may_be_wrong(content: bytes, path: Path) -> None:
    path.write_bytes(with_text(content, SFNN_TEXT.format(64, "SFNN_KP_64_7_1056", 1).encode()))
    with pytest.raises(MissingSetting, match=rf"hidden layer 1056: .* could be {NAME}.*; name it"):
        read_nnue(path)
    assert outputs(path, NAME) == described(content, NAME)


@pytest.mark.parametrize("name", [NAME, "kp_32x2-8-32"])
def test_a_truncated_file_is_reported_alike_with_the_name_of_its_text(path: Path, name: str) -> None:
    path.write_bytes(network_bytes(name)[:-1])
    said = set()
    for given in (None, name):
        with pytest.raises(ValueError, match=f"truncated: .*; the file's text names {name}$") as caught:
            read_nnue(path, architecture=given)
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_blank_name_is_none(content: bytes, path: Path) -> None:
    path.write_bytes(with_text(content, b""))
    with pytest.raises(MissingSetting, match="name it"):
        read_nnue(path, architecture=" ")


def test_a_long_text_of_other_bytes_is_shortened(content: bytes, path: Path) -> None:
    path.write_bytes(with_text(content, b"\xff" * 300))
    with pytest.raises(MissingSetting) as caught:
        read_nnue(path)
    assert len(str(caught.value)) < len(str(path)) + 500


def test_a_name_resolves_equal_sizes(content: bytes, path: Path) -> None:
    """H1 of 7 and 8, hand64 and hand64z, and shards or none have the same sizes but other values."""
    path.write_bytes(with_text(content, b""))
    found = set()
    for name in (
        NAME,
        "SFNN_kp_64_8_32_hand64_k3k3",
        "SFNN_kp_64_7_32_hand64z_k3k3",
        "SFNN_kp_64_7_32_c32_s16x2_hand64_k3k3",
    ):
        assert outputs(path, name) == described(content, name)
        found.add(tuple(outputs(path, name)))
    assert len(found) == 4


def test_text_and_name_must_agree(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert outputs(path, NAME.upper().replace("_", "-")) == outputs(path)
    for name in ("SFNN_kp_64_8_32_hand64_k3k3", "SFNN_kp_64_7_32_c32_s16x2_hand64_k3k3"):
        with pytest.raises(OptionError, match=f"{name}: the file's text and sizes are those of {NAME}"):
            read_nnue(path, architecture=name)
    # Older files use the name hand64 for hand64z.
    older = "SFNN_kp_64_7_32_hand64z_k3k3"
    assert outputs(path, older) == described(content, older)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("SFNN_kp_64_7_32", "too long: expected .* bytes after the first layer"),
        ("SFNN_kp_64_15_32_hand64_k3k3", "truncated: expected .* bytes after the first layer"),
        ("SFNN_kp_128_7_32_hand64_k3k3", "expected 128 lanes, found 64"),
        ("SFNN_halfkp_64_7_32_hand64_k3k3", "expected 8,024,832 weights in the first layer"),
        ("SFNN_ka2_64_7_32_hand64_k3k3", "expected 114,624 weights in the first layer, found 109,440"),
        ("kp_64x2-7-32", "the file is an SFNN"),
        ("SFNN_kp_64_7_32_hand64_k4k4", "unknown part 'k4k4'"),
        ("halfkpe9_64x2_7_32", "halfkpe9 cannot be evaluated"),
        ("nonsense", "unknown feature set 'nonsense'"),
    ],
)
def test_wrong_names_are_refused(content: bytes, path: Path, name: str, problem: str) -> None:
    for text in (None, b""):
        path.write_bytes(content if text is None else with_text(content, text))
        with pytest.raises(OptionError, match=rf"{problem}.*by its size it could be .*{NAME}") as caught:
            read_nnue(path, architecture=name)
        assert caught.value.fields == ("architecture",)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["SFNN_kp_96_8_33_hand64_k9k9z", "kp_96x2-9-33"])
def test_the_architecture_of_the_text_is_listed_first(path: Path, text: str) -> None:
    """Its layers are of unusual sizes, which the list leaves out."""
    path.write_bytes(network_bytes(text))
    for name, problem in (("nonsense", "unknown feature set"), ("SFNN_kp_96_8_64", ""), ("kp_96x2-32-32", "")):
        with pytest.raises(OptionError, match=f"{problem}.*; by its size it could be {text}"):
            read_nnue(path, architecture=name)


def test_classic_networks_are_read_by_name(path: Path) -> None:
    content = network_bytes("halfkp_32x2_8_32")
    path.write_bytes(with_text(b"".join((content[:4], b"\1\2\3\4", content[8:])), b"Features=?"))
    with pytest.raises(OptionError, match=r"by its size it could be .*halfkp_32x2-8-32"):
        read_nnue(path)
    assert outputs(path, "halfkp_32x2_8_32") == described(path.read_bytes(), "halfkp_32x2_8_32")
    for name, problem in (("halfkp_32x2-8-64", "expected .* bytes"), ("SFNN_halfkp_32_7_32", "the file is no SFNN")):
        with pytest.raises(OptionError, match=problem):
            read_nnue(path, architecture=name)
    path.write_bytes(content)
    with pytest.raises(OptionError, match=r"expected .* bytes after the text"):
        read_nnue(path, architecture="kp_32x2-8-32")


def test_a_classic_network_whose_text_names_an_sfnn_is_read_by_name(path: Path) -> None:
    content = network_bytes("kp_32x2_8_32")
    path.write_bytes(with_text(content, SFNN_TEXT.format(32, "SFNN_KP_32_8_32", 1).encode()))
    with pytest.raises(ValueError, match="bias: no LEB128 block"):
        read_nnue(path)
    assert outputs(path, "kp_32x2-8-32") == described(content, "kp_32x2_8_32")
    with pytest.raises(OptionError, match="the file is no SFNN: its weights are not compressed"):
        read_nnue(path, architecture="SFNN_kp_32_8_32")


def test_hashes_of_an_sfnn_are_not_required(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    expected = outputs(path)
    other = bytearray(content)
    other[4:8] = b"\1\2\3\4"
    start = len(content) - 576 * 800
    other[12 + struct.unpack_from("<I", content, 8)[0]] ^= 1
    assert start > 0
    path.write_bytes(other)
    assert outputs(path) == expected
    kept = load_network(path).provenance[PROVENANCE]
    assert kept["file_hash"] == 0x04030201


def damaged(content: bytes) -> dict[str, tuple[bytes, str]]:
    """Draw damaged files with the text that the error must contain."""
    (text,) = struct.unpack_from("<I", content, 8)
    bias = 12 + text + 4
    weights = bias + 21 + struct.unpack_from("<I", content, bias + 17)[0]
    payload = weights + 21
    length = struct.unpack_from("<I", content, weights + 17)[0]

    def put(at: int, part: bytes) -> bytes:
        return content[:at] + part + content[at + len(part) :]

    return {
        "one byte short": (content[:-1], "truncated: expected .* bytes after the first layer, found"),
        "one byte more": (content + b"\0", "too long: expected .* bytes after the first layer, found"),
        "no stacks": (content[: payload + length], "truncated: expected .* bytes after the first layer, found 0"),
        "half the rows": (content[: payload + length // 2], "truncated: a LEB128 block of .* bytes"),
        "half a block's header": (content[: weights + 10], "no LEB128 block|truncated"),
        "no block": (content[:bias], "bias: truncated: a LEB128 block is missing"),
        "half a block's name": (content[: bias + 5], "bias: truncated: a LEB128 block is missing"),
        "not compressed": (put(bias, b"COMPRESSED_LEB129"), "bias: no LEB128 block"),
        "one not compressed": (put(weights, b"x"), "weights: no LEB128 block"),
        "a longer block": (
            put(weights + 17, struct.pack("<I", length + 1)),
            "expected 999,936 bytes after the first layer, found 999,935",
        ),
        "a block beyond the end": (put(weights + 17, b"\xff" * 4), "truncated: a LEB128 block of 4,294,967,295 bytes"),
        "an empty block": (put(bias + 17, b"\0" * 4), "bias: a LEB128 block of 0 bytes, expected 32 to 4,096 values"),
        "a long value": (put(payload + 5, b"\x80" * 4), "a LEB128 value of more than 3 bytes"),
        "a large value": (put(payload + 5, b"\x80\x80\x02"), "a LEB128 value of 32,768, which is no int16"),
        "too few values": (put(payload + 5, b"\x80\x00"), "109,439 values in the LEB128 block, expected 109,440"),
        "a value that has no end": (put(payload + length - 1, b"\x80"), "the LEB128 block ends within a value"),
    }


@pytest.mark.parametrize("kind", damaged(network_bytes(NAME)))
def test_damage_is_reported_in_one_line(kind: str, content: bytes, path: Path) -> None:
    whole, problem = damaged(content)[kind]
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=problem) as caught:
        read_nnue(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_longer_forms_of_numbers_are_read(content: bytes, path: Path) -> None:
    """A zero may take three bytes; YaneuraOu reads it too."""
    path.write_bytes(content)
    rows = load_network(path).rows.reshape(-1)
    at = int(np.flatnonzero(rows == 0)[0])
    (text,) = struct.unpack_from("<I", content, 8)
    bias = 12 + text + 4
    weights = bias + 21 + struct.unpack_from("<I", content, bias + 17)[0]
    (length,) = struct.unpack_from("<I", content, weights + 17)
    values = np.frombuffer(content[weights + 21 : weights + 21 + length], np.uint8)
    place = weights + 21 + int(np.flatnonzero(values < 128)[at])
    longer = content[:place] + b"\x80\x80\x00" + content[place + 1 :]
    path.write_bytes(longer[: weights + 17] + struct.pack("<I", length + 2) + longer[weights + 21 :])
    assert (load_network(path).rows.reshape(-1) == rows).all()
