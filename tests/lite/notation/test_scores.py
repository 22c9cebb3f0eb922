"""Scores and times of moves."""

from __future__ import annotations

import pytest

from lite.notation.csa import read_csa
from lite.notation.game import Game, GameError
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif
from lite.notation.scores import comment_score

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
        ("**解析 深さ 20 ノード数 1000 評価値 207 読み筋 △８四歩(83)", [0, -207]),
        ("**検討 時間 00:03.0 深さ 18 ノード数 900 評価値 150", [0, -150]),
        ("*検討 評価値 150", [0, -150]),
        ("**棋譜解析 評価値 150", [0, -150]),
        ("**対局 深さ 15 評価値 30000 読み筋 ▲５四金打", [30000, 0]),
        ("**対局 評価値 -30000", [-30000, 0]),
        ("*対局 ノード数 123 評価値 +88↑ 読み筋", [88, 0]),
        ("**解析 0 △ 候補1 時間 00:00.0 深さ 32 評価値 12 読み筋", [0, -12]),
        ("**解析 候補１ 評価値 １２０", [0, -120]),
        ("**候補1 深さ 20 評価値 120", [0, -120]),
        ("**深さ 20 ノード数 1000 評価値 120", [0, -120]),
        ("**候補2 評価値 120", [0, 0]),
        ("**検討 候補手2 評価値 120", [0, 0]),
        ("**検討 候補：2 評価値 120", [0, 0]),
        ("**検討 候補手1 評価値 120", [0, -120]),
        ("**解析 候補２ 評価値 １２０", [0, 0]),
        ("**解析 候補2 評価値 99 候補1 評価値 12", [0, -12]),
        ("**解析 評価値：−300（下界値）", [0, 300]),
        ("**解析 評価値 +詰 12手", [0, -32000]),
        ("**解析 評価値 詰", [0, 0]),
        ("**解析 読み筋 △８四歩(83)", [0, 0]),
        ("** 時間 00:01 評価値 55 読み筋", [0, -55]),
        ("** 207 +7776FU -3334FU", [207, 0]),
        ("**207", [207, 0]),
        ("** -詰 3", [-32000, 0]),
        ("** mate -7", [-32000, 0]),
        ("**評価値=12.6", [13, 0]),
        ("**評価値=+1,234", [1234, 0]),
        ("*#評価値=-12.6", [0, 13]),
        ("*#形勢[120] ▲２六歩", [0, -120]),
        ("*#指し手[-120] ▲２六歩", [0, 120]),
        ("**解析 評価値 55.3％", [0, 0]),
        ("**解析 評価値 207 (55.3%)", [0, -207]),
        ("*感想 評価値 35", [0, 0]),
        ("*評価値 35 くらい", [0, 0]),
        ("* 35", [0, 0]),
        ("**解析 0 候補10 評価値 35 読み筋", [0, 0]),
        ("**解析 0 候補10 評価値 +詰 3", [0, 0]),
        ("*#評価値=35", [0, -35]),
        ("*#詰み=後手勝ち", [0, 32000]),
    ],
)
def test_a_score_belongs_to_the_move_above_or_to_the_position(comment: str, scores: list[int]) -> None:
    clock = "( 0:01/00:00:01)\n"
    game = read_kif(KIF_HEAD.replace(clock, f"{clock}{comment}\n") + "   3 投了\n", "a.kif")
    assert game.scores.tolist() == scores
    assert game.scored.tolist() == [score != 0 for score in scores]


@pytest.mark.parametrize("text", ["PI\n+\n'** 55\n+7776FU\n%TORYO", f"{CSA_HEAD}+7776FU\n'** 55\n%ILLEGAL_MOVE"])
def test_a_score_without_a_move_is_not_given_to_another(text: str) -> None:
    """Scores before the first move and beside an illegal move are ignored."""
    assert not csa(text).scored.any()


@pytest.mark.parametrize(
    ("comment", "scores"),
    [
        ("'*#評価値=35", [0, -35]),
        ("'*評価値=40", [40, 0]),
        ("'**評価値=40", [40, 0]),
        ("'** 207 -3334FU", [207, 0]),
        ("'**207", [207, 0]),
        ("'** -詰 3", [-32000, 0]),
        ("'** mate 3", [32000, 0]),
        ("'**解析 深さ 20 評価値 207 読み筋", [0, -207]),
        ("'*解析 評価値 207", [0, -207]),
        ("'*検討 候補2 評価値 207", [0, 0]),
        ("'**対局 評価値 207", [207, 0]),
        ("'* 207", [0, 0]),
        ("'207", [0, 0]),
    ],
)
def test_comments_of_csa_are_read_as_those_of_kif(comment: str, scores: list[int]) -> None:
    game = csa(f"PI\n+\n+7776FU\n{comment}\n-3334FU\n%TORYO")
    assert game.scores.tolist() == scores
    assert game.scored.tolist() == [score != 0 for score in scores]


def test_comments_of_ki2_are_read_as_those_of_kif() -> None:
    game = read_ki2("▲７六歩\n**解析 深さ 20 評価値 207\n△３四歩\n**評価値=-30\n▲２六歩\n投了\n", "a")
    assert game.scores.tolist() == [0, 30, 0]


@pytest.mark.parametrize("piece", ["候補1 ", "評価値 ", "評価値", "+", " ", "候補", "1,234"])
def test_long_comments_are_read_in_linear_time(piece: str) -> None:
    for head in ("*", "*解析 ", "*対局 評価値 ", "* "):
        comment_score(head + piece * (1_000_000 // len(piece)))


def test_scores_are_from_the_view_of_the_mover_if_white_moves_first() -> None:
    game = csa("PI82HI22KA\n-\n-3334FU\n'** 900\n+7776FU\n'** 800\n%TORYO")
    assert game.scores.tolist() == [-900, 800]
    game = read_kif("手合割：二枚落ち\n   1 ３四歩(33)\n*#評価値=800\n   2 ７六歩(77)\n   3 投了\n", "a.kif")
    assert game.scores.tolist() == [0, 800]


def test_an_analysis_of_the_first_position_belongs_to_the_first_move() -> None:
    game = read_kif(KIF_HEAD.replace("   1 ", "*#評価値=35\n   1 ") + "   3 投了\n", "a.kif")
    assert game.scores.tolist() == [35, 0]


def test_times_are_milliseconds_within_the_limits_of_the_format() -> None:
    assert csa("PI\n+\n+7776FU\nT9999999\n%TORYO\nT1").times.tolist() == [2**31 - 1, 1000]
    assert csa(f"{CSA_HEAD}+7776FU\nT5\n%ILLEGAL_MOVE").times.tolist() == [-1, -1, 5000]
    game = read_kif(KIF_HEAD.replace("( 0:01/", "( 1:02:03.5/") + "   3 投了 ( 0:05/00:00:05)\n", "a.kif")
    assert game.times.tolist() == [3_723_500, -1, 5000]
