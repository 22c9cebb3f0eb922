"""Scores and times of moves."""

from __future__ import annotations

import pytest

from lite.notation.csa import read_csa
from lite.notation.game import Game, GameError
from lite.notation.kif import read_kif

CSA_HEAD = "PI\n+\n+7776FU\n-3334FU\n"
KIF_HEAD = "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 ３四歩(33)\n"


def csa(text: str) -> Game:
    game = next(read_csa(text, "a.csa"))
    if isinstance(game, GameError):
        raise game
    return game


@pytest.mark.parametrize(
    ("comment", "scores"),
    [
        ("**対局 時間 00:01 評価値 35 読み筋", [35, 0]),
        ("**対局 評価値 -詰 7", [-32000, 0]),
        ("**評価値=-70000", [-32000, 0]),
        ("**評価値=35\n**評価値=36", [36, 0]),
        ("**詰み=後手勝ち:3手", [-32000, 0]),
        ("**解析 0 候補1 深さ 5 評価値 35 読み筋", [0, -35]),
        ("**検討 候補1 評価値 +詰 3", [0, -32000]),
        ("**解析 0 候補10 評価値 35 読み筋", [0, 0]),
        ("**解析 0 候補10 評価値 +詰 3", [0, 0]),
        ("*#評価値=35", [0, -35]),
        ("*#詰み=後手勝ち", [0, 32000]),
    ],
)
def test_a_score_is_of_the_move_above_or_of_the_position(comment: str, scores: list[int]) -> None:
    clock = "( 0:01/00:00:01)\n"
    game = read_kif(KIF_HEAD.replace(clock, f"{clock}{comment}\n") + "   3 投了\n", "a.kif")
    assert game.scores.tolist() == scores
    assert game.scored.tolist() == [score != 0 for score in scores]


@pytest.mark.parametrize("text", ["PI\n+\n'** 55\n+7776FU\n%TORYO", f"{CSA_HEAD}+7776FU\n'** 55\n%ILLEGAL_MOVE"])
def test_a_score_without_its_move_is_no_other_moves(text: str) -> None:
    """Before the first, and beside an illegal one."""
    assert not csa(text).scored.any()


def test_comments_of_csa_are_read_as_those_of_kif() -> None:
    game = csa("PI\n+\n+7776FU\n'*#評価値=35\n-3334FU\n+2726FU\n'*評価値=40\n%TORYO")
    assert game.scores.tolist() == [0, -35, 40]


def test_scores_are_the_movers_where_white_moves_first() -> None:
    game = csa("PI82HI22KA\n-\n-3334FU\n'** 900\n+7776FU\n'** 800\n%TORYO")
    assert game.scores.tolist() == [-900, 800]
    game = read_kif("手合割：二枚落ち\n   1 ３四歩(33)\n*#評価値=800\n   2 ７六歩(77)\n   3 投了\n", "a.kif")
    assert game.scores.tolist() == [0, 800]


def test_an_analysis_of_the_first_position_is_the_first_moves() -> None:
    game = read_kif(KIF_HEAD.replace("   1 ", "*#評価値=35\n   1 ") + "   3 投了\n", "a.kif")
    assert game.scores.tolist() == [35, 0]


def test_times_are_milliseconds_as_far_as_they_can_be_kept() -> None:
    assert csa("PI\n+\n+7776FU\nT9999999\n%TORYO\nT1").times.tolist() == [2**31 - 1, 1000]
    assert csa(f"{CSA_HEAD}+7776FU\nT5\n%ILLEGAL_MOVE").times.tolist() == [-1, -1, 5000]
    game = read_kif(KIF_HEAD.replace("( 0:01/", "( 1:02:03.5/") + "   3 投了 ( 0:05/00:00:05)\n", "a.kif")
    assert game.times.tolist() == [3_723_500, -1, 5000]
