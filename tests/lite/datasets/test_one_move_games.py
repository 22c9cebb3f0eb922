"""Positions without games, which hcpe3 stores as games of one move."""

from __future__ import annotations

from pathlib import Path

import cshogi
import numpy as np
import pytest

from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.records.formats import hcpe_dtype, psv_dtype
from lite.records.reader import read_all
from search.rules.huffman import HCP, PSV, encode
from search.rules.sfen import move_from_usi, position_from_sfen
from search.rules.shogi import START_SFEN


def start(dialect: int) -> np.ndarray:
    pos = position_from_sfen(START_SFEN)
    return np.frombuffer(encode(pos["board"], pos["hands"], int(pos["turn"]), dialect), np.uint8)


def dropped(path: Path, moves: list[str]) -> tuple[list[int], dict[str, int]]:
    """Drop duplicates of one position in two files; return the kept moves and the counts of dropped ones."""
    records = np.zeros(len(moves), hcpe_dtype)
    records["hcp"], records["result"], records["score"] = start(HCP), 1, 50
    records["move"] = [move_from_usi(move) if move else 0 for move in moves]
    files = path / "a.hcpe", path / "b.hcpe"
    for file, part in zip(files, np.array_split(records, 2), strict=True):
        part.tofile(file)
    options = Conversion(files, path / "a.hcpe3", duplicates="drop", overwrite=True)
    left_out = convert(options).left_out
    return read_all([options.output]).move.tolist(), left_out


@pytest.mark.parametrize(
    ("moves", "left", "left_out"),
    [
        (["", "7g7f"], ["7g7f"], {"positions without a move": 1}),
        (["2g2f", "7g7f", "2g2f"], ["2g2f", "7g7f"], {"duplicate games": 1}),
    ],
)
def test_games_are_equal_if_their_moves_are_equal(
    moves: list[str], left: list[str], left_out: dict[str, int], tmp_path: Path
) -> None:
    assert dropped(tmp_path, moves) == ([move_from_usi(move) for move in left], left_out)


def test_a_game_of_one_move_does_not_know_its_ply(tmp_path: Path) -> None:
    """It is not the start of a game, so the filter of early plies keeps it."""
    records = np.zeros(2, psv_dtype)
    records["sfen"], records["result"], records["move_number"] = start(PSV), 1, [1, 51]
    records["move"] = cshogi.move16_to_psv(move_from_usi("7g7f"))
    records.tofile(tmp_path / "a.psv")
    convert(Conversion((tmp_path / "a.psv",), tmp_path / "a.hcpe3"))
    assert convert(Conversion((tmp_path / "a.hcpe3",), tmp_path / "b.psv", from_ply=8)).left_out == {}
    assert np.fromfile(tmp_path / "b.psv", psv_dtype)["move_number"].tolist() == [0, 0]
