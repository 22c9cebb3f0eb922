"""YaneuraOu's nn.bin: read to the bit, held against a slow reading of its published description; refused in words."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.evaluation.network import EvalNetwork, evaluate_reference
from search.evaluation.network_file import load_network
from search.evaluation.network_record import network_record
from search.evaluation.nnue_file import Architecture, read_nnue
from search.evaluation.static_evaluation import evaluate_sfens
from search.rules.sfen import get_sfen, position_from_sfen
from search.rules.shogi import EMPTY, KINDS

HANDICAPS = (
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/9/9/4K4 b - 1",
    "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1",
)
HAND_BASE = {"P": (1, 20), "L": (39, 44), "N": (49, 54), "S": (59, 64), "G": (69, 74), "B": (79, 82), "R": (85, 88)}
BOARD_BASE = dict(zip(("P", "L", "N", "S", "G", "B", "+B", "R", "+R"), range(90, 1548, 162), strict=True))


def active_features(sfen: str, features: str) -> list[list[int]]:
    """Indices by the description's words: the mover's, then the other side's."""
    board, turn, hands, _ = sfen.split()
    pieces, promoted = [], ""
    for rank, row in enumerate(board.split("/")):
        file = 8
        for letter in row:
            if letter.isdigit():
                file -= int(letter)
            elif letter == "+":
                promoted = "+"
            else:
                pieces.append((promoted + letter.upper(), letter.isupper(), file * 9 + rank))
                promoted, file = "", file - 1
    held, count = [], ""
    for letter in hands.replace("-", ""):
        if letter.isdigit():
            count += letter
        else:
            held.append((letter.upper(), letter.isupper(), int(count or 1)))
            count = ""
    found = []
    for black in (turn == "b", turn != "b"):
        seen: list[int] = []
        kings = {}
        for name, piece_black, square in pieces:
            own, place = piece_black == black, square if black else 80 - square
            if name == "K":
                kings[own] = place
            else:
                base = BOARD_BASE.get(name, BOARD_BASE["G"])
                seen.append(base + (0 if own else 81) + place)
        for name, piece_black, number in held:
            base = HAND_BASE[name][0 if piece_black == black else 1]
            seen += range(base, base + number)
        seen += [0] * (38 - len(seen))
        if features == "half_kp":
            found.append([1548 * kings[True] + index for index in seen])
        else:
            found.append([*seen, 1548 + kings[True], 1548 + 81 + kings[False]])
    return found


def slow_output(content: bytes, sfen: str, features: str, width: int, first: int, second: int) -> int:
    """The raw output, straight from a file's bytes, in Python's own integers."""
    place = 12 + int.from_bytes(content[8:12], "little") + 4
    rows = place + 2 * width

    def number(at: int, size: int) -> int:
        return int.from_bytes(content[at : at + size], "little", signed=True)

    inputs = []
    for active in active_features(sfen, features):
        for lane in range(width):
            total = number(place + 2 * lane, 2)
            total += sum(number(rows + 2 * (index * width + lane), 2) for index in active)
            total = (total + (1 << 15)) % (1 << 16) - (1 << 15)
            inputs.append(min(max(total, 0), 127))
    place = rows + 2 * width * {"half_kp": 125_388, "k_p": 1710}[features] + 4
    for outputs in (first, second, 1):
        row = -(-len(inputs) // 32) * 32
        weights = place + 4 * outputs
        sums = []
        for output in range(outputs):
            products = (number(weights + row * output + index, 1) * value for index, value in enumerate(inputs))
            sums.append(number(place + 4 * output, 4) + sum(products))
        place = weights + row * outputs
        inputs = [min(max(total >> 6, 0), 127) for total in sums]
    assert place == len(content)
    return sums[0]


def walk(play_random, count: int) -> Iterator[str]:
    """SFENs of random games, every seventh position."""
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


@pytest.mark.parametrize(("width", "first", "second"), [(32, 8, 32), (64, 32, 16)])
@pytest.mark.parametrize("features", ["half_kp", "k_p"])
def test_evaluation_is_that_of_the_description(
    features: str, width: int, first: int, second: int, nnue_content: Callable[..., bytes], play_random, tmp_path: Path
) -> None:
    content = nnue_content(features, width, first, second)
    path = tmp_path / "nn.bin"
    path.write_bytes(content)
    net = load_network(path)
    assert (net.feature_set.name, net.width, net.perspectives) == (features, width, 2)
    assert [len(layer.bias) for layer in net.layers] == [first, second, 1]
    sfens = [*HANDICAPS, *walk(play_random, 2)]
    expected = [slow_output(content, sfen, features, width, first, second) for sfen in sfens]
    assert len(set(expected)) > len(sfens) / 2
    assert reference_outputs(net, sfens) == expected
    found = evaluate_sfens(net, sfens)
    assert [one.output for one in found] == expected
    assert [one.score_cp for one in found] == [int(output / 16) for output in expected]  # toward zero


def test_a_score_is_the_output_divided_by_fv_scale(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32))
    output = evaluate_sfens(read_nnue(tmp_path / "nn.bin"), [HANDICAPS[0]])[0].output
    for fv_scale in (1, 16, 24):
        net = load_network(tmp_path / "nn.bin", fv_scale)
        (found,) = evaluate_sfens(net, [HANDICAPS[0]])
        assert found.score_cp == max(-20000, min(20000, int(output / fv_scale)))
    with pytest.raises(ValueError, match=r"nn\.bin: FV_SCALE 0: 1 to"):
        read_nnue(tmp_path / "nn.bin", 0)


def test_updates_along_a_game_equal_a_fresh_start(
    nnue_content: Callable[..., bytes], play_random, tmp_path: Path
) -> None:
    """Kings move in every random game, so refreshes and updates alternate."""
    from search.evaluation.accumulator import Accumulators, evaluate_output

    (tmp_path / "nn.bin").write_bytes(nnue_content("half_kp", 32, 32, 32))
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
    assert str(half_kp) == "HalfKP 256x2-32-32"


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
def test_words_are_not_needed(words: str | bytes, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    """As in YaneuraOu; trainers exist that write the same words whatever they trained."""
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32))
    (tmp_path / "other.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words))
    other, known = (load_network(tmp_path / name) for name in ("other.bin", "nn.bin"))
    assert evaluate_sfens(other, HANDICAPS) == evaluate_sfens(known, HANDICAPS)


def test_hashes_are_not_needed_where_the_words_fit(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    path = tmp_path / "nn.bin"
    path.write_bytes(nnue_content("k_p", 32, 8, 32, hashes=(1, 0, 2)))
    kept = load_network(path).provenance["nn_bin"]
    assert (kept["file_hash"], kept["feature_hash"], kept["network_hash"]) == (1, 0, 2)


def test_words_may_name_the_divisor(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    words = WORDS["older words"] + ",fv_scale=24,qa=127,qb=64"
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words))
    assert load_network(tmp_path / "nn.bin").output_divisor == 24
    assert read_nnue(tmp_path / "nn.bin", 16).output_divisor == 16


def test_any_name_will_do(nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "suisho").write_bytes(nnue_content("k_p", 32, 8, 32))
    assert load_network(tmp_path / "suisho").feature_set.name == "k_p"


def damaged(content: bytes) -> dict[str, tuple[bytes, str]]:
    """Damage of many kinds, with what must be said of it."""
    words = int.from_bytes(content[8:12], "little")
    body = 12 + words
    size = len(content) - body
    other = content[:12] + content[12:body].replace(b"K+P[1710", b"A+P[1710") + b"\1\1\1\1" + content[body + 4 :]
    squared = content[:12] + content[12:body].replace(b"ClippedReLU[32]", b"SqrClippReLU[9]") + content[body:]
    return {
        "empty": (b"", r"truncated: 0 bytes, expected an nn\.bin with a header of 12"),
        "half a number": (content[:3], "truncated: 3 bytes"),
        "half a header": (content[:10], "truncated: 10 bytes"),
        "half the words": (content[:50], f"truncated: 50 bytes, expected {words} bytes of words"),
        "one byte short": (content[:-1], f"1 bytes are missing: found {size - 1:,} .* {size:,} for K.P 32x2-8-32"),
        "half": (
            content[: len(content) // 2],
            "truncated: .* bytes are missing: found .* expected .* for K.P 32x2-8-32",
        ),
        "one byte more": (content + b"\0", f"1 bytes too many: found {size + 1:,} .* expected {size:,} for K.P"),
        "twice": (content * 2, "bytes too many"),
        "another version": (b"\x20\x2f\xf3\x7a" + content[4:], r"version 0x7AF32F20, expected 0x7AF32F16"),
        "endless words": (content[:8] + b"\xff" * 4 + content[12:], "4,294,967,295 bytes of words"),
        "another feature set": (other, r"unknown architecture: found 'Features=A\+P.*0x01010101; expected HalfKP"),
        "another activation": (squared, "unknown architecture: found .*SqrClipp.*; expected .* with ClippedReLU"),
        "weights for no input": (content[:-37] + b"\1" + content[-36:], "layer 2: weights for more than its 8 inputs"),
    }


KINDS_OF_DAMAGE = tuple(damaged(b"\0" * 200))


@pytest.mark.parametrize("kind", KINDS_OF_DAMAGE)
def test_refused_in_words(kind: str, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    content, expected = damaged(nnue_content("k_p", 32, 8, 32))[kind]
    path = tmp_path / "nn.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=expected) as error:
        load_network(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@settings(max_examples=300)
@given(data=st.data())
def test_no_file_is_read_into_nonsense(data: st.DataObject, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    """Cut, lengthened or overwritten anywhere: refused in words, or a network whose weights alone are others."""
    content = bytearray(nnue_content("k_p", 32, 8, 32))
    length = len(content)
    for _ in range(data.draw(st.integers(1, 3))):
        # The header is where damage shows.
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
def test_words_that_break_off(words: bytes, nnue_content: Callable[..., bytes], tmp_path: Path) -> None:
    (tmp_path / "nn.bin").write_bytes(nnue_content("k_p", 32, 8, 32, words, hashes=(0, 0, 0)))
    with pytest.raises(ValueError, match=r"unknown architecture|bytes of words"):
        load_network(tmp_path / "nn.bin")


@pytest.mark.slow
def test_evaluation_equals_what_yaneuraou_printed(tmp_path: Path) -> None:
    """Every set of the recorded vectors, to the integer, by NumPy and by this machine's kernel."""
    folder = Path(os.environ.get("LITESHOGI_DATA", "../shared/data")) / "nnue"
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
