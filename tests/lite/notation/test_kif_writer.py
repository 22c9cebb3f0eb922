"""Games written as KIF are read back as the same game, here and by cshogi."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cshogi
import numpy as np
import pytest
from cshogi import KIF
from hypothesis import given, settings
from hypothesis import strategies as st
from rsshogi.record import Record

from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    ILLEGAL_BEFORE,
    ILLEGAL_MOVE,
    MOVER_DECLARES,
    MOVER_LOSES,
    MOVER_WINS,
    MOVES_USED_UP,
    PERPETUAL_CHECK,
    REPETITION,
    UNFINISHED,
    WHITE_WON,
    Game,
    GameBuilder,
)
from lite.notation.games import read_games
from lite.notation.kif import read_kif
from lite.notation.kif_endings import ENDINGS
from lite.notation.kif_lines import HANDICAPS
from lite.notation.kif_writer import ANALYSIS, PLAYER, handicap_name, kif_text, score_comment
from lite.records.formats import WINNER_MASK
from search.rules.sfen import move_from_usi
from search.score import MATE

NAMED = {name: sfen for name, sfen in HANDICAPS.items() if sfen}
DIAGRAM = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
OUTCOMES = (
    MOVER_LOSES,
    MOVER_WINS,
    ILLEGAL_MOVE,
    ILLEGAL_BEFORE,
    MOVER_DECLARES,
    BLACK_WON,
    WHITE_WON,
    DRAWN,
    REPETITION,
    PERPETUAL_CHECK,
    MOVES_USED_UP,
    None,
)
WORDS = (
    "",
    "投了",
    "詰み",
    "千日手",
    "反則勝ち",
    "反則負け",
    "不戦勝",
    "入玉宣言",
    "勝ち宣言",
    "トライ",
    "王手連続千日手",
    "中断",
    "TORYO",
    "TIME_UP",
    "JISHOGI",
    "win",
    "abnormal",
    "後手の勝ち",
    "指し掛け",
    "連続王手の千日手",
)
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20).map(str.rstrip)
HEADER = LINES.map(str.strip)
VARIATION = "変化：1手\n   1 ５八金(49)   ( 0:07/00:00:07)\n*他の手\n   2 中断\nまで1手で中断"


@st.composite
def games(draw: st.DrawFn) -> Game:
    """Draw a random legal game from any first position, with any ending, times, comments, headers and names."""
    start = draw(st.sampled_from([*NAMED.values(), DIAGRAM]))
    builder, board = GameBuilder("made", start), cshogi.Board(start)
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    timed = draw(st.booleans())
    for _ in range(draw(st.integers(1, 40))):
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(legal[generator.integers(len(legal))])
        builder.play(cshogi.move16(board.peek()))
        if timed and generator.random() < 0.9:
            builder.time_of_last(1000 * int(generator.integers(0, 5000)))
    if timed:
        builder.time_of_ending(3000)
    builder.names = [draw(LINES).strip(), draw(LINES).strip()]
    builder.headers = draw(
        st.fixed_dictionaries({}, optional={"棋戦": HEADER, "備考": st.lists(HEADER, min_size=2).map("\n".join)})
    )
    for line in draw(st.lists(LINES, max_size=3)):
        builder.comments.setdefault(draw(st.integers(0, len(builder.moves) + 1)), []).append("*" + line)
    builder.comments.setdefault(len(builder.moves), []).append("&しおり")
    builder.variations = draw(st.sampled_from(["", VARIATION]))
    return builder.finish(draw(st.sampled_from(WORDS)), draw(st.sampled_from(OUTCOMES)), unfinished=True)


def test_an_interrupted_game_that_ends_in_mate_names_its_winner() -> None:
    builder = GameBuilder("made", "4k4/9/4G4/9/9/9/9/9/4K4 b G 1")
    builder.play(move_from_usi("G*5b"))
    text = kif_text(builder.finish("中断", MOVER_LOSES, unfinished=True))
    assert "投了" in text
    assert kif_text(read_kif(text, "made", unfinished=True)) == text


@settings(max_examples=150)
@given(games())
def test_a_written_game_is_read_as_the_same_game(game: Game) -> None:
    text = kif_text(game)
    again = read_kif(text, "made", unfinished=True)
    assert again.moves.tolist() == game.moves.tolist()
    assert again.start_sfen.split()[:3] == game.start_sfen.split()[:3]
    assert again.result == game.result
    assert again.names == game.names
    assert again.headers == game.headers
    assert again.comments == game.comments
    assert again.times.tolist() == game.times.tolist()
    assert again.variations == game.variations
    assert kif_text(again) == text


@settings(max_examples=150)
@given(games(), st.sampled_from(list(ENDINGS)))
def test_every_word_for_an_ending_is_read_back_from_what_is_written(game: Game, word: str) -> None:
    """The word may stand on a numbered line or in the verdict."""
    head = kif_text(replace(game, result=UNFINISHED, ending="", comments={}, variations="")).rsplit("\n", 3)[0]
    plies = len(game.moves)
    for end in (f"{plies + 1:4d} {word}", f"まで{plies}手で{word}"):
        found = read_kif(f"{head}\n{end}\n", "made", unfinished=True)
        text = kif_text(found)
        again = read_kif(text, "again", unfinished=True)
        assert (again.result, kif_text(again)) == (found.result, text)


@settings(max_examples=100)
@given(games())
def test_cshogi_reads_what_is_written(game: Game) -> None:
    if game.start_sfen not in KIF.Parser.HANDYCAP_SFENS.values():
        return  # it knows no diagrams
    game = replace(game, names=("a", "b"), headers={"開始日時": "2020/01/02 03:04:05"})
    parsed = KIF.Parser.parse_str(kif_text(game))
    assert [cshogi.move16(move) for move in parsed.moves] == game.moves.tolist()
    wins = {0: cshogi.DRAW, 1: cshogi.BLACK_WIN, 2: cshogi.WHITE_WIN, UNFINISHED: None}
    assert parsed.win == wins[game.result & WINNER_MASK]
    assert parsed.names == ["a", "b"]
    assert (parsed.starttime.year, parsed.starttime.second) == (2020, 5)
    times = [time // 1000 for time in game.times.tolist()[:-1] if time >= 0]
    assert parsed.times[: len(times)] == times  # it does not know every ending, nor the time of unknown ones


def test_a_repeated_header_is_kept_twice() -> None:
    text = "備考：一つ目\n棋戦：王位戦\n備考：二つ目\n先手：甲\n先手：乙\n   1 ７六歩(77)\n   2 投了\n"
    game = read_kif(text, "a")
    assert game.headers == {"備考": "一つ目\n二つ目", "棋戦": "王位戦"}
    assert game.names == ("乙", "")
    written = kif_text(game)
    assert "備考：一つ目\n備考：二つ目\n棋戦：王位戦\n" in written
    assert read_kif(written, "a").headers == game.headers


@pytest.mark.parametrize("name", ["wcsc28.csa", "wcsc28.kif", "wcsc28.ki2", "scored.csa", "scored.kifu", "games.usi"])
def test_games_of_every_notation_are_read_back(data_directory: Path, name: str) -> None:
    for game in read_games(data_directory / name):
        assert isinstance(game, Game)
        again = read_kif(kif_text(game), "a")
        assert again.moves.tolist() == game.moves.tolist()
        assert (again.result, again.names, again.headers) == (game.result, game.names, game.headers)
        assert again.comments == game.comments
        assert again.times.tolist() == game.times.tolist()
        assert again.scores.tolist() == game.scores.tolist()
        if name.startswith("wcsc28"):
            assert again.headers == {"開始日時": "2018/05/03 11:00:54"}
        if name == "wcsc28.kif":
            assert again.times[[0, 48]].tolist() == [1000, 1000]
            assert "  49 ５二金打     ( 0:01/00:00:25)\n  50 投了         ( 0:01/00:00:25)\n" in kif_text(game)


def test_handicap_games_have_upper_and_lower_hand() -> None:
    builder = GameBuilder("made", NAMED["二枚落ち"])
    builder.names = ["弟子", "師匠"]
    builder.play(cshogi.move16(cshogi.Board(builder.start_sfen).move_from_usi("3c3d")))
    text = kif_text(builder.finish("", MOVER_LOSES))
    assert "手合割：二枚落ち\n下手：弟子\n上手：師匠\n" in text
    assert text.endswith("   2 投了\nまで1手で上手の勝ち\n")


@pytest.mark.parametrize("name", [name for name in NAMED if name != "平手"])
def test_players_of_handicap_games_are_not_named_by_first_and_second(name: str) -> None:
    """Also if the first position is written as a diagram, because other programs do not know its name."""
    builder = GameBuilder("made", NAMED[name])
    builder.play(cshogi.move16(cshogi.Board(NAMED[name]).move_from_usi("5a4b")))
    text = kif_text(builder.finish("", MOVER_LOSES)).replace("\n後手番\n", "\n")  # only rsshogi knows these
    assert "先手" not in text
    assert "後手" not in text
    text = kif_text(builder.finish("", MOVER_LOSES))
    assert (handicap_name(NAMED[name]), read_kif(text, "a").start_sfen.split()[:3]) == (name, NAMED[name].split()[:3])


TO_ALL = (
    "平手",
    "香落ち",
    "右香落ち",
    "角落ち",
    "飛車落ち",
    "飛香落ち",
    "二枚落ち",
    "四枚落ち",
    "六枚落ち",
    "八枚落ち",
    "十枚落ち",
)


@pytest.mark.parametrize("name", [*NAMED, "other"])
def test_other_programs_read_the_first_position_or_refuse_it(name: str) -> None:
    """tsshogi, ShogiHome's, reads an unknown name as the even position, and cshogi knows no diagrams."""
    start = NAMED.get(name, DIAGRAM)
    builder, board = GameBuilder("made", start), cshogi.Board(start)
    move = next(iter(board.legal_moves))
    builder.play(cshogi.move16(move))
    text = kif_text(builder.finish("", MOVER_LOSES))
    assert ("|九" in text) == (name not in TO_ALL)
    found = cshogi.Board(Record.from_kif_str(text).init_position_sfen)  # rsshogi orders pieces in hand differently
    assert found.sfen().split()[:3] == board.sfen().split()[:3]
    if name in KIF.Parser.HANDYCAP_SFENS:
        assert KIF.Parser.parse_str(text).sfen == start
    else:
        with pytest.raises(KIF.ParserException, match="other"):
            KIF.Parser.parse_str(text)


def test_upper_and_lower_hand_stay_upper_and_lower_hand_in_a_diagram() -> None:
    head = "\n".join(KIF.board_to_bod(cshogi.Board(DIAGRAM)).split("\n"))
    head = f"手合割：その他\n{head}\n".replace("後手", "上手").replace("先手", "下手")
    text = kif_text(read_kif(f"{head}下手：甲\n上手：乙\n   1 ２八銀打\n   2 投了\nまで1手で上手の勝ち\n", "a"))
    assert "先手" not in text
    assert "上手の持駒：" in text
    assert "下手の持駒：" in text
    assert "下手：甲\n上手：乙\n" in text
    assert text.endswith("まで1手で上手の勝ち\n")
    assert kif_text(read_kif(text, "a")) == text
    text = kif_text(read_kif(text.replace("上手", "後手").replace("下手", "先手"), "a"))
    assert "下手" not in text


def test_only_given_names_are_written() -> None:
    game = read_kif("手合割：角落ち\n先手：\n後手：\n下手：甲\n上手：乙\n   1 ３四歩(33)\n   2 投了\n", "a")
    assert game.names == ("甲", "乙")


def test_a_game_that_stops_at_mate_is_not_written_as_resigned() -> None:
    builder = GameBuilder("made", "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1")
    builder.play(move_from_usi("G*5b"))
    assert kif_text(builder.finish("", None)).endswith("   2 詰み\nまで1手で先手の勝ち\n")
    assert kif_text(builder.finish("resign", MOVER_LOSES)).endswith("   2 投了\nまで1手で先手の勝ち\n")


def test_an_illegal_last_move_keeps_its_loser() -> None:
    """It is not among the moves, so 反則勝ち below it must become 反則負け."""
    game = read_kif("手合割：平手\n   1 ７六歩(77)\n   2 ５五歩打\n*駒がない\n   3 反則勝ち\n", "a")
    assert game.result == 1
    text = kif_text(game)
    assert text.endswith("\n*反則手：５五歩打\n*駒がない\n   2 反則負け\nまで1手で後手の反則負け\n")
    again = read_kif(text, "a")
    assert (again.result, again.comments) == (1, game.comments)


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        (
            "a.kif",
            "   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ５五角成(88) ( 0:01/00:00:02)\n   4 反則勝ち\n",
            "５五角成(88)",
        ),
        ("a.csa", "PI\n+\n+7776FU\n-3334FU\n+8855UM\nT1\n%ILLEGAL_MOVE\n", "+8855UM"),
        ("a.csa", "PI\n+\n+7776FU\n-3334FU\n+0055FU,T1\n%+ILLEGAL_ACTION\n%-ILLEGAL_ACTION\n", "+0055FU"),
    ],
)
def test_an_illegal_last_move_is_kept_in_a_comment(tmp_path: Path, name: str, text: str, written: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (game,) = read_games(tmp_path / name)
    assert isinstance(game, Game), game
    assert (len(game.moves), game.result, game.comments) == (2, 2, {2: [f"*反則手：{written}"]})
    assert f"*反則手：{written}\n   3 反則負け" in kif_text(game)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.kif", "   1 ７六歩(77)\n*上\n   2 投了   ( 0:01/00:00:01)\n*下\nまで1手で先手の勝ち\n"),
        ("a.kif", "   1 ７六歩(77)\n*上\n   2 投了\nまで1手で先手の勝ち\n*下\n"),
        ("a.kif", "   1 ７六歩(77)\n*上\nまで1手で先手の勝ち\n*下\n"),
        ("a.ki2", "▲７六歩\n*上\nまで1手で先手の勝ち\n*下\n"),
        ("a.ki2", "▲７六歩\n*上\n投了\n*下\n"),
        ("a.csa", "PI\n+\n+7776FU\n'*上\n%TORYO,T1\n'*下\n"),
    ],
)
def test_a_comment_below_the_ending_stays_there(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (game,) = read_games(tmp_path / name)
    assert isinstance(game, Game), game
    assert game.comments == {1: ["*上"], 2: ["*下"]}
    assert re.search(r"\n\*上\n   2 投了.*\n\*下\nまで1手で先手の勝ち\n$", kif_text(game))
    assert read_kif(kif_text(game), "a").comments == game.comments


@pytest.mark.parametrize(
    ("verdict", "ending", "written"),
    [
        ("後手の勝ち", "中断", "中断"),
        ("先手の反則負け", "先手の反則負け", "反則負け"),
        ("先手の時間切れ", "先手の時間切れ", "切れ負け"),
    ],
)
def test_the_verdict_of_an_interrupted_game_may_give_its_cause(verdict: str, ending: str, written: str) -> None:
    game = read_kif(f"   1 ７六歩(77)\n   2 ３四歩(33)\n   3 中断\nまで2手で{verdict}\n", "a")
    assert (game.result, game.ending) == (2, ending)
    assert f"\n   3 {written}\nまで2手で" in kif_text(game)


PERPETUAL = "4k4/9/9/9/9/9/9/5R3/8K b - 1"
CHECKS = "4h5h 5a4a 5h4h 4a5a " * 3


@pytest.mark.parametrize(
    ("start", "moves", "outcome", "word", "end"),
    [
        (None, "7g7f 3c3d", BLACK_WON, "", "   3 中断\nまで2手で先手の勝ち\n"),
        (None, "7g7f 3c3d 2g2f", WHITE_WON, "adjudicated", "   4 中断\nまで3手で後手の勝ち\n"),
        (None, "7g7f 3c3d 2g2f", BLACK_WON, "abnormal", "   4 中断\nまで3手で先手の勝ち\n"),
        (None, "7g7f 3c3d 2g2f", BLACK_WON, "中断", "   4 中断\nまで3手で先手の勝ち\n"),
        (None, "7g7f 3c3d 2g2f", BLACK_WON, "先手の勝ち", "   4 投了\nまで3手で先手の勝ち\n"),
        (None, "7g7f 3c3d 2g2f", ILLEGAL_MOVE, "oute_kaihimore", "   4 反則負け\nまで3手で後手の反則負け\n"),
        ("二枚落ち", "3c3d", BLACK_WON, "", "   2 中断\nまで1手で下手の勝ち\n"),
        ("二枚落ち", "3c3d 7g7f", BLACK_WON, "", "   3 投了\nまで2手で下手の勝ち\n"),
        ("二枚落ち", "3c3d 7g7f", WHITE_WON, "", "   3 中断\nまで2手で上手の勝ち\n"),
        (None, "7g7f 3c3d", WHITE_WON, "", "   3 投了\nまで2手で後手の勝ち\n"),
        (None, "7g7f 3c3d", MOVER_LOSES, "不戦敗", "   3 不戦敗\nまで2手で後手の勝ち\n"),
        (None, "7g7f 3c3d", MOVER_WINS, "不戦勝", "   3 不戦勝\nまで2手で先手の勝ち\n"),
        (None, "7g7f 3c3d", ILLEGAL_BEFORE, "反則勝ち", "   3 反則勝ち\nまで2手で先手の反則勝ち\n"),
        (None, "7g7f 3c3d", BLACK_WON, "-ILLEGAL_ACTION", "   3 反則勝ち\nまで2手で先手の反則勝ち\n"),
        (PERPETUAL, CHECKS + "4h5h", None, "", "  14 反則勝ち\nまで13手で後手の反則勝ち\n"),
        (PERPETUAL, CHECKS, None, "千日手", "  13 反則負け\nまで12手で先手の反則負け\n"),
    ],
)
def test_wins_of_the_side_to_move_have_a_valid_ending(
    start: str | None, moves: str, outcome: int | None, word: str, end: str
) -> None:
    """Only a foul among the moves of the game is written as a foul."""
    builder = GameBuilder("made", NAMED.get(start, start) if start else NAMED["平手"])
    for move in moves.split():
        builder.play(move_from_usi(move))
    game = builder.finish(word, outcome)
    text = kif_text(game)
    assert text.endswith(end)
    assert read_kif(text, "made").result == game.result
    assert kif_text(read_kif(text, "made")) == text


def test_lines_with_variations_are_marked(data_directory: Path) -> None:
    """Mark moves where a variation leaves the main line, like Kifu for Windows."""
    (game,) = read_games(data_directory / "wcsc28.kif")
    assert isinstance(game, Game)
    blocks = "".join(f"変化：{number}手\n   {number} 中断\n\n" for number in (30, 40, 5, 7, 5))
    lines = kif_text(replace(game, variations=blocks.rstrip())).split("\n\n")[0].splitlines()
    assert [int(line[:4]) for line in lines if line.endswith("+")] == [5, 30]


def test_scores_are_written_in_the_form_of_shogihome() -> None:
    assert score_comment(-80, PLAYER) == "**評価値=-80"
    assert score_comment(80, ANALYSIS) == "*#評価値=80"
    assert score_comment(MATE - 5, PLAYER) == "**詰み=先手勝ち:5手"
    assert score_comment(-MATE, ANALYSIS) == "*#詰み=後手勝ち"
