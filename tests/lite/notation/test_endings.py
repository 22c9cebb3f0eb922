"""Endings of games: the first one counts, and sentences give the winner by side or by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lite.notation.csa import read_csa
from lite.notation.game import FOULS, UNFINISHED, Game, GameError
from lite.notation.games import read_games, read_starts
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif, read_variations
from lite.notation.kif_endings import ENDINGS
from lite.notation.kif_writer import kif_text
from lite.records.formats import DECLARATION, MOVE_LIMIT, SENNICHITE
from search.rules.shogi import START_SFEN

HEAD = "手合割：平手\n先手：甲\n後手：乙\n"
KIF = f"{HEAD}手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 ３四歩(33)\n"
KI2 = f"{HEAD}▲７六歩 △３四歩\n"
CSA = "PI\n+\n+7776FU\n-3334FU\n"
USI = "startpos moves 7g7f 3c3d "
PERPETUAL = "後手の持駒：なし\n" + "".join(
    f"|{row}|\n"
    for row in (" ・ ・ ・ ・v玉 ・ ・ ・ ・", *[" ・" * 9] * 6, " ・ ・ ・ ・ ・ 飛 ・ ・ ・", " ・" * 8 + " 玉")
)
"""A diagram in which black's rook can check white's king forever."""


def read(path: Path, text: str) -> Game | GameError:
    path.write_text(text, encoding="utf-8")
    (game,) = read_games(path)
    return game


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.kif", f"{KIF}   3 投了 ( 0:03/00:00:04)\n   4 中断 ( 0:00/00:00:02)\nまで2手で中断\n"),
        ("a.kif", f"{KIF}   3 投了 ( 0:03/00:00:04)\n   3 ERROR\n   4 千日手\n"),
        ("a.kif", f"{KIF}   3 投了 ( 0:03/00:00:04)\nまで2手で後手の勝ち\nまで2手で中断\n"),
        ("a.ki2", f"{KI2}投了\n中断\nまで2手で中断\n"),
        ("a.ki2", f"{KI2}▲投了 ▲中断\n"),
        ("a.ki2", f"{KI2}まで2手で後手の勝ち\n中断\n"),
        ("a.csa", f"{CSA}%TORYO\nT3\n%CHUDAN\nT4\n"),
        ("a.csa", f"{CSA}%TORYO,T3\n%SENNICHITE\n"),
        ("a.usi", f"{USI}resign win\n"),
        ("a.usi", f"{USI}resign break\n"),
    ],
)
def test_the_first_ending_counts(tmp_path: Path, name: str, text: str) -> None:
    game = read(tmp_path / name, text)
    assert isinstance(game, Game), game
    assert (len(game.moves), game.result) == (2, 2)
    if "T3" in text or "0:03" in text:
        assert game.times[2] == 3000
    assert read_kif(kif_text(game), "again").result == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.kif", f"{KIF}   3 中断\n   4 投了\n"),
        ("a.csa", f"{CSA}%CHUDAN\n%TORYO\n"),
    ],
)
def test_a_later_ending_does_not_decide_an_interrupted_game(tmp_path: Path, name: str, text: str) -> None:
    error = read(tmp_path / name, text)
    assert isinstance(error, GameError)
    assert error.reason == "no result"


@pytest.mark.parametrize(
    ("name", "text", "move"),
    [
        ("a.kif", f"{KIF}   3 投了\n   4 ２六歩(27)\n", "２六歩"),
        ("a.kif", f"{KIF}   3 投了\n   4 二六歩\n", "二六歩"),
        ("a.ki2", f"{KI2}投了\n▲２六歩\n", "２六歩"),
        ("a.csa", f"{CSA}%TORYO\n+2726FU\n", r"\+2726FU"),
        ("a.usi", f"{USI}resign 2g2f\n", "2g2f"),
    ],
)
def test_moves_after_an_ending_are_refused(tmp_path: Path, name: str, text: str, move: str) -> None:
    error = read(tmp_path / name, text)
    assert isinstance(error, GameError)
    with pytest.raises(GameError, match=f"after the ending: '{move}"):
        raise error


@pytest.mark.parametrize("end", ["投了\n", "まで2手で後手の勝ち\n", "投了\nまで2手で後手の勝ち\n"])
def test_a_second_game_in_a_file_is_refused_as_such(end: str) -> None:
    for reader, game in ((read_kif, KIF), (read_ki2, KI2)):
        with pytest.raises(GameError, match=r"a move after the ending: '▲?７六歩.*one game.*\(line [0-9]+\)"):
            reader(game + end + game + end, "a")


def test_the_length_of_a_mate_problem_may_stand_above_its_moves() -> None:
    assert read_kif(f"まで2手詰\n{KIF}   3 詰み\n", "a").result == 2


SENTENCES = [
    ("先手切れ負け", 2),
    ("先手の時間切れ負け", 2),
    ("先手時間切れ", 2),
    ("先手反則負け", 2),
    ("先手 反則負け", 2),
    ("先手の投了", 2),
    ("先手の負け", 2),
    ("後手の勝ち", 2),
    ("後手勝利", 2),
    ("乙の勝ち", 2),
    ("乙勝ち", 2),
    ("乙六段の勝ち", 2),
    ("乙 六段の勝ち", 2),
    ("乙（六段）の勝ち", 2),
    ("乙名人・竜王の勝ち", 2),
    ("甲の時間切れ負け", 2),
    ("甲の反則負け", 2),
    ("甲の時間切れにより乙の勝ち", 2),
    ("先手の時間切れにより、乙の勝ち", 2),
    ("先手の投了により丙の勝ち", 2),
    ("先手の時間切れで丙の勝ち", 2),
    ("甲の時間切れで乙の勝ち", 2),
    ("甲の投了によって乙の勝ち", 2),
    ("甲の反則により後手の勝ち", 2),
    ("先手の二歩による反則負け", 2),
    ("先手、時間切れ負け", 2),
    ("先手の持ち時間切れ", 2),
    ("先手の接続切れ", 2),
    ("先手の二歩", 2),
    ("先手の打ち歩詰め", 2),
    ("後手の二歩により先手の勝ち", 1),
    ("乙の王手放置により甲の勝ち", 1),
    ("先手の入玉勝ち", 1 | DECLARATION),
    ("先手の入玉宣言勝ち", 1 | DECLARATION),
    ("後手の反則負け", 1),
]
SIGNS = [("△の勝ち", 2), ("☖勝ち", 2), ("▲の時間切れ負け", 2), ("☗の投了", 2), ("▲先手の投了", 2)]
SIGNS += [("△乙の勝ち", 2), ("☖乙六段の勝ち", 2), ("▲甲の負け", 2), ("▽ 乙 勝ち", 2), ("甲の投了により△乙の勝ち", 2)]
SIGNS += [("△丙四段の勝ち", 2), ("☗勝又の負け", 2), ("☖丙反則負け", 1), ("▲丙時間切れにより後手の勝ち", 2)]
SIGNS += [("△甲の負け", 2)]  # the name counts


@pytest.mark.parametrize(("sentence", "result"), [*SENTENCES, *SIGNS])
def test_a_verdict_names_the_winner_or_the_loser(sentence: str, result: int) -> None:
    for before in (
        "まで2手で",
        "まで 2 手で",
        "まで、２手で、",
        "まで二手にて",
        "以上、2手で",
        "以上2手で",
        "まで、2手をもって",
    ):
        for reader, head in ((read_kif, KIF), (read_ki2, KI2)):
            game = reader(f"{head}{before}{sentence}\n", "a")
            assert (game.result, game.ending) == (result, sentence)


@pytest.mark.parametrize(
    "remark", ["感想戦", "解説：居飛車", "-- ", "先手は勝ちを逃した", "先手の勝ち筋は", "    ２六歩から", "[広告]"]
)
@pytest.mark.parametrize("end", ["まで2手で後手の勝ち\n", "迄2手にて後手の勝ち\n", "迄、二手で乙の勝ち\n"])
def test_remarks_of_any_form_may_follow_a_verdict(end: str, remark: str) -> None:
    for reader, head in ((read_kif, KIF), (read_ki2, KI2)):
        game = reader(f"{head}{end}\n{remark}\n", "a")
        assert (len(game.moves), game.result) == (2, 2)
        assert game.comments == ({} if "：" in remark else {3: [f"*{remark.strip()}"]})
        assert read_kif(kif_text(game), "a").comments == game.comments
    with pytest.raises(GameError, match="states 4 moves"):
        read_kif(f"{KIF}まで4手で後手の勝ち\n{remark}\n", "a")


@pytest.mark.parametrize("remark", ["▲７六歩が敗着", "△３四歩▲２六歩の順", "☖の好手"])
@pytest.mark.parametrize("end", ["まで2手で後手の勝ち", "投了"])
def test_a_remark_below_the_end_of_ki2_may_begin_with_the_mark_of_a_side(end: str, remark: str) -> None:
    with pytest.raises(GameError, match=r"cannot read|mark of the other side"):
        read_ki2(f"{KI2}{remark}\n{end}\n", "a")
    game = read_ki2(f"{KI2}{end}\n{remark}\n", "a")
    assert (len(game.moves), game.result, game.comments) == (2, 2, {3: [f"*{remark}"]})


@pytest.mark.parametrize(
    "end",
    ["まで2手で後手の勝ち", " まで、2手で後手の勝ち", "　投了", " 投了\nまで2手で後手の勝ち", " 切れ負け", "　▲投了"],
)
def test_the_ending_of_ki2_may_follow_the_last_move_in_its_line(end: str) -> None:
    game = read_ki2(f"{HEAD}▲７六歩△３四歩{end}\n", "a")
    assert (len(game.moves), game.result) == (2, 2)
    with pytest.raises(GameError, match="after the ending"):
        read_ki2(f"{HEAD}▲７六歩△３四歩 投了 ▲２六歩\n", "a")


@pytest.mark.parametrize(("sentence", "result"), SENTENCES)
def test_a_sentence_may_follow_the_number_of_the_ending(sentence: str, result: int) -> None:
    game = read_kif(f"{KIF}   3 {sentence}   （ 0:05／00:00:06）\n", "a")
    assert (game.result, game.ending, game.times[2]) == (result, sentence, 5000)
    assert read_ki2(f"{KI2}{sentence}\n", "a").result == result
    assert read_kif(kif_text(game), "a").result == result


@pytest.mark.parametrize("sentence", ["後手切れ負け", "後手の投了", "先手の勝ち", "甲の勝ち", "乙の時間切れ負け"])
def test_a_sentence_that_contradicts_the_moves_is_refused(sentence: str) -> None:
    for reader, text in ((read_kif, f"{KIF}   3 {sentence}\n"), (read_kif, f"{KIF}まで2手で{sentence}\n")):
        with pytest.raises(GameError) as caught:
            reader(text, "a")
        assert caught.value.reason == "moves and ending that disagree"


@pytest.mark.parametrize("end", ["まで2手で後手の勝ち\n", "投了\n", "投了\nまで2手で後手の勝ち\n"])
def test_headers_of_a_position_below_the_end_of_a_game_are_remarks(end: str) -> None:
    """They may belong to another game."""
    remarks = ["先手：解説 長い", "後手：丙", "下手：丁", "上手：戊", "手合割：二枚落ち"]
    for reader, head in ((read_kif, KIF), (read_ki2, KI2)):
        game = reader(head + end + "\n".join([*remarks, "上手の持駒：飛", "下手番"]) + "\n", "a")
        assert (game.names, game.start_sfen, game.handicap_words) == (("甲", "乙"), START_SFEN, False)
        assert (game.headers, game.comments[3]) == ({}, [f"*{remark}" for remark in remarks])
        assert read_kif(kif_text(game), "a").comments == game.comments


def test_sentences_of_a_loss_without_a_side_refer_to_the_mover() -> None:
    for word in ("時間切れ負け", "切れ負け", "時間切れ"):
        assert read_kif(f"{KIF}まで2手で{word}\n", "a").result == 2
        assert read_kif(f"{KIF}   3 {word}\n", "a").result == 2
        assert read_ki2(f"{KI2}{word}\n", "a").result == 2


@pytest.mark.parametrize(
    ("black", "white", "sentence", "result"),
    [
        ("羽生善治 九段", "藤井 聡太", "藤井七段の勝ち", 2),
        ("羽生善治 九段", "藤井 聡太", "羽生の時間切れ負け", 2),
        ("羽生善治", "藤井聡太", "藤井聡太七段の勝ち", 2),
        ("森 信雄", "森内 俊之", "森内の勝ち", 2),
        ("羽生善治", "森 信雄", "森七段の勝ち", 2),
        ("藤井猛", "藤井聡太", "藤井の勝ち", None),
        ("藤井猛", "藤井聡太", "藤井聡の勝ち", 2),
        ("Apery", "Apollo", "Ap の勝ち", None),
        ("時間旅行", "乙", "時間切れにより乙の勝ち", 2),
    ],
)
def test_a_verdict_may_use_a_part_of_a_name(black: str, white: str, sentence: str, result: int | None) -> None:
    text = KIF.replace("甲", black).replace("乙", white) + f"まで2手で{sentence}\n"
    if result is not None:
        assert read_kif(text, "a").result == result
        return
    with pytest.raises(GameError) as caught:
        read_kif(text, "a")
    assert caught.value.reason == "no result"


@pytest.mark.parametrize("piece", ["・", "（", "名人", " 名人", "六段)", "あ"])
def test_long_names_are_read_in_linear_time(piece: str) -> None:
    name = piece * (300_000 // len(piece)) + "x"
    assert read_kif(KIF.replace("甲", name) + "まで2手で乙の勝ち\n", "a").result == 2


@pytest.mark.parametrize("sentence", ["先手の二歩により後手の勝ち", "先手の二歩", "甲の二歩で乙の勝ち", "先手の反則"])
def test_a_foul_ends_a_game_after_the_illegal_move(sentence: str) -> None:
    game = read_kif(f"{KIF}   3 ５五歩打\nまで3手で{sentence}\n", "a")
    assert (len(game.moves), game.result) == (2, 2)
    again = read_kif(kif_text(game), "again")
    assert (again.result, again.ending) == (2, "反則負け")


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("引分け", 0),
        ("双方入玉により持将棋", 0),
        ("双方の合意により、引き分け", 0),
        ("接続切れ", 2),
        ("宣言勝ち", 1 | DECLARATION),
        ("入玉宣言負け", 2),  # a declaration that does not stand
        ("宣言負け", 2),
        ("持ち時間切れ", 2),
        ("時間負け", 2),
        ("切断負け", 2),
        ("時間切れ勝ち", 1),
        ("接続切れ勝ち", 1),
        ("切断勝ち", 1),
        ("連続王手の千日手", 1),
    ],
)
def test_endings_in_further_words_are_read(words: str, result: int) -> None:
    texts = [f"{KIF}まで2手で{words}\n"] + ([] if "により" in words else [f"{KIF}   3 {words}\n"])
    games = [read_kif(text, "a") for text in texts]
    games += [] if "により" in words else [read_ki2(f"{KI2}{words}\n", "a")]
    for game in games:
        assert game.result == result
        assert read_kif(kif_text(game), "again").result == result


@pytest.mark.parametrize("plies", [10, 11, 12, 13])
@pytest.mark.parametrize("word", ["王手連続千日手", "連続王手の千日手"])
def test_perpetual_check_is_lost_by_the_checking_side(word: str, plies: int) -> None:
    """The fourth occurrence may be the position in check or the one after the escape."""
    game = ("５八飛(48)", "４一玉(51)", "４八飛(58)", "５一玉(41)")
    moves = "".join(f"{number + 1:4d} {game[number % 4]}\n" for number in range(plies))
    head = PERPETUAL + moves
    verdict = f"まで{plies}手で{word}\n"
    for end in (f"{plies + 1:4d} {word}\n", verdict, f"{word}\n", f"{plies + 1:4d} {word}\n{verdict}"):
        for further in ("", f"まで{plies}手で後手の勝ち\n"):
            found = read_kif(head + end + further, "a")
            assert found.result == 2
            again = read_kif(kif_text(found), "again")
            assert (again.result, kif_text(again)) == (2, kif_text(found))
    with pytest.raises(GameError) as caught:
        read_kif(f"{head}{plies + 1:4d} {word}\nまで{plies}手で先手の勝ち\n", "a")
    assert caught.value.reason == "moves and ending that disagree"


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("時間切れ引き分け", 0),
        ("時間切れ引分", 0),
        ("持ち時間切れにより引き分け", 0),
        ("接続切れのため、無勝負", 0),
        ("24点宣言で引き分け", 0),
        ("２４点法による持将棋", 0),
        ("千日手引き分け", SENNICHITE),
        ("最大手数で引分け", MOVE_LIMIT),
        ("打ち切り", UNFINISHED),
        ("先手優勢で打ち切り", UNFINISHED),
        ("先手勝勢で打切", UNFINISHED),
    ],
)
def test_a_draw_or_an_interruption_may_follow_its_cause(words: str, result: int) -> None:
    for end in (f"   3 {words}   ( 0:05/00:00:06)\n", f"まで2手で{words}\n", f"   3 {words}\nまで2手で{words}\n"):
        game = read_kif(KIF + end, "a", unfinished=True)
        assert game.result == result
        assert read_kif(kif_text(game), "again", unfinished=True).result == result


@pytest.mark.parametrize("line", ["２六歩で投了", "２六歩打ち切り", "同歩で引き分け", "26歩引き分け"])
def test_a_damaged_move_with_an_ending_is_refused(line: str) -> None:
    with pytest.raises(GameError, match="cannot read"):
        read_kif(f"{KIF}   3 {line}\n", "a", unfinished=True)


def _with_ending(word: str) -> list[Game]:
    """Return the game with the ending on a numbered line, in the verdict, and alone in its line."""
    ends = (f"   3 {word}\n", f"まで2手で{word}\n", f"{word}\n")
    return [read_kif(f"{KIF}{end}", "a") for end in ends] + [read_ki2(f"{KI2}{end}", "a") for end in ends[1:]]


@pytest.mark.parametrize("word", [*FOULS.replace("?", "").split("|"), "打ち歩詰め", "打歩詰", "打歩詰め", "二歩負け"])
def test_a_word_for_a_broken_rule_ends_a_game(word: str) -> None:
    for game in _with_ending(word):
        assert (len(game.moves), game.result) == (2, 2)
        assert "   3 反則負け\nまで2手で先手の反則負け\n" in kif_text(game)
    for end in (f"   4 {word}\n", f"まで3手で{word}\n", f"{word}\n"):
        game = read_kif(f"{KIF}   3 ５五歩打\n{end}", "a")
        assert (len(game.moves), game.result) == (2, 2)
    for game in _with_ending(f"{word.removesuffix('負け')}勝ち"):
        assert game.result == 1
        assert read_kif(kif_text(game), "again").result == 1


@pytest.mark.parametrize(
    ("word", "result"),
    [("時間切", 2), ("接続切", 2), ("持ち時間切", 2), ("時間切負け", 2), ("先手時間切", 2), ("時間切勝ち", 1)],
)
def test_words_for_an_ending_may_lack_their_last_sign(word: str, result: int) -> None:
    for game in _with_ending(word):
        assert game.result == result
        assert read_kif(kif_text(game), "again").result == result


@pytest.mark.parametrize("line", ["二歩打", "二歩成(23)", "二歩不成(23)", "二歩(23)", "二歩(23)   ( 0:05/00:00:06)"])
def test_a_damaged_move_is_no_word_for_a_broken_rule(line: str) -> None:
    with pytest.raises(GameError, match="cannot read"):
        read_kif(f"{KIF}   3 {line}\n", "a")
    assert read_kif(f"{KIF}   3 二歩         ( 0:05/00:00:06)\n", "a").times[2] == 5000


@pytest.mark.parametrize(
    "line", ["時間切れ負け", "乙の勝ち", "△乙の勝ち", "後手勝ち", "投了", "詰み", "　投了", "甲の時間切れ負け"]
)
def test_an_ending_may_lack_its_number(tmp_path: Path, line: str) -> None:
    for head, name in ((KIF, "a.kif"), (KI2, "a.ki2")):
        for end in (line, f"{line}\n中断", f"{line}\n先手は勝ちを逃した", f"{line}\nまで2手で後手の勝ち"):
            game = read(tmp_path / name, f"{head}{end}\n")
            assert isinstance(game, Game), game
            assert (len(game.moves), game.result) == (2, 2)
            assert game.comments == ({3: ["*先手は勝ちを逃した"]} if "逃した" in end else {})
        with pytest.raises(GameError, match="after the ending"):
            (read_kif if head == KIF else read_ki2)(f"{head}{line}\n   3 ２六歩(27)\n▲２六歩\n", "a")


def test_an_ending_without_a_number_ends_a_variation_and_the_search_for_a_position(tmp_path: Path) -> None:
    variations = "変化：2手\n   2 ８四歩(83)\n投了\n\n変化：1手\n   1 ２六歩(27)\n"
    found, error = read_variations(read_kif(f"{KIF}   3 投了\n\n{variations}", "a"))
    assert error is None
    assert [one.first for one in found] == [2, 1]
    (tmp_path / "a.kif").write_text(f"{HEAD}中断\n", encoding="utf-8")
    assert read_starts(tmp_path / "a.kif") == [START_SFEN]


def test_an_interrupted_game_may_lack_the_number_of_its_ending() -> None:
    assert read_kif(f"{KIF}中断\n", "a", unfinished=True).ending == "中断"
    with pytest.raises(GameError) as caught:
        read_kif(f"{KIF}中断\n", "a")
    assert caught.value.reason == "no result"


def test_no_word_for_an_ending_hides_a_longer_one() -> None:
    words = list(ENDINGS)
    for index, word in enumerate(words):
        assert not any(later.startswith(word) for later in words[index + 1 :]), word


@pytest.mark.parametrize("word", ["指し掛け", "指掛"])
def test_an_adjourned_game_is_unfinished(word: str) -> None:
    for reader, text in ((read_kif, f"{KIF}   3 {word}\n"), (read_ki2, f"{KI2}{word}\n")):
        assert len(reader(text, "a", unfinished=True).moves) == 2
        with pytest.raises(GameError) as caught:
            reader(text, "a")
        assert caught.value.reason == "no result"


def test_sentences_use_the_names_of_a_handicap_game() -> None:
    head = "手合割：角落ち\n上手：師匠\n下手：弟子\n   1 ３四歩(33)\n"
    assert read_kif(f"{head}まで1手で師匠の勝ち\n", "a").result == 2
    with pytest.raises(GameError) as caught:
        read_kif(f"{head}まで1手で弟子の勝ち\n", "a")
    assert caught.value.reason == "moves and ending that disagree"


@pytest.mark.parametrize("end", ["'end of file, written by a script\n", "'a\n'b\n\n", "\n", "'a\n/\n'b\n"])
def test_comments_after_the_last_separator_of_csa_are_not_a_game(tmp_path: Path, end: str) -> None:
    game = f"V2.2\n{CSA}%TORYO\n"
    path = tmp_path / "a.csa"
    path.write_text(f"{game}/\n{game}/\n{end}", encoding="utf-8")
    assert [isinstance(one, Game) for one in read_games(path)] == [True, True]
    assert len(read_starts(path) or ()) == 2
    assert len(list(read_csa(f"'before\n/\n{game}", "a"))) == 1


def test_csa_games_that_were_joined_without_a_separator_are_told_apart() -> None:
    game = f"'CSA encoding=UTF-8\nV3.0\nN+a\nN-b\n{CSA}T2\n%TORYO\n'summary:toryo:a lose:b win\n"
    found = list(read_csa(game * 3, "a.csa"))
    assert [(one.place, one.result) for one in found if isinstance(one, Game)] == [
        (f"a.csa game {number}", 2) for number in (1, 2, 3)
    ]
    cut, whole = read_csa(f"V2.2\n{CSA}{game}", "a.csa")
    assert isinstance(cut, GameError)
    assert cut.reason == "no result"
    assert isinstance(whole, Game)
    _, damaged = read_csa(f"{game}{game}X\n", "a.csa")
    assert "a.csa game 2: cannot read the line 'X' (line 23)" in str(damaged)


@pytest.mark.parametrize("end", [b"\x1a", b"\0\0\0", b"\x1a\0\0", b"\n\x1a"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csa", f"{CSA}%TORYO\n"),
        ("a.csa", f"{CSA}%TORYO\n/\n"),
        ("a.kif", f"{KIF}   3 投了\n"),
        ("a.ki2", f"{KI2}投了\n"),
        ("a.usi", f"{USI}resign\n"),
    ],
)
def test_a_mark_of_the_end_of_a_file_is_no_line(tmp_path: Path, name: str, text: str, end: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode() + end)
    (game,) = read_games(path)
    assert isinstance(game, Game), game
    assert game.result == 2


@pytest.mark.parametrize("text", ["'comments alone\n", "V2.2\n/\n'x\n", "'a\n/\n'b\n"])
def test_a_csa_file_without_a_game_is_refused(text: str) -> None:
    (error,) = read_csa(text, "a.csa")
    assert isinstance(error, GameError)
