"""dlshogi's planes and labels against cshogi's."""

from __future__ import annotations

from dataclasses import asdict

import cshogi
import numpy as np
import pytest
from cshogi.dlshogi import make_input_features, make_move_label

from experiments.resnet.plane_speed import SAMPLE, bench_planes, compare_planes
from lite.records.batch import Batch
from lite.records.reader import Reader
from search.puct.planes import (
    LABELS,
    NO_LABEL,
    PLANES1,
    PLANES2,
    make_planes,
    move_labels,
    write_held_features,
    write_planes,
)
from search.rules.sfen import move_from_usi, position_from_sfen, square_from_usi
from search.rules.view import view_position

SFENS = {
    "the start": "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "everything in hand": "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1",
    "everything in the enemy's hand": "4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1",
    "white to move, nine pawns in hand": "4k4/9/9/9/9/9/9/9/4K4 w 9P9p 1",
    "in check from both edges": "4k3R/9/9/9/4R4/9/9/9/B3K4 w b 1",
    "knights to promote": "4k4/9/1N7/2N6/9/5n3/6n2/9/4K4 b - 1",
    "white's knights to promote": "4k4/9/1N7/2N6/9/5n3/6n2/9/4K4 w - 1",
    "many attackers": "4k4/9/4p4/3SG4/2B1R1B2/3N1N3/4L4/4R4/4K4 b - 1",
    "promoted pieces": "+P+L+N+Sk+s+n+l+p/1+B5+R1/9/9/9/9/9/1+r5+b1/4K4 w - 1",
}


@pytest.fixture(scope="module")
def games() -> Batch:
    return next(iter(Reader([SAMPLE], 10_000, shuffle=True, seed=1)))


def test_ten_thousand_positions_equal_cshogi(games: Batch) -> None:
    assert set(games.turn) == {0, 1}
    assert 100 < games.in_check.sum() < 5000
    assert games.hands.max() >= 9
    found = compare_planes(games)
    assert found.different_planes == found.different_labels == 0
    assert found.positions == 10_000
    assert found.moves > 500_000


@pytest.mark.parametrize("name", SFENS)
def test_rare_positions_equal_cshogi(name: str) -> None:
    board = cshogi.Board(SFENS[name])
    one, two = np.zeros((PLANES1, 9, 9), np.float32), np.zeros((PLANES2, 9, 9), np.float32)
    make_input_features(board, one, two)
    pieces, hands, in_check = np.zeros((3, 81), np.uint8), np.zeros((3, 14), np.uint8), np.zeros(3, np.bool_)
    pos = position_from_sfen(SFENS[name])
    for row in range(3):
        view_position(pos, pieces, hands, in_check, np.int64(row))
    out1, out2 = make_planes(pieces, hands, in_check)
    for row in range(3):
        np.testing.assert_array_equal(out1[row], one)
        np.testing.assert_array_equal(out2[row], two)
    features = np.zeros((3, PLANES2), np.uint8)
    write_held_features(hands, in_check, features)
    np.testing.assert_array_equal(features[1], two[:, 0, 0])
    for move in board.legal_moves:
        (label,) = move_labels(np.array([cshogi.move16(move)], np.uint16), np.array([board.turn], np.uint8))
        assert label == make_move_label(move, board.turn)
        assert 0 <= label < LABELS


@pytest.mark.parametrize(("dtype", "one"), [(np.uint8, 1), (np.uint16, 0x3F80), (np.float32, 1.0)])
def test_every_number_type_has_the_same_planes(games: Batch, dtype: type, one: float) -> None:
    part = slice(0, 50)
    out1, out2 = np.full(50 * PLANES1 * 81 + 1, 7, dtype), np.full(50 * PLANES2 * 81 + 1, 7, dtype)
    write_planes(games.pieces[part], games.hands[part], games.in_check[part], out1[:-1], out2[:-1])
    expected1, expected2 = make_planes(games.pieces[part], games.hands[part], games.in_check[part])
    np.testing.assert_array_equal(out1[:-1], expected1.reshape(-1).astype(dtype) * one)
    np.testing.assert_array_equal(out2[:-1], expected2.reshape(-1).astype(dtype) * one)
    assert out1[-1] == out2[-1] == 7  # nothing is written after the end


def test_labels_by_hand() -> None:
    """Up is 0, knights 8 and 9, promotion adds 10, drops begin at 20; for white the board is rotated."""
    moves = ["7g7f", "3c3d", "8i7g", "2i3g", "7g6e+", "P*5e", "G*1a", "8b8g+"]
    turns = [0, 1, 0, 0, 0, 0, 1, 1]
    directions, targets = [0, 0, 9, 8, 19, 20, 26, 10], ["7f", "7f", "7g", "3g", "6e", "5e", "9i", "2c"]
    squares = [square_from_usi(target) for target in targets]
    labels = move_labels(np.array([move_from_usi(move) for move in moves], np.uint16), np.array(turns, np.uint8))
    assert labels.tolist() == [81 * direction + square for direction, square in zip(directions, squares, strict=True)]
    assert move_labels(np.zeros(1, np.uint16), np.zeros(1, np.uint8)).tolist() == [NO_LABEL]


def test_the_bench_compares_and_measures() -> None:
    figures = bench_planes((SAMPLE,), 128)
    assert figures.positions == 128
    assert figures.different_planes == figures.different_labels == 0
    assert {"cshogi_us", "float32_us", "bfloat16_us", "uint8_us", "ratio"} <= set(asdict(figures))
    with pytest.raises(ValueError, match="64"):
        bench_planes((SAMPLE,), 3)


def test_a_clock_too_coarse_for_the_bench_gives_0(monkeypatch) -> None:
    monkeypatch.setattr("experiments.resnet.plane_speed.time.thread_time", lambda: 0.0)
    assert {"float32_us": 0.0, "ratio": 0.0}.items() <= asdict(bench_planes((SAMPLE,), 64)).items()
