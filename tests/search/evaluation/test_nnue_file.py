"""YaneuraOu's nn.bin: it is read exactly, compared with a slow reader of the published description, or refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.evaluation.accumulator import Accumulators, evaluate_output
from search.evaluation.network import EvalNetwork, evaluate_reference
from search.evaluation.network_file import load_network
from search.evaluation.network_record import network_record
from search.evaluation.nnue_architecture import Architecture, parse_name
from search.evaluation.nnue_file import read_nnue
from search.evaluation.nnue_identification import MissingSetting
from search.evaluation.shipped import network_file
from search.evaluation.static_evaluation import evaluate_sfens
from search.rules.sfen import get_sfen, position_from_sfen
from search.rules.shogi import EMPTY, KINDS
from tests.yaneuraou_description import Description
from tests.yaneuraou_networks import network_bytes

VECTORS = Path(__file__).parents[2] / "data" / "yaneuraou_vectors.json"

HANDICAPS = (
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/9/9/4K4 b - 1",
    "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1",
)


def walk(play_random, count: int) -> Iterator[str]:
    """Yield SFENs of every seventh position of random games."""
    for seed in range(count):
        for ply, (pos, _) in enumerate(play_random("startpos", seed, 150)):
            if ply % 7 == 0:
                yield get_sfen(pos)


def movers_view(sfen: str) -> tuple[np.ndarray, np.ndarray]:
    pos = position_from_sfen(sfen)
    board, hands = pos["board"].astype(np.int64), pos["hands"].reshape(-1).copy()
    if pos["turn"]:
        board = np.where(board == EMPTY, EMPTY, (board + KINDS) % (2 * KINDS))[::-1]
        hands = np.roll(hands, 7)
    return board.astype(np.uint8), hands


def reference_outputs(net: EvalNetwork, sfens: list[str]) -> list[int]:
    pieces, hands = (np.array(part) for part in zip(*map(movers_view, sfens), strict=True))
    return [int(one) for one in evaluate_reference(net, pieces, hands, np.zeros(len(sfens), np.bool_))[:, 0]]


SMALL_NAMES = (
    "halfkp_32x2-8-32",
    "kp_64x2-32-16",
    "ka2_32x2-7-9",
    "halfkpvm_32x2-8-32",
    "halfka1_32x2-8-32",
    "halfkahm1_32x2-8-32",
    "halfka2_32x2-8-32",
    "halfkahm2_32x2-8-32",
    "SFNN_kp_64_7_32_hand16_k9k9z_progress3",
    "SFNN_kp_64_7_32_hand256",
    "SFNN_ka2_96_8_64_hand1024",
    "SFNN_kp_128_15_32_c0_s16x8_hand4_k29k29",
    "SFNN_ka2_64_16_32_c32_s8x4_progress16_hand64",
    "SFNN_kp_64_7_48_hand16_k21k21",
    "SFNN_halfkahm2_64_7_32_hand64z_progress32",
)


@pytest.mark.parametrize("edge", [False, True], ids=["", "edge"])
@pytest.mark.parametrize("name", SMALL_NAMES)
def test_evaluation_equals_that_of_the_description(name: str, edge: bool, play_random, tmp_path: Path) -> None:
    content = network_bytes(name, 5, edge)
    path = tmp_path / "nn.bin"
    path.write_bytes(content)
    net = load_network(path)
    described = Description(content, name)
    assert (net.width, net.perspectives) == (described.width, 2)
    sfens = [*HANDICAPS, *list(walk(play_random, 1))[::4]]
    expected = [described.output(sfen) for sfen in sfens]
    assert len(set(expected)) > len(sfens) / 2
    assert reference_outputs(net, sfens) == expected
    found = evaluate_sfens(net, sfens)
    assert [one.output for one in found] == expected
    divided = [int(output / 16) for output in expected]  # toward zero
    assert [one.score_cp for one in found] == [max(-20000, min(20000, one)) for one in divided]


def recorded_sets() -> list[dict]:
    return json.loads(VECTORS.read_text(encoding="utf-8"))["sets"]


@pytest.mark.parametrize("part", recorded_sets(), ids=lambda part: part["architecture"])
def test_values_equal_those_that_yaneuraou_printed(part: dict, tmp_path: Path) -> None:
    content = network_bytes(part["architecture"], part["seed"], part["edge"])
    assert hashlib.sha256(content).hexdigest() == part["sha256"]
    (tmp_path / "nn.bin").write_bytes(content)
    net = load_network(tmp_path / "nn.bin")
    sfens = json.loads(VECTORS.read_text(encoding="utf-8"))["sfens"]
    assert reference_outputs(net, sfens) == part["raw"]
    assert [one.output for one in evaluate_sfens(net, sfens)] == part["raw"]


def test_a_score_is_the_output_divided_by_fv_scale(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32))
    output = evaluate_sfens(read_nnue(tmp_path / "nn.bin"), [HANDICAPS[0]])[0].output
    for fv_scale in (1, 16, 24):
        net = load_network(tmp_path / "nn.bin", fv_scale)
        (found,) = evaluate_sfens(net, [HANDICAPS[0]])
        assert found.score_cp == max(-20000, min(20000, int(output / fv_scale)))
    with pytest.raises(ValueError, match=r"nn\.bin: FV_SCALE 0: 1 to"):
        read_nnue(tmp_path / "nn.bin", 0)


@pytest.mark.parametrize("name", ["halfkp_32x2-32-32", "SFNN_halfkahm2_64_7_32_k3k3_progress8"])
def test_updates_along_a_game_equal_a_fresh_start(name: str, play_random, tmp_path: Path) -> None:
    """Kings move in every random game, so refreshes and updates alternate."""
    (tmp_path / "nn.bin").write_bytes(network_bytes(name))
    net = load_network(tmp_path / "nn.bin")
    accumulators = Accumulators(net)
    found, sfens = [], []
    for seed in range(3):
        for pos, _ in play_random("startpos", seed, 120):
            found.append(int(evaluate_output(pos, accumulators.record, network_record(net))))
            sfens.append(get_sfen(pos))
    assert found == reference_outputs(net, sfens)


def test_the_known_architectures_have_the_published_hashes_and_sizes() -> None:
    half_kp, k_p = (Architecture(name, 256, (32, 32)) for name in ("half_kp", "k_p"))
    assert (half_kp.feature_hash, half_kp.network_hash, half_kp.file_hash) == (0x5D69D7B8, 0x63337156, 0x3E5AA6EE)
    assert (k_p.feature_hash, k_p.file_hash) == (0x3F5715FF, 0x5C6464A9)
    assert len(half_kp.words) == 189
    assert 12 + len(half_kp.words) + half_kp.body_size == 64_217_077
    assert 12 + 176 + k_p.body_size == 893_928
    assert str(half_kp) == "halfkp_256x2-32-32"
    sfnn = parse_name("SFNN1536")
    assert (sfnn.file_hash, sfnn.stacks, sfnn.stack_bytes) == (0x3C203B32, 9, 25832)
    assert parse_name("SFNN_halfka2_1024_7_64_k3k3").stack_bytes == 10600
    sizes = ((512, 16, 32, 0x633376CA), (768, 16, 64, 0x6333719A), (1024, 8, 96, 0x63336A34))
    for width, first, second, expected in sizes:
        assert Architecture("half_kp", width, (first, second)).network_hash == expected


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("NNUE", "halfkp_256x2-32-32"),
        ("yaneuraou_engine_NNUE_KP256", "kp_256x2-32-32"),
        ("NNUE_HALFKP_VM_256X2_32_32", "halfkpvm_256x2-32-32"),
        ("sfnn1536", "SFNN_halfkahm2_1536_15_32_k3k3"),
        ("SFNN-kp-64-8-32-progress2-K9K9-hand4", "SFNN_kp_64_8_32_hand4_k9k9_progress2"),
        ("SFNN_kp_64_8_32_king3_by_king3", "SFNN_kp_64_8_32_k3k3"),
        ("SFNN_ka2_128_7_64_c0_s16x8", "SFNN_ka2_128_7_64_c0_s16x8"),
    ],
)
def test_names_of_architectures_are_read(name: str, same: str) -> None:
    assert str(parse_name(name)) == same
    assert parse_name(same) == parse_name(name)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("halfkpe9_256x2_32_32", "halfkpe9 cannot be evaluated"),
        ("halfxy_256x2_32_32", "unknown feature set 'halfxy'"),
        ("halfkp_100x2_32_32", "width 100: only multiples of 32 can be evaluated"),
        ("halfkp_8192x2_32_32", "width 8192: 1 to 4096 can be evaluated"),
        ("halfkp_256_32_32", "a classic name is"),
        ("halfkp_256x2_32_0", "hidden layer 0: 1 to 1024 can be evaluated"),
        ("SFNN_kp_64_9_32", "first hidden layer 9"),
        ("SFNN_kp_64_7", "an SFNN's name is"),
        ("SFNN_kp_64_7_32_k4k4", "unknown part 'k4k4'"),
        ("SFNN_kp_64_7_32_hand4_hand16", "two hand axes"),
        ("SFNN_kp_64_7_32_c0_s16x8", "shards c0_s16x8: C [+] S[*]G must be 64"),
        ("SFNN_kp_64_7_32_c0", "shards are named"),
        ("", "halfkp"),
    ],
)
def test_names_of_unknown_architectures_are_refused(name: str, problem: str) -> None:
    if name == "":
        assert str(parse_name(name)) == "halfkp_256x2-32-32"
        return
    with pytest.raises(ValueError, match=problem):
        parse_name(name)


WORDS = {
    "older words": "Features=K+P[1710->32x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-8]("
    "ClippedReLU[8](AffineTransform[8<-64](InputSlice[64(0:64)])))))",
    "words of other dimensions": "Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-256](ClippedReLU"
    "[256](AffineTransform[256<-256](ClippedReLU[256](AffineTransform[256<-512](InputSlice[512(0:512)])))))",
    "no words": "",
    "other words": "雑巾",
    "no UTF-8": b"\xff\x80\x00",
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_text_is_not_required(words: str | bytes, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    """As in YaneuraOu, because some trainers write the same text for all networks."""
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32))
    (tmp_path / "other.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words))
    other, known = (load_network(tmp_path / name) for name in ("other.bin", "nn.bin"))
    assert evaluate_sfens(other, HANDICAPS) == evaluate_sfens(known, HANDICAPS)


def test_hashes_are_not_required_if_the_text_fits(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    path.write_bytes(nnue_content("k_p", 32, 8, 32, hashes=(1, 0, 2)))
    kept = load_network(path).provenance["nn_bin"]
    assert (kept["file_hash"], kept["feature_hash"], kept["network_hash"]) == (1, 0, 2)


def test_the_text_may_give_the_divisor(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    words = WORDS["older words"] + ",fv_scale=24,qa=127,qb=64"
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words))
    assert load_network(tmp_path / "nn.bin").output_divisor == 24
    assert read_nnue(tmp_path / "nn.bin", 16).output_divisor == 16


@pytest.mark.parametrize("scale", ["0", "1025", "99999", "-1", "24.5", "1_6", ""])
def test_a_divisor_in_the_text_that_cannot_be_used_must_be_given(
    scale: str, nnue_content: Callable[..., bytes], tmp_path: Path
) -> None:
    path, words = tmp_path / "nn.bin", WORDS["older words"] + f",fv_scale={scale}"
    path.write_bytes(nnue_content("k_p", 32, 8, 32, words + ",qa=127"))
    with pytest.raises(
        MissingSetting, match=rf"nn\.bin: the file's text: fv_scale='{scale}': must be 1 to 1024; set `fv"
    ) as refused:
        read_nnue(path)
    assert (refused.value.fields, refused.value.path) == (("fv_scale",), path)
    assert read_nnue(path, 24).output_divisor == 24


def test_the_file_may_have_any_name(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "suisho").write_bytes(nnue_content("k_p", 32, 8, 32))
    assert load_network(tmp_path / "suisho").feature_set.name == "k_p"


def damaged(content: bytes) -> dict[str, tuple[bytes, str]]:
    """Draw damaged files with the text that the error must contain."""
    words = int.from_bytes(content[8:12], "little")
    body = 12 + words
    size = len(content) - body
    other = content[:12] + content[12:body].replace(b"K+P[1710", b"A+P[1710") + b"\1\1\1\1" + content[body + 4 :]
    squared = content[:12] + content[12:body].replace(b"ClippedReLU[32]", b"SqrClippReLU[9]") + content[body:]
    attacks = content[:12] + content[12:body].replace(b"K+P[1710", b"HalfKPE9(Friend)[1710") + content[body:]
    attacks = attacks[:8] + (words + 13).to_bytes(4, "little") + attacks[12:]
    return {
        "empty": (b"", r"truncated: expected an nn\.bin with a header of 12 bytes, found 0"),
        "half a number": (content[:3], "truncated: .*, found 3$"),
        "half a header": (content[:10], "truncated: .*, found 10$"),
        "half the words": (content[:50], f"truncated: expected {words} bytes of text .*, found 50 bytes"),
        "one byte short": (content[:-1], f"truncated: expected {size:,} .*, found {size - 1:,}; .* names kp_32x2-8-32"),
        "half": (
            content[: len(content) // 2],
            "truncated: expected .*, found .*; the file's text names kp_32x2-8-32",
        ),
        "one byte more": (content + b"\0", f"too long: expected {size:,} .*, found {size + 1:,}; .* names kp"),
        "twice": (content * 2, "too long"),
        "another version": (b"\x20\x2f\xf3\x7a" + content[4:], r"version 0x7AF32F20, expected 0x7AF32F16"),
        "a network of LiteShogi": (network_file("default").read_bytes(), "a safetensors file, not an nn.bin"),
        "endless words": (content[:8] + b"\xff" * 4 + content[12:], "4,294,967,295 bytes of text"),
        "another feature set": (
            other,
            r"unknown architecture: found 'Features=A\+P.*0x01010101; by its size it could be kp_32x2-8-32; name it",
        ),
        "another activation": (squared, "unknown architecture: found .*SqrClipp.*; by its size it could be kp_32x2-"),
        "attacks": (attacks, r"nn\.bin: the file's text: halfkpe9 cannot be evaluated"),
    }


KINDS_OF_DAMAGE = tuple(damaged(b"\0" * 200))


@pytest.mark.parametrize("kind", KINDS_OF_DAMAGE)
def test_damaged_files_are_refused_with_an_error(kind: str, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    content, expected = damaged(nnue_content("k_p", 32, 8, 32))[kind]
    path = tmp_path / "nn.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=expected) as error:
        load_network(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@settings(max_examples=300)
@given(data=st.data())
def test_changed_files_are_refused_or_differ_only_in_weights(
    data: st.DataObject, nnue_content: Callable[..., bytes], tmp_path: Path
) -> None:
    """A file that is truncated, extended or overwritten is refused, or only the weights differ."""
    content = bytearray(nnue_content("k_p", 32, 8, 32))
    length = len(content)
    for _ in range(data.draw(st.integers(1, 3))):
        # Damage to the header is detected.
        at = data.draw(st.one_of(st.integers(0, 220), st.integers(0, len(content))))
        part = data.draw(st.binary(max_size=6))
        if data.draw(st.booleans()):
            content[at : at + len(part)] = part
        else:
            content[at:] = part
    path = tmp_path / "nn.bin"
    path.write_bytes(content)
    problem, net = "", None
    try:
        net = load_network(path)
    except ValueError as error:
        problem = str(error)
    if net is None:
        assert problem.startswith(f"{path}: ")
        assert "\n" not in problem
    else:
        assert len(content) == length
        assert (net.feature_set.name, net.width, [len(layer.bias) for layer in net.layers]) == ("k_p", 32, [8, 32, 1])


@pytest.mark.parametrize("words", [b"Features=K+P[1710->32x2],Network=AffineTransform[1<-", b"=" * 70000, b"[" * 3000])
def test_a_truncated_text_is_refused(words: bytes, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words, hashes=(0, 0, 0)))
    with pytest.raises(ValueError, match=r"unknown architecture|bytes of text"):
        load_network(tmp_path / "nn.bin")


@pytest.mark.slow
def test_recorded_values_of_the_family_are_reproduced(tmp_path: Path, data_folder: Path) -> None:
    """Compare all architectures and positions of the recorded vectors, by NumPy and by this machine's kernel."""
    path = data_folder / "nnue" / "sfnn_vectors.json"
    if not path.is_file():
        pytest.skip("the recorded vectors are not available")
    vectors = json.loads(path.read_text())
    for part in vectors["sets"]:
        name, _, seed, *edge = part["make_sfnn"]
        (tmp_path / "nn.bin").write_bytes(network_bytes(name, int(seed), bool(edge)))
        if "e9" in name:
            with pytest.raises(ValueError, match="halfkpe9 cannot be evaluated"):
                load_network(tmp_path / "nn.bin")
            continue
        net = load_network(tmp_path / "nn.bin")
        assert reference_outputs(net, vectors["sfens"]) == part["raw"], name
        assert [one.output for one in evaluate_sfens(net, vectors["sfens"])] == part["raw"], name


@pytest.mark.slow
def test_evaluation_equals_what_yaneuraou_printed(tmp_path: Path, data_folder: Path) -> None:
    """Compare every set of the recorded vectors exactly, by NumPy and by this machine's kernel."""
    folder = data_folder / "nnue"
    if not folder.is_dir():
        pytest.skip("the recorded vectors are not at hand")
    vectors = json.loads((folder / "yaneuraou_eval_vectors.json").read_text())
    sfens, compared = vectors["sfens"], 0
    for name in sorted({part["net"] for part in vectors["sets"]}):
        path = tmp_path / "nn.bin"
        subprocess.run([sys.executable, folder / "make_nn.py", *name.split("-"), path], check=True)
        assert {hashlib.sha256(path.read_bytes()).hexdigest()} == {
            part["sha256"] for part in vectors["sets"] if part["net"] == name
        }
        reference = reference_outputs(load_network(path), sfens)
        for part in vectors["sets"]:
            if part["net"] == name:
                net = read_nnue(path, part["fv_scale"])
                assert reference == part["raw_output_int32"]
                found = evaluate_sfens(net, sfens)
                assert [one.output for one in found] == part["raw_output_int32"]
                assert [one.score_cp for one in found] == part["eval"]
                compared += len(found)
    assert compared == sum(len(part["eval"]) for part in vectors["sets"]) > 0
