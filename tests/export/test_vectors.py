"""The reader printed in the document of the network file agrees with the engine to the bit."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from export.vectors import POSITIONS, write_vectors
from liteshogi.commands.export import Command as Export
from search.evaluation.evaluation_speed import random_games, random_network
from search.evaluation.feature_sets import king_piece_square
from search.evaluation.network import PAIRWISE, EvalNetwork, Shards
from search.evaluation.network_file import _checksum, load_network, save_network
from search.evaluation.shipped import network_file, shipped_names
from search.evaluation.static_evaluation import evaluate_batch, evaluate_sfens
from search.rules.play import set_game, split_moves
from search.rules.position import do_move, new_position
from search.rules.sfen import get_sfen, position_from_sfen
from search.rules.shogi import HAND_KINDS, SQUARES
from search.rules.view import view_position

DOCUMENT = Path(__file__).parents[2] / "docs" / "how" / "network_reader.md"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the document's reader as a file: the reader, YaneuraOu's rows, stacks, and a comparison with vectors."""
    parts = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert [sum(map(bool, part.split("\n"))) for part in parts] == [81, 19, 39, 8]  # as the document says
    path = tmp_path_factory.mktemp("reader") / "reader.py"
    path.write_text("\n\n".join(parts), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def evaluate(reader: Path) -> SimpleNamespace:
    names: dict[str, Any] = {"__name__": "reader"}
    exec(reader.read_text(encoding="utf-8"), names)
    return SimpleNamespace(**names)


def vectors_of(name: str) -> Path:
    """Return the path of a shipped network's vectors, which are beside it."""
    return network_file(name).with_suffix(".vectors.json")


def test_every_shipped_network_has_its_vectors() -> None:
    written = network_file("default").parent.glob("*.vectors.json")
    assert {path.name for path in written} == {vectors_of(name).name for name in shipped_names()}


@pytest.mark.parametrize("name", shipped_names())
def test_the_command_writes_the_recorded_vectors(name: str, tmp_path: Path) -> None:
    Export(name, tmp_path / "vectors.json").run()
    written, kept = (tmp_path / "vectors.json").read_text(), vectors_of(name).read_text()
    assert written == kept, f"liteshogi export {name} -o {vectors_of(name)} --overwrite"


@pytest.mark.parametrize("name", shipped_names())
def test_the_documents_reader_agrees_with_the_vectors(name: str, reader: Path) -> None:
    arguments = [sys.executable, "-I", reader, network_file(name), vectors_of(name)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("agrees: ") == len(POSITIONS)


SFNN = {"hidden_squares": True, "shortcut": True}


def _networks() -> dict[str, EvalNetwork]:
    random = {
        "shifted, wrapping": random_network("piece_square", 32, (5, 3), 2),
        "draw": random_network("piece_square", 64, (16,), 1, ("value", "draw")),
        "no hidden layer": random_network("k_p", 32, (), 1),
        "k_p": random_network("k_p", 32, (17, 33), 2),
        "half_kp": random_network("half_kp", 32, (7,), 2),
        "squared": random_network("piece_square", 32, (8,), 1, activation="squared_clipped_relu"),
        "dual": random_network("piece_square", 32, (8,), 2, ("value", "draw"), "dual_clipped_relu", 4),
        "king buckets": random_network("king_piece_square", 32, (8,), 2),
        "sfnn": random_network("half_ka_hm2", 32, (8, 5), 2, activation=PAIRWISE, stacks=("k3k3",), **SFNN),
        "mirrored, hand": random_network("half_kp_vm", 32, (5,), 2, stacks=("hand64",)),
        "k_a2, progress": random_network("k_a2", 32, (6,), 1, activation=PAIRWISE, stacks=("progress8", "hand64z")),
        "two of a king": random_network("half_ka_hm1", 32, (5,), 2, shortcut=True, stacks=("k29k29",)),
        "shards, both kings": random_network("half_ka1", 32, (6,), 2, shards=Shards(32, 16, 2), stacks=("k9k9z",)),
        "squares, one plane": random_network("half_ka2", 32, (6,), 1, hidden_squares=True, buckets=5),
    }
    odd = random["shifted, wrapping"]
    random["shifted, wrapping"] = dataclasses.replace(odd, rows=odd.rows * np.int16(600), input_shift=5)
    random["k_p"] = dataclasses.replace(random["k_p"], output_divisor=24, logit_per_output=0.0017, cp_per_logit=512.7)
    nine = random["king buckets"]
    two = king_piece_square(np.arange(81) % 9 // 5)
    rows = np.concatenate((nine.rows[: two.rows - 1], nine.rows[-1:]))
    return random | {"two buckets": dataclasses.replace(nine, feature_set=two, rows=rows)}


NETWORKS = _networks()


@pytest.mark.parametrize("name", NETWORKS)
def test_the_documents_reader_agrees_on_every_feature_set(
    name: str, reader: Path, evaluate: SimpleNamespace, tmp_path: Path
) -> None:
    save_network(NETWORKS[name], tmp_path / "net.safetensors")
    write_vectors(NETWORKS[name], "net.safetensors", tmp_path / "vectors.json")
    arguments = [sys.executable, "-I", reader, tmp_path / "net.safetensors", tmp_path / "vectors.json"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    net = evaluate.read(tmp_path / "net.safetensors")
    sums = [found for sfen in POSITIONS for found in evaluate.sums(net, sfen, False)[1]]
    assert len({tuple(found) for found in sums}) > len(POSITIONS) // 2


def test_the_documents_reader_agrees_along_a_game(evaluate: SimpleNamespace) -> None:
    net, pos, positions = evaluate.read(network_file("lite-16-4-32")), position_from_sfen("startpos"), []
    for move in random_games(1, 150, seed=5).moves:
        do_move(pos, np.int64(move))
        positions.append((get_sfen(pos), bool(pos["checkers"].any())))
    assert any(in_check for _, in_check in positions)
    said = evaluate_sfens(load_network("lite-16-4-32"), [sfen for sfen, _ in positions])
    for (sfen, in_check), one in zip(positions, said, strict=True):
        assert evaluate.evaluate(net, sfen, in_check) == ([one.output], one.score_cp)


@pytest.mark.parametrize("name", [name for name, net in NETWORKS.items() if len(net.rows) < 130_000])
def test_the_documents_reader_agrees_without_kings(name: str, evaluate: SimpleNamespace, tmp_path: Path) -> None:
    """The engine refuses such positions; programs for mate problems and the C++ header accept them."""
    net = NETWORKS[name]
    save_network(net, tmp_path / "net.safetensors")
    read, pos = evaluate.read(tmp_path / "net.safetensors"), new_position()
    pieces, hands = np.zeros((1, SQUARES), np.uint8), np.zeros((1, 2 * HAND_KINDS), np.uint8)
    in_check = np.zeros(1, np.bool_)
    for sfen in (
        "7k1/9/6+N2/9/9/3+b5/9/9/9 b G2r18p 1",
        "7k1/9/6+N2/9/9/3+b5/9/9/9 w G2r18p 1",
        "9/9/9/9/9/9/9/9/9 b - 1",
    ):
        set_game(pos, *split_moves(sfen))
        view_position(pos, pieces, hands, in_check, np.int64(0))
        assert evaluate.evaluate(read, sfen, False)[0] == evaluate_batch(net, pieces, hands, in_check)[0].tolist()


def test_the_documents_reader_refuses_damage(evaluate: SimpleNamespace, tmp_path: Path) -> None:
    content = bytearray(network_file("dense-64-16").read_bytes())
    content[-1000] ^= 1
    (tmp_path / "net.safetensors").write_bytes(content)
    with pytest.raises(AssertionError):
        evaluate.read(tmp_path / "net.safetensors")


@pytest.mark.parametrize(
    ("key", "name"), [("feature_set", "half_ka"), ("feature_set", "piece"), ("activation", "sigmoid")]
)
def test_the_documents_reader_refuses_unknown_names(
    key: str, name: str, evaluate: SimpleNamespace, tmp_path: Path
) -> None:
    """The file is complete and its checksum fits, so only the names show that it cannot be evaluated."""
    path = tmp_path / "net.safetensors"
    with safe_open(network_file("dense-64-16"), "numpy") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for found in (json.loads(header["data"])[key], name):
        data = json.dumps(json.loads(header["data"]) | {key: found})
        save_file(tensors, path, header | {"data": data, "checksum": _checksum(tensors, data)})
        if found != name:
            evaluate.read(path)
    with pytest.raises(AssertionError):
        evaluate.read(path)


def test_vectors_cover_the_documented_cases() -> None:
    vectors = json.loads(vectors_of("default").read_text())["positions"]
    assert [vector["sfen"] for vector in vectors] == list(POSITIONS)
    movers = {(" w " in vector["sfen"], vector["in_check"]) for vector in vectors}
    assert len(movers) == 4
    hands = [position_from_sfen(sfen)["hands"] for sfen in POSITIONS]
    assert {int(held[colour, 0]) > 8 for held in hands for colour in range(2)} == {True, False}
