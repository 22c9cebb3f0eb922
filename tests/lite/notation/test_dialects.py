"""Games in the dialects of other programs and sites, from public reports of unreadable files."""

from __future__ import annotations

import re
from pathlib import Path

import cshogi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.notation.csa import read_csa
from lite.notation.game import UNFINISHED, Game, GameError
from lite.notation.games import read_games, read_starts
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif, read_variations
from lite.notation.kif_writer import kif_text
from search.rules.sfen import move_to_usi
from search.rules.shogi import START_SFEN


@pytest.mark.parametrize(("written", "read"), [(" *", "*"), ("* ", "*"), ("* \n", "*.\n")])
def test_csa_boards_without_blanks_are_read(written: str, read: str) -> None:
    """Mails and web pages lose blanks."""
    board = cshogi.Board("l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL b RGgsn5p 1")
    game = next(read_csa(board.csa_pos().replace(written, read) + "+9888HI\n%TORYO", "a.csa"))
    assert isinstance(game, Game)
    assert game.start_sfen.split()[:3] == board.sfen().split()[:3]


@pytest.mark.parametrize("start", ["sfen {} 1", "{} 1", "sfen {}", "{}", "position sfen {}"])
def test_usi_lines_without_the_word_position_or_a_move_number_are_read(start: str, tmp_path: Path) -> None:
    placed = " ".join(START_SFEN.split()[:3])
    (tmp_path / "a.usi").write_text(f"{start.format(placed)} moves 7g7f 3c3d resign\n")
    (game,) = read_games(tmp_path / "a.usi")
    assert isinstance(game, Game)
    assert (len(game.moves), game.result, game.first_ply) == (2, 2, 0)


def test_csa_lines_may_end_in_blanks() -> None:
    text = "V2.2\nN+甲 乙\nN-丙\n$EVENT:x\nPI\n+\n+7776FU\nT1\n-3334FU,T2\n%TORYO\nT3\n".replace("\n", "   \n")
    (game,) = read_csa(f"{text}/  \n", "a.csa")
    assert isinstance(game, Game), game
    assert (game.names, game.headers, game.times.tolist()) == (("甲 乙", "丙"), {"棋戦": "x"}, [1000, 2000, 3000])


def test_csa_games_may_be_separated_by_a_line_with_blanks() -> None:
    games = list(read_csa("PI\n+\n+7776FU\n%TORYO\n/ \nPI\n+\n+2726FU\n%TORYO\n", "a.csa"))
    assert [game.result for game in games if isinstance(game, Game)] == [1, 1]


@pytest.mark.parametrize(
    ("square", "piece"), [("７６", "歩"), ("76", "歩"), ("▲７六", "歩"), ("７六", "歩 "), ("☗７六", "歩　")]
)
def test_optional_forms_of_moves_by_kifu_for_windows_are_read(square: str, piece: str) -> None:
    game = read_kif(f"   1 {square}{piece}(77)   ( 0:01/00:00:01)\n   2 △投了\n", "a.kif")
    assert ([move_to_usi(int(move)) for move in game.moves], game.result) == (["7g7f"], 1)
    game = read_ki2(f"▲{square.strip('▲☗')}{piece}\nまで1手で先手の勝ち\n", "a.ki2")
    assert ([move_to_usi(int(move)) for move in game.moves], game.result) == (["7g7f"], 1)


@pytest.mark.parametrize("end", ["△投了\n", "△投了\nまで1手で先手の勝ち\n"])
def test_the_ending_of_ki2_by_shogi_db2_is_read(end: str) -> None:
    game = read_ki2(f"▲７六歩 {end}", "a.ki2")
    assert (len(game.moves), game.result, game.ending) == (1, 1, "投了")


GOLDS = """| ・ ・ ・ ・v玉 ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ ・ ・ ・ ・ ・ ・|
| ・ ・ ・ 金 玉 金 ・ ・ ・|
先手の持駒：金
"""


@pytest.mark.parametrize(
    ("written", "move"),
    [
        ("５八金左", "6i5h"),
        ("５八金(69)", "6i5h"),
        ("５八金（４９）", "4i5h"),
        ("５八金右(49)", "4i5h"),
        ("５八金(00)", "G*5h"),
        ("５八金打(00)", "G*5h"),
        ("５八金", None),
        ("５八金右(69)", None),
        ("５八金(59)", None),
        ("４七金(69)", None),
    ],
)
def test_moves_of_ki2_may_have_their_origin(written: str, move: str | None) -> None:
    """As old versions of Kifu for Windows write them, and lines of engines in GUIs."""
    if move is None:
        with pytest.raises(GameError, match=r"ambiguous|illegal"):
            read_ki2(f"{GOLDS}▲{written}\n投了\n", "a")
        return
    game = read_ki2(f"{GOLDS}▲{written}\n投了\n", "a")
    assert [move_to_usi(int(one)) for one in game.moves] == [move]


def test_a_drop_in_kif_may_have_the_origin_00() -> None:
    """As the server of Denryu-sen writes it."""
    game = read_kif(f"{GOLDS}   1 ５八金打(00)           ( 0:07/00:01:00)\n   2 投了\n", "a")
    assert ([move_to_usi(int(one)) for one in game.moves], game.times.tolist()) == (["G*5h"], [7000, -1])


@pytest.mark.parametrize(
    "move",
    [
        "２二角(88)成",
        "22角(88)成",
        "２二角(88) 不成",
        "２二角成(88)成",
        "２二角成(88)(77)",
        "２二角成(88) なに",
        "２二角成(88) △",
        "２二角成(88)   ( 0:05/00:00:07)成",
        "５五角打(88)",
        "５五角打 成",
    ],
)
def test_text_after_a_move_is_not_ignored(move: str) -> None:
    """A promotion that is ignored gives another game."""
    with pytest.raises(GameError, match=r"cannot read .* after move 3 .*line 3"):
        read_kif(f"   1 ７六歩(77)\n   2 ３四歩(33)\n   3 {move}\n   4 投了\n", "a.kif")
    with pytest.raises(GameError):
        read_ki2(f"▲７六歩 △３四歩\n▲{move}\n投了\n", "a.ki2")


@pytest.mark.parametrize(
    ("after", "milliseconds", "comments"),
    [
        ("+", -1, {}),
        ("   ( 0:05/00:00:05)+", 5000, {}),
        ("（ 0:05／　　）＋", 5000, {}),
        (" (0:5/0:0:5)", 5000, {}),
        (" (--:--/--:--:--)", -1, {}),
        (" ()", -1, {}),
        ("   0:05/00:00:05", 5000, {}),
        ("0:05", 5000, {}),
        (" 1:02:03 +", 3_723_000, {}),
        (" (1分05秒)", 65_000, {}),
        ("（１２秒）", 12_000, {}),
        (" 1時間2分3秒/2時間", 3_723_000, {}),
        (" (2分/1時間)*好手", 120_000, {1: ["*好手"]}),
        (" (0.5秒)", 500, {}),
        (" ( /00:00:05)", -1, {}),
        (" *長考 5分 (0:05)", -1, {1: ["*長考 5分 (0:05)"]}),
        ("   ( 0:05/00:00:05)  *好手", 5000, {1: ["*好手"]}),
        ("＊評価値=80", -1, {1: ["*評価値=80"]}),
    ],
)
def test_a_clock_a_mark_and_a_comment_may_follow_a_move(
    after: str, milliseconds: int, comments: dict[int, list[str]]
) -> None:
    game = read_kif(f"   1 ７六歩(77){after}\n   2 投了\n", "a.kif")
    assert ([move_to_usi(int(move)) for move in game.moves], game.result) == (["7g7f"], 1)
    assert (game.times[0], game.comments) == (milliseconds, comments)
    if not comments:
        ended = read_kif(f"   1 ７六歩(77)\n   2 投了 {after}\n", "a.kif")
        assert (ended.times.tolist(), ended.ending) == ([-1, milliseconds], "投了")


@settings(max_examples=50)
@given(st.integers(0, 9), st.integers(0, 59), st.integers(0, 59), st.sampled_from(["{}", " ({})", "（{}/1:00:00）"]))
def test_every_form_of_a_clock_gives_the_same_time(hours: int, minutes: int, seconds: int, form: str) -> None:
    milliseconds = 1000 * (3600 * hours + 60 * minutes + seconds)
    minutes_alone = 60 * hours + minutes
    for clock in (
        f"{hours}:{minutes:02d}:{seconds:02d}",
        f"{minutes_alone}:{seconds:02d}",
        f"{hours}時間{minutes}分{seconds:02d}秒",
        f"{hours}時{minutes}分{seconds}秒",
        f"{minutes_alone}分{seconds}秒",
        f"{60 * minutes_alone + seconds}秒",
    ):
        text = form.format(clock)
        assert read_kif(f"1 ７六歩(77){text}\n2 投了 {text}\n", "a.kif").times.tolist() == [milliseconds] * 2


CSA = "PI\n+\n+7776FU\n-3334FU\n"


@pytest.mark.parametrize("place", ["手合割", "手数", "   2 投了"])
def test_the_address_of_a_page_is_a_comment(place: str) -> None:
    text = "手合割：平手\n手数----指手--\n   1 ７六歩(77)\n   2 投了\nまで1手で先手の勝ち\n"
    game = read_kif(text.replace(place, f"https://lishogi.org/abc\n{place}"), "a.kif")
    assert (game.headers, list(game.comments.values())) == ({}, [["*https://lishogi.org/abc"]])
    assert read_kif(kif_text(game), "a.kif").comments == game.comments


GAMES = {
    "csa": "V2.2\nN+甲\nN-乙\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n",
    "kif": "# KIF\n手合割：平手\n先手：甲\n後手：乙\n手数----指手--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n",
    "ki2": "手合割：平手\n先手：甲\n後手：乙\n\n▲７六歩    △３四歩\nまで2手で後手の勝ち\n",
    "usi": "# lines\n\nposition startpos moves 7g7f 3c3d resign\n",
}


@pytest.mark.parametrize(
    "change", [("：", ":"), ("\n", "\n    "), ("手合割", "  手合割"), ("手数", "*注\n  *注\n手数")]
)
@pytest.mark.parametrize("name", ["a.kif", "a.ki2", "a.csa", "a.txt"])
@pytest.mark.parametrize("form", ["kif", "ki2", "csa"])
def test_indented_lines_and_half_width_colons_are_read(
    tmp_path: Path, form: str, name: str, change: tuple[str, str]
) -> None:
    """As in text that was copied from a page or a mail."""
    (tmp_path / name).write_text(GAMES[form].replace(*change), encoding="utf-8")
    (game,) = read_games(tmp_path / name)
    assert isinstance(game, Game), game
    assert (len(game.moves), game.result, game.names) == (2, 2, ("甲", "乙"))
    assert read_starts(tmp_path / name) == [START_SFEN]


@pytest.mark.parametrize("named", ["csa", "kif", "kifu", "ki2", "usi", "sfen", "txt"])
@pytest.mark.parametrize("form", GAMES)
def test_the_notation_of_a_file_follows_from_its_lines(tmp_path: Path, form: str, named: str) -> None:
    """Shogi Quest writes CSA with the suffix .txt."""
    path = tmp_path / f"game.{named}"
    path.write_text(GAMES[form], encoding="utf-8")
    (game,) = read_games(path)
    assert isinstance(game, Game), game
    assert (len(game.moves), game.result) == (2, 2)
    assert game.names == (("", "") if form == "usi" else ("甲", "乙"))
    assert read_starts(path) == (None if form == "usi" or named in ("usi", "sfen") else [START_SFEN])


@pytest.mark.parametrize("name", ["a.txt", "a.csa", "a.kif", "a.ki2", "a.usi"])
def test_a_text_without_a_notation_is_refused_by_that_of_its_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("whatever\n+7776FU\n   1 ７六歩(77)\n")
    errors = list(read_games(tmp_path / name))
    assert all(isinstance(error, GameError) for error in errors)
    assert "whatever" in str(errors[0])


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff", "\x1a"])
@pytest.mark.parametrize("suffix", ["csa", "kif", "kifu", "ki2", "usi", "sfen", "txt"])
def test_an_empty_file_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    (tmp_path / f"a.{suffix}").write_text(text, encoding="utf-8")
    (error,) = read_games(tmp_path / f"a.{suffix}")
    assert isinstance(error, GameError)
    assert f"a.{suffix}: the file is empty" in str(error)


def test_a_file_of_comments_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.usi").write_text("# nothing yet\n")
    (error,) = read_games(tmp_path / "a.usi")
    assert isinstance(error, GameError)
    assert "a.usi: holds no game" in str(error)


@pytest.mark.parametrize("name", ["a.csa", "a.kif", "a.ki2"])
def test_an_empty_file_has_no_position(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("\n")
    with pytest.raises(GameError, match=f"{name}: no position"):
        read_starts(tmp_path / name)


KI2_VARIATIONS = """手合割：平手
▲７六歩    △３四歩    ▲２二角成  △同　銀
まで4手で後手の勝ち

変化：3手
*角を換えない
▲２六歩    △８四歩
*相掛かり
まで4手で中断

変化：4手
△４四歩
投了

変化：1手
▲２六歩
まで1手で後手の勝ち
"""


def test_variations_in_ki2_by_shogihome_equal_those_in_kif() -> None:
    """Each variation branches from the line before it."""
    game = read_ki2(KI2_VARIATIONS, "a.ki2")
    found, error = read_variations(game)
    assert error is None
    assert [(one.first, [move_to_usi(move) for move in one.moves]) for one in found] == [
        (3, ["7g7f", "3c3d", "2g2f", "8c8d"]),
        (4, ["7g7f", "3c3d", "2g2f", "4c4d"]),
        (1, ["2g2f"]),
    ]
    assert found[0].comments == {2: ["*角を換えない"], 4: ["*相掛かり"]}
    assert "\n   4 ４四歩(43)\n   5 投了\n\n変化：1手\n   1 ２六歩(27)\nまで1手で後手の勝ち\n" in kif_text(game)
    again = read_kif(kif_text(game), "a.kif")
    assert (again.variations, again.comments) == (game.variations, game.comments)


def test_too_many_variations_in_ki2_are_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variation is replayed from the first position: without a limit a small file would take minutes."""
    monkeypatch.setattr("lite.notation.ki2._MOST_REPLAYED", 9)
    text = "▲５八玉 △５二玉\n▲５九玉 △５一玉\nまで4手で中断\n" + "\n変化：4手\n△６二玉\n" * 5
    game = read_ki2(text, "a.ki2", unfinished=True)
    assert game.variations.count("変化：4手") == 2
    assert [line for lines in game.comments.values() for line in lines] == ["*変化：4手", "*△６二玉"] * 3


@pytest.mark.parametrize("line", ["△４五歩", "なにか", "棋戦：x", ""])
def test_unreadable_variations_in_ki2_are_comments(line: str) -> None:
    """A later variation that branches above the unreadable move does not depend on it."""
    game = read_ki2(KI2_VARIATIONS.replace("△４四歩\n投了", line), "a.ki2")
    found, error = read_variations(game)
    assert (error, [one.first for one in found]) == (None, [3, 1])
    assert game.comments == {5: [f"*{one}" for one in ("変化：4手", line) if one]}


BRANCHES = [(3, ["7g7f", "3c3d", "6g6f", "8c8d"]), (4, ["7g7f", "3c3d", "6g6f", "5c5d"]), (2, ["7g7f", "8c8d"])]
"""The variations below as far as they can be read: the second, of move 6, branches from a move that cannot be read."""


def _branches(game: Game) -> list[tuple[int, list[str]]]:
    """Return the numbers and moves of a game's variations."""
    return [(one.first, [move_to_usi(int(move)) for move in one.moves]) for one in read_variations(game)[0]]


@pytest.mark.parametrize("bad", ["▲９九歩", "▲なにか", "△８六歩"])
def test_the_rest_of_a_variation_in_ki2_is_a_comment(bad: str) -> None:
    text = "▲７六歩 △３四歩 ▲２六歩 △８四歩\nまで4手で後手の勝ち\n\n"
    text += f"変化：3手\n▲６六歩 △８四歩 {bad}\n△５四歩\n\n変化：6手\n△５四歩\n\n"
    game = read_ki2(text + "変化：4手\n△５四歩\n\n変化：2手\n△８四歩\n", "a.ki2")
    assert _branches(game) == BRANCHES
    assert f"\n*▲６六歩 △８四歩 {bad}\n*△５四歩\n" in game.variations


@pytest.mark.parametrize("bad", ["９九歩打", "二六歩", "８六歩(83)"])
def test_the_moves_of_a_variation_in_kif_before_an_unreadable_one_are_read(bad: str) -> None:
    text = "1 ７六歩(77)\n2 ３四歩(33)\n3 ２六歩(27)\n4 ８四歩(83)\n5 投了\n\n変化：3手\n3 ６六歩(67)\n4 ８四歩(83)\n"
    later = "\n変化：6手\n6 ５四歩(53)\n\n変化：4手\n4 ５四歩(53)\n\n変化：2手\n2 ８四歩(83)\n"
    for after in ("", "6 ５四歩(53)\n"):
        game = read_kif(f"{text}5 {bad}\n{after}{later}", "a.kif")
        error = read_variations(game)[1]
        assert _branches(game) == BRANCHES
        assert re.match("a.kif, variation 1: .*move 5", str(error))
    assert read_variations(read_kif(f"{text}5 ９九歩打\n6 反則負け\n", "a.kif"))[1] is None


def test_moves_after_the_ending_of_ki2_are_refused() -> None:
    with pytest.raises(GameError, match="a move after the ending"):
        read_ki2("▲７六歩\n投了\n△３四歩\n", "a.ki2")


@pytest.mark.parametrize(("turn", "moves"), [("+", "+7776FU,T0\n-3334FU,T2\n"), ("-", "-3334FU\n+7776FU\n")])
def test_csa_by_shogi_extend_without_a_start_position_is_read(turn: str, moves: str, tmp_path: Path) -> None:
    path = tmp_path / "wars.csa"
    path.write_text(f"V2.2\nN+a\nN-b\n$EVENT:将棋ウォーズ\n{turn}\n{moves}%TORYO\n", encoding="utf-8")
    (game,) = read_games(path)
    assert isinstance(game, Game), game
    assert game.start_sfen.split()[:2] == [START_SFEN.split()[0], "b" if turn == "+" else "w"]
    assert (len(game.moves), game.names) == (2, ("a", "b"))
    assert read_starts(path) == [game.start_sfen]


def test_an_unreadable_csa_line_is_named_by_its_number_in_the_file() -> None:
    texts = (CSA + "%TORYO", CSA + "\n+2726XX", "N+甲　乙\n\n甲　乙")
    _, move, line = read_csa("\n/\n".join(texts), "a.csa")
    assert re.fullmatch(r"a\.csa game 2: .*'\+2726XX' \(line 12\)", str(move))
    assert re.fullmatch(r"a\.csa game 3: .*'甲　乙' \(line 16\)", str(line))


def test_an_unknown_word_ends_a_game_unfinished() -> None:
    game = read_kif(
        "   1 ７六歩(77)\n   2 ３四歩(33)\n" + "   3 MATTA        ( 0:07/00:00:08)\n", "a.kif", unfinished=True
    )
    assert (len(game.moves), game.result, game.ending) == (2, UNFINISHED, "MATTA")
    assert read_ki2("▲７六歩 △３四歩\nまで2手でトライ\n", "a.ki2").result == 2


def test_a_clock_may_lack_the_sum_and_digits_may_be_wide() -> None:
    text = "１ ７六歩(７７)   ( 0:05)\n２ ３四歩（33）  ( 1:02 )\n 3 ２２角成(88)\n4 投了 ( 0:07)\n"
    game = read_kif(text, "a.kif")
    assert [move_to_usi(int(move)) for move in game.moves] == ["7g7f", "3c3d", "8h2b+"]
    assert game.times.tolist() == [5000, 62000, -1, 7000]


@pytest.mark.parametrize("reason", ["接続切れ", "時間切れ"])
def test_endings_in_comments_by_81dojo_are_read(reason: str) -> None:
    game = read_kif(f"   1 ７六歩(77)\n*{reason}にて終局\n", "a.kif")
    assert (game.result, game.ending) == (1, f"{reason}にて終局")
    assert "   2 切れ負け\n" in kif_text(game)
    assert read_kif(kif_text(game), "a.kif").result == 1
