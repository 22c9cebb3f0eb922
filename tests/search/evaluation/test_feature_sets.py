"""Feature sets: rows by independent counting, both perspectives, handicaps, kings."""

from __future__ import annotations

import numpy as np
import pytest

from search.evaluation.feature_sets import (
    BONA_END,
    NAMES,
    NO_ROW,
    YANEURAOU_NAMES,
    FeatureSet,
    feature_set,
    king_piece_square,
    zone_buckets,
)
from search.rules.sfen import get_sfen, position_from_sfen
from search.rules.shogi import CODES, EMPTY, KINDS, KING, START_SFEN
from tests.yaneuraou_description import active_features, sides

HANDICAPS = {  # SFENs with numbers of missing men
    START_SFEN: 0,
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1": 2,
    "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1": 4,
    "4k4/9/9/9/9/9/9/9/4K4 b - 1": 38,
    "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 1": 0,
}


MOST_ROWS = {name: 38 if "kp" in name else 40 for name in NAMES} | {"k_a2": 42, "k_p": 40}
"""Most rows of a perspective in a legal position, without the check row; HalfKP has no rows for kings."""


def turned(board: np.ndarray, hands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the position as seen by the other side."""
    seen = board[::-1].astype(np.int64)
    return np.where(seen == EMPTY, EMPTY, (seen + KINDS) % (2 * KINDS)).astype(np.uint8), hands[::-1].copy()


def listed(features: FeatureSet, board: np.ndarray, hands: np.ndarray, perspective: int) -> list[int]:
    """Return the sorted rows without padding."""
    rows = features.active_rows(board, hands, perspective)[0]
    return sorted(rows[rows != features.rows].tolist())


@pytest.mark.parametrize("name", NAMES)
def test_whites_view_equals_blacks_view_of_the_turned_board(name: str, play_random, roots) -> None:
    features = feature_set(name)
    for seed, root in enumerate(roots):
        for pos, _ in play_random(root, seed, 60):
            board, hands = pos["board"].copy(), pos["hands"].copy()
            for perspective in (0, 1):
                rows = listed(features, board, hands, perspective)
                assert rows == listed(features, *turned(board, hands), 1 - perspective)
                assert len(rows) <= MOST_ROWS[name]
                assert all(0 <= row < features.rows for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_board_and_hands_is_used(name: str) -> None:
    features = feature_set(name)
    for perspective in (0, 1):
        codes = features.codes_to_rows[perspective]
        assert codes.dtype == np.int32
        assert codes.shape == (CODES + 1,)
        assert codes[CODES] == NO_ROW
        assert codes.max() < (features.king_stride or features.rows)


def test_half_kp_rows_by_hand() -> None:
    """BonaPiece numbers by hand, as in the description of nn.bin: 7g pawn and others in the start position."""
    pos = position_from_sfen(START_SFEN)
    rows = listed(feature_set("half_kp"), pos["board"], pos["hands"], 0)
    king = 44  # 5i = file 5, rank 9
    own_pawns = {BONA_END * king + 90 + file * 9 + 6 for file in range(9)}
    enemy_rook = BONA_END * king + 1305 + 7 * 9 + 1  # 8b
    own_gold = BONA_END * king + 738 + 3 * 9 + 8  # 4i
    assert own_pawns <= set(rows)
    assert {enemy_rook, own_gold} <= set(rows)
    assert len(rows) == 38


def test_hand_rows_of_bona_pieces_by_hand() -> None:
    pos = position_from_sfen("4k4/9/9/9/9/9/9/9/4K4 b R2G18P2br 1")
    rows = listed(feature_set("k_p"), pos["board"], pos["hands"], 0)
    own_king, enemy_king = BONA_END + 44, BONA_END + 81 + 36
    pieces = [*range(1, 19), 69, 70, 82, 83, 85, 88]
    assert rows == sorted([0] * (38 - len(pieces)) + pieces + [own_king, enemy_king])


@pytest.mark.parametrize("name", YANEURAOU_NAMES)
@pytest.mark.parametrize("sfen", HANDICAPS)
def test_each_missing_man_adds_the_first_row_once(name: str, sfen: str) -> None:
    pos = position_from_sfen(sfen)
    features = feature_set(name)
    for perspective in (0, 1):
        rows = listed(features, pos["board"], pos["hands"], perspective)
        assert len(rows) == MOST_ROWS[name]
        king = int(pos["king"][perspective])
        bucket = int(features.king_bucket[80 - king if perspective else king])
        assert rows.count(bucket * features.king_stride) == HANDICAPS[sfen]


@pytest.mark.parametrize("name", YANEURAOU_NAMES)
def test_rows_equal_those_of_the_description(name: str, play_random, roots) -> None:
    """Kings are on every file, because mirrored sets turn the board when a king crosses the middle."""
    features, mirrored = feature_set(name), set()
    kings = (f"k8/9/9/9/9/9/9/9/{8 - file or ''}K{file or ''} b R2P2b4g4s4n4l16pr 1" for file in range(9))
    sfens = [*HANDICAPS, *kings]
    for seed, root in enumerate(roots):
        sfens += [get_sfen(pos) for pos, _ in play_random(root, seed, 40) if (pos["king"] != 81).all()]
    for sfen in sfens:
        pos = position_from_sfen(sfen)
        for colour, side in zip((int(pos["turn"]), 1 - int(pos["turn"])), sides(get_sfen(pos)), strict=True):
            expected = sorted(active_features(side, name.replace("_", "")))
            assert listed(features, pos["board"], pos["hands"], colour) == expected
            mirrored.add(side.own_king >= 45)
    assert mirrored == {False, True}


def test_hand_rows_of_piece_square_have_the_order_of_the_listing() -> None:
    pos = position_from_sfen("4k4/9/9/9/9/9/9/9/4K4 b RB2G10Pn 1")
    rows = listed(feature_set("piece_square"), pos["board"], pos["hands"], 0)
    hands = [row - 28 * 81 for row in rows if row >= 28 * 81]
    # Own: eight pawns of ten, two golds (from 20), bishop (24), rook (26); enemy: a knight (28 + 12).
    assert hands == [*range(8), 20, 21, 24, 26, 40]


def test_king_buckets_by_hand() -> None:
    features = king_piece_square(np.arange(81) // 27)
    pos = position_from_sfen(START_SFEN)
    plain = feature_set("piece_square")
    for perspective in (0, 1):
        rows = np.array(listed(features, pos["board"], pos["hands"], perspective))
        assert (rows - 1 * features.king_stride == listed(plain, pos["board"], pos["hands"], perspective)).all()
    assert features.check_row == features.rows - 1
    assert len(np.unique(zone_buckets())) == 9


@pytest.mark.parametrize("buckets", [[0] * 80, [-1] * 81, [2] * 81, [0.5] * 81])
def test_bad_king_buckets_are_refused(buckets: list[int]) -> None:
    with pytest.raises(ValueError, match="king buckets must be"):
        king_piece_square(buckets)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown feature set 'halfkp'"):
        feature_set("halfkp")
    with pytest.raises(ValueError, match="has no king buckets"):
        feature_set("k_p", [0] * 81)


def test_a_side_without_a_king_has_rows() -> None:
    pos = position_from_sfen("4k4/9/9/9/9/9/9/9/9 b G 1")
    for name in NAMES:
        features = feature_set(name)
        assert (features.king_squares(np.atleast_2d(pos["board"]).astype(np.int64), 0) == 81).all()
        assert listed(features, pos["board"], pos["hands"], 0)
    assert KING == 7
