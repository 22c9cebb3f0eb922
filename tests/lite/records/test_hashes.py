"""Hashes of positions and games are equal for equal training data only."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lite.records.batch import labelled_dtype
from lite.records.encode import encode_game, game_hashes, position_hashes
from lite.records.file import RecordFile, Refusals
from search.rules.shogi import EMPTY


def hashed(*games: bytes) -> list[int]:
    starts = np.cumsum([0, *map(len, games[:-1])])
    return game_hashes(np.frombuffer(b"".join(games), np.uint8).copy(), starts).tolist()


def test_hashes_of_positions_depend_only_on_board_hands_and_turn(sample_games: Path) -> None:
    file = RecordFile(sample_games)
    positions = file.read_block(file.blocks[0], Refusals())[:2000]
    hashes = position_hashes(positions)
    different = {(one["pieces"].tobytes(), one["hands"].tobytes(), int(one["turn"])) for one in positions}
    assert len(set(hashes.tolist())) == len(different) > 1000
    labels = positions.copy()
    for name in ("score", "scored", "ply", "move", "result", "kind_of_result", "visits_at"):
        labels[name] = np.zeros(1, labelled_dtype[name])
    np.testing.assert_array_equal(position_hashes(labels), hashes)

    variants = np.repeat(positions[:1], 1 + 1 + 14 + 81)
    variants["turn"][1] ^= 1
    for kind in range(14):
        variants["hands"][2 + kind, kind] += 1
    for square in range(81):
        variants["pieces"][16 + square, square] = (variants["pieces"][0, square] + 1) % (EMPTY + 1)
    assert len(set(position_hashes(variants).tolist())) == len(variants)


def test_hashes_of_games_depend_only_on_first_position_and_moves(sample_bytes: list[bytes]) -> None:
    start = sample_bytes[0][:32]
    moves, scores = np.array([100, 200, 300], np.uint16), np.array([1, 2, 3], np.int16)
    game = encode_game(start, 1, moves, scores)
    visits = [(np.array([move, 7], np.uint16), np.array([5, 9], np.uint16)) for move in moves]
    assert len(set(hashed(game, encode_game(start, 2, moves, scores * 9), encode_game(start, 1, moves, scores)))) == 1
    assert hashed(encode_game(start, 0, moves, scores, visits), game)[0] == hashed(game)[0]
    others = [
        encode_game(start[:31] + b"\xff", 1, moves, scores),
        encode_game(start, 1, moves[:2], scores[:2]),
        encode_game(start, 1, moves[::-1], scores),
        encode_game(start, 1, moves + np.uint16([0, 0, 1]), scores),
    ]
    assert len(set(hashed(game, *others))) == 5
