"""Small valid files for every reader, from which the fuzzer and the mutations of the tests begin."""

from __future__ import annotations

import json
import re
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "experiments" / "sample" / "valid_sample.hcpe3"
FIRST_GAMES = 1128
"""Size of the first two games of the sample, in bytes."""
_LENGTH = struct.Struct("<Q")
_NN_HEADER = struct.Struct("<3I")
_HASH_BYTES = 4
_LEB_MAGIC = b"COMPRESSED_LEB128"
_MOST_BULK = 1 << 24
_CHECKSUM = re.compile(rb'("checksum":")[0-9a-f]{8}"')

POSITIONS = (
    "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e 5a4b 4e3d",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
)
BOOK_POSITIONS = ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",)
DESCRIPTION = {
    "format": "liteshogi data",
    "version": 1,
    "verb": "selfplay",
    "options": {"seed": 1},
    "sources": [{"name": "games", "sha256": "0"}],
    "nets": [{"role": "player", "name": "default", "sha256": "0"}],
    "made_by": [{"version": "0.0.9"}],
    "begun": "2026-01-01",
    "updated": "2026-01-02",
    "seconds": 1.0,
    "totals": {"games": 2},
}
RECORD = {
    "format": "liteshogi run",
    "version": 1,
    "verb": "match",
    "arguments": [],
    "options": {},
    "goal": {},
    "conditions": {},
    "sources": [],
    "nets": [],
    "files": {},
    "made_by": [{"versions": {}, "machine": {"cpu": "a CPU", "kernel": "avx2", "cores": 2}}],
    "started": "2026-01-01",
    "updated": "2026-01-02",
    "seconds": 1.0,
    "state": "done",
    "totals": {},
}
MATCH = RECORD | {
    "arguments": ["match", "a", "b", "--nodes", "5"],
    "options": {"nodes": 5, "seed": 1},
    "goal": {"games": 8, "sprt": {"elo0": 0, "elo1": 5, "alpha": 0.05, "beta": 0.05}, "players": ["a", "b"]},
    "conditions": {"signature": 7},
    "sources": [{"role": "data", "name": "a", "files": 1, "bytes": 9, "sha256": "0", "description": None}],
    "nets": [{"role": "first", "name": "default", "sha256": "0"}],
    "files": {"default": "0"},
    "totals": {"games": 2, "seconds": 0.5},
    "products": {"net.bin": "0"},
}
PAIR = {"wins as black": 1, "losses as white": 1, "positions": 9, "nodes": 50, "seconds": 0.5}
LOSS = {
    "kind": "judged position",
    "job": 0,
    "position": "startpos",
    "sfen": "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "best_move": "7g7f",
    "best": 20,
    "moves": ["2g2f"],
    "scores": [10],
    "replies": ["3c3d"],
    "losses": [20],
}


def files(*names: str) -> list[bytes]:
    """Return the content of files of the source tree."""
    return [(ROOT / name).read_bytes() for name in names]


def data(*names: str) -> list[bytes]:
    """Return the content of files of the tests' data."""
    return files(*(f"tests/data/{name}" for name in names))


def variations() -> list[bytes]:
    main = "   1 ７六歩(77)   ( 0:01/00:00:01)\n*one\n   2 ３四歩(33)   ( 0:01/00:00:01)+\n   3 投了\n"
    other = "\n変化：2手\n   2 ８四歩(83)\n*#評価値=120\n   3 ２六歩(27)\n"
    handicap = "手合割：二枚落ち\n下手：a\n上手：b\n手数----指手---------消費時間--\n   1 ６二銀(71)\n   2 中断\n"
    diagram = (
        "後手の持駒：飛　角二\n  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n"
        + "".join(f"|{row}|\n" for row in [" ・" * 4 + "v玉" + " ・" * 4, *[" ・" * 9] * 7])
        + "| ・ ・ ・ ・ 玉 ・ ・ ・ ・|\n+---------------------------+\n"
        + "先手の持駒：金\n後手番\n   1 ４二玉(51)\n   2 中断\n"
    )
    return [text.encode() for text in (main + other, handicap, diagram)]


def ki2_variations() -> list[bytes]:
    """Return KI2 files with variations as ShogiHome writes them."""
    main = "手合割：平手\n▲７六歩    △３四歩    ▲２二角成  △同　銀\n*一言\nまで4手で中断\n"
    other = "\n変化：2手\n△８四歩    ▲２六歩\n*#評価値=9\nまで3手で後手の勝ち\n\n変化：3手\n▲５八金右\n"
    return [(main + other).encode()]


# Records


def hcpe3() -> list[bytes]:
    """Return two games without candidates, and the first one with candidates."""
    from lite.records.encode import encode_game
    from lite.records.formats import game_dtype, move_dtype

    raw = SAMPLE.read_bytes()[:FIRST_GAMES]
    header = np.frombuffer(raw, game_dtype, 1)[0]
    rows = np.frombuffer(raw, move_dtype, 40, game_dtype.itemsize)
    moves, scores = rows["move"].copy(), rows["score"].copy()
    visits = [(moves[ply : ply + 1].repeat(ply % 3), np.arange(ply % 3, dtype=np.uint16)) for ply in range(40)]
    return [raw, encode_game(header["hcp"], int(header["result"]), moves, scores, visits)]


def packs() -> list[bytes]:
    """Return a game from the start position and one from another position."""
    from lite.records.formats import game_dtype, move_dtype

    raw = SAMPLE.read_bytes()[:FIRST_GAMES]
    header = np.frombuffer(raw, game_dtype, 1)[0]
    rows = np.frombuffer(raw, move_dtype, 40, game_dtype.itemsize)
    placed = b"\0" + header["hcp"].tobytes() + b"\7\0" + b"".join(row.tobytes()[:4] for row in rows) + b"\x81\0\0"
    return [placed + b"\1" + (7739).to_bytes(2, "little") + b"\5\0\x81\0\0"]  # 7g7f


def hcpe() -> list[bytes]:
    return [_positions("hcpe")]


def psv() -> list[bytes]:
    return [_positions("psv")]


def _positions(form: str) -> bytes:
    from lite.records.encode import position_records
    from lite.records.file import RecordFile, Refusals
    from search.rules.huffman import HCP, PSV

    sample = RecordFile(SAMPLE, block_positions=50)
    positions = sample.read_block(sample.blocks[0], Refusals())[::10]
    return position_records(positions, form, HCP if form == "hcpe" else PSV).tobytes()


# Networks


def nn_bins() -> list[bytes]:
    """Return classic nn.bin files without their numbers."""
    from export.nnue import nnue_bytes
    from search.evaluation.evaluation_speed import random_network

    made = [nnue_bytes(random_network("k_p", 32, hidden, 2)) for hidden in ((2, 3), (1,), ())]
    return _nn_headers([*made, nnue_bytes(random_network("half_kp", 32, (2, 3), 2))])


def sfnns() -> list[bytes]:
    """Return SFNN files without their numbers, and a complete one with compressed numbers."""
    from export.nnue import nnue_bytes
    from search.evaluation.evaluation_speed import random_network
    from search.evaluation.network import Shards

    pairwise: dict[str, Any] = {"activation": "pairwise_clipped_relu", "hidden_squares": True}
    made = [
        nnue_bytes(random_network("k_a2", 32, (8, 32), 2, stacks=stacks, shortcut=True, **pairwise))
        for stacks in ((), ("k3k3",), ("hand4", "progress2"))
    ]
    made.append(nnue_bytes(random_network("half_ka_hm2", 64, (8, 16), 2, shards=Shards(0, 32, 2), **pairwise)))
    whole = nnue_bytes(random_network("k_p", 32, (8, 16), 2, **pairwise))
    return [whole, *_nn_headers(made)]


def _nn_headers(contents: list[bytes]) -> list[bytes]:
    """Return header, text and first hash of each nn.bin."""
    return [one[: _NN_HEADER.size + _NN_HEADER.unpack_from(one)[2] + _HASH_BYTES] for one in contents]


def filled(content: bytes) -> bytes:
    """Return the nn.bin of a header, with zeros for all numbers of its architecture."""
    from search.evaluation.nnue_identification import architecture_of_text

    if len(content) < _NN_HEADER.size or _LEB_MAGIC in content:
        return content
    words = content[_NN_HEADER.size :][: _NN_HEADER.unpack_from(content)[2]]
    try:
        said = architecture_of_text(words.decode("utf-8", "surrogateescape"))
    except ValueError:
        return content
    if said is None:
        return content
    if not said.sfnn:
        size = _NN_HEADER.size + len(words) + said.body_size
        return content if said.body_size > _MOST_BULK else content.ljust(size, b"\0")
    values = said.rows * said.width
    if values + said.tail_bytes > _MOST_BULK:
        return content
    start = _NN_HEADER.size + len(words) + _HASH_BYTES
    blocks = (_LEB_MAGIC + struct.pack("<I", count) + bytes(count) for count in (said.width, values))
    return b"".join((content[:start].ljust(start, b"\0"), *blocks, content[start:].ljust(said.tail_bytes, b"\0")))


def leb_blocks() -> list[bytes]:
    """Return LEB128 blocks with one, two and three bytes per value, and the whole range of int16."""
    from search.evaluation.leb128 import encode_block

    lists = ([0, -1, 63, -64], [64, -65, 8191, -8192], [8192, -8193, 32767, -32768, 5], list(range(-300, 300, 7)))
    return [b"".join(encode_block(np.array(values, np.int16))) for values in lists]


def architecture_names() -> list[bytes]:
    """Return names of YaneuraOu's architectures, as a user types them."""
    names = ("SFNN_halfka2_1024_7_64_k3k3", "yaneuraou_engine_nnue-halfkp-512x2-8-96", "SFNN1536", "NNUE_KP256")
    sharded = ("SFNN_ka2_256_8_32_c128_s64x2_progress8_hand64z_k29k29",)
    return [name.encode() for name in (*names, *sharded)]


def progress_tables() -> list[bytes]:
    """Return numbers that fill a progress.bin."""
    return [struct.pack("<4d", 0.0, 0.25, -1.5, 1e-3), struct.pack("<d", 3.0)]


def filled_table(content: bytes) -> bytes:
    """Return the progress.bin that an input fills by repetition; inputs of other kinds of file are unchanged."""
    from search.evaluation.feature_sets import BONA_END
    from search.rules.shogi import SQUARES

    size = 8 * SQUARES * BONA_END
    if not content or len(content) % 8:
        return content
    return (content * (size // len(content) + 1))[:size]


def networks() -> list[bytes]:
    """Return headers of network files of the versions 1 and 2."""
    from search.evaluation.evaluation_speed import random_network

    return _network_headers(
        random_network("piece_square", 32, (4,), 1),
        random_network("king_piece_square", 32, (4,), 2, ("value", "draw"), "dual_clipped_relu", 8),
        random_network("k_p", 32, (), 2, activation="squared_clipped_relu", buckets=3),
    )


def networks_with_stacks() -> list[bytes]:
    """Return headers of network files of version 3."""
    from search.evaluation.evaluation_speed import random_network
    from search.evaluation.network import Shards

    parts: dict[str, Any] = {"shortcut": True, "hidden_squares": True}
    pairwise: dict[str, Any] = {"activation": "pairwise_clipped_relu"}
    return _network_headers(
        random_network("k_a2", 64, (8, 5), 2, stacks=("hand4",), shards=Shards(0, 8, 8), **pairwise, **parts),
        random_network("piece_square", 32, (8, 5), 1, ("value", "draw"), stacks=("k3k3", "progress2"), **parts),
        random_network("king_piece_square", 32, (4,), 2, ("value", "draw"), "dual_clipped_relu", shortcut=True),
        random_network("k_p", 32, (8,), 2, stacks=("k9k9z",), **pairwise),
    )


def _network_headers(*made: Any) -> list[bytes]:
    """Return the headers of files; if the numbers cannot all be zero, they follow after a zero byte (see `sealed`)."""
    from search.evaluation.network_file import save_network

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.safetensors"
        found = []
        for net in made:
            save_network(net, path)
            buckets = b"\0" + struct.pack("<9i", *range(9)) if net.feature_set.name == "king_piece_square" else b""
            found.append(_header(path.read_bytes()) + buckets)
        return found


def checkpoints() -> list[bytes]:
    """Return headers of trained networks and of the state of a training."""
    import torch

    from lite.training.checkpoint import STATE, write_tensors

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.safetensors"
        write_tensors(path, STATE, {"weight": torch.zeros(2, 3)}, {"step": 1})
        trained = data(*(f"networks/{name}.safetensors" for name in ("blog", "dense", "lite", "untied")))
        return [_header(content) for content in (*trained, path.read_bytes())]


def _header(content: bytes) -> bytes:
    """Return a safetensors file up to its numbers."""
    (length,) = _LENGTH.unpack_from(content)
    return content[_LENGTH.size : _LENGTH.size + length]


def sealed(content: bytes) -> bytes:
    """Return the safetensors file of a header, with the correct checksum. Content for its numbers may follow after a
    zero byte. Mutations of whole files would seldom change the header and never match the checksum."""
    header, _, pattern = content.partition(b"\0")
    found = re.findall(rb'"data_offsets":\[\d{1,9},(\d{1,9})\]', header)
    size = min(_MOST_BULK, max(map(int, found), default=0))
    pattern = pattern or b"\0"
    body = (pattern * (size // len(pattern) + 1))[:size]
    return _file(_CHECKSUM.sub(rb"\g<1>" + _checksum(header, body) + b'"', header), body)


def _file(header: bytes, body: bytes) -> bytes:
    return _LENGTH.pack(len(header)) + header + body


def _checksum(header: bytes, body: bytes) -> bytes:
    """Return the checksum as in files of trained networks and of evaluation networks."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    from search.evaluation.network_file import _checksum

    try:
        tensors, description = load(_file(header, body)), json.loads(header)["__metadata__"]["data"]
    except (SafetensorError, ValueError, KeyError, TypeError):
        return b"00000000"
    return _checksum(tensors, description).encode()


def onnx_models() -> list[bytes]:
    """Return the smallest models with the inputs and outputs of a policy-value network."""
    from onnx import TensorProto, helper

    planes = {"input1": 62, "input2": 57}
    outputs = {"output_policy": 2187, "output_value": 1}
    numbers = {"axis": [1], "from": [0], "policy": [2187], "value": [1]}
    nodes = [
        helper.make_node("Flatten", ["input1"], ["flat1"]),
        helper.make_node("Flatten", ["input2"], ["flat2"]),
        helper.make_node("Slice", ["flat1", "from", "policy", "axis"], ["output_policy"]),
        helper.make_node("Slice", ["flat2", "from", "value", "axis"], ["first"]),
        helper.make_node("Sigmoid", ["first"], ["output_value"]),
    ]
    graph = helper.make_graph(
        nodes,
        "least",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size, 9, 9]) for name, size in planes.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in outputs.items()],
        [helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in numbers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return [model.SerializeToString()]


# Lines


def sfens() -> list[bytes]:
    return [line.encode() for line in (*POSITIONS, "sfen 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1 moves G*5b")]


def dialogues() -> list[bytes]:
    from tests.usi_nonsense import COMMANDS

    return ["\n".join(COMMANDS[at : at + 6]).encode() for at in range(0, len(COMMANDS), 6)]


def answers() -> list[bytes]:
    return [
        b"info depth 3 nodes 120 multipv 1 score cp -35 lowerbound pv 7g7f\n"
        b"info depth 3 nodes 150 score cp 20 pv 7g7f\nbestmove 7g7f ponder 3c3d",
        b"info string hello\ninfo depth 9 nodes 99 score mate -4 pv 5e5d\nbestmove resign",
        b"info score mate +\nbestmove win",
    ]


def problems() -> list[bytes]:
    """Return mate problems, one of them with two pawns on a file."""
    one, two = "4k4/9/4P4/9/9/9/9/9/9 b G 1", "4k4/9/4P4/4P4/9/9/9/9/9 b G 1"
    return [(f'{{"sfen": "{one}", "ply": 1}}\n# words\n{two}\n{one}\n').encode()]


def openings() -> list[bytes]:
    sample = (ROOT / "experiments" / "sample" / "entering_king.sfen").read_bytes().splitlines(keepends=True)
    return [b"".join(sample[:2]), b"# words\nposition startpos moves 7g7f 3c3d\nstartpos\n"]


def books() -> list[bytes]:
    moves = "7g7f 3c3d 50 12 3\n2g2f none 20\n"
    entries = [f"sfen {POSITIONS[1].removesuffix('1')}{ply}\n{moves}" for ply in (1, 2)]
    start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -"
    return [f"#YANEURAOU-DB2016 1.00\nsfen {start} 1\n{moves}// words\n".encode(), "".join(entries).encode()]


def binary_books() -> list[bytes]:
    """Return books of `POSITIONS` in YaneuraOu's binary format, with and without depths."""
    from search.book.convert import write_binary

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "book.db", Path(folder) / "book.ybb"
        source.write_bytes(books()[0] + f"sfen {POSITIONS[1]}\nR*5e none -7 3\n".encode())
        write_binary(source, target)
        content = target.read_bytes()
    *_, positions, flags = struct.unpack_from("<16sQQ", content)
    moves_at = 32 + 44 * positions
    plain = b"".join(content[at : at + 4] for at in range(moves_at, len(content), 6))
    return [content, content[:24] + bytes(8) + content[32:moves_at] + plain] if flags else [content]
