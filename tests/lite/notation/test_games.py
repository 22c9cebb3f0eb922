"""Each notation gives the same game as cshogi, and damaged games are not read as other games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cshogi
import numpy as np
import pytest
from cshogi import CSA, KI2, KIF
from hypothesis import given, settings
from hypothesis import strategies as st

from lite.notation.csa import read_csa
from lite.notation.game import Game, GameBuilder, GameError
from lite.notation.games import read_games
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif
from lite.notation.kif_writer import kif_text
from lite.records.formats import DECLARATION, MAX_MOVES, MOVE_LIMIT, SENNICHITE
from search.rules.sfen import move_from_usi, move_to_usi

CSA_HEAD = "PI\n+\n+7776FU\n-3334FU\n"


def only(path: Path) -> Game:
    games = list(read_games(path))
    assert len(games) == 1
    assert isinstance(games[0], Game), games[0]
    return games[0]


def csa(text: str) -> Game:
    game = next(read_csa(text, "a.csa"))
    if isinstance(game, GameError):
        raise game
    return game


def test_three_notations_give_the_same_game(data_directory: Path) -> None:
    games = [only(data_directory / f"wcsc28{suffix}") for suffix in (".csa", ".kif", ".ki2")]
    for game in games:
        assert game.moves.tolist() == games[0].moves.tolist()
        assert game.result == 1
        assert game.names == ("762alpha", "きふわらべ")
        assert not game.scored.any()
    oracle = CSA.Parser.parse_file(str(data_directory / "wcsc28.csa"))[0]
    assert games[0].moves.tolist() == [cshogi.move16(move) for move in oracle.moves]
    assert games[0].ending == "TORYO"
    assert games[1].ending == "投了"


def test_csa_lines_accepted_by_other_programs_are_read() -> None:
    """Blanks after a sign, and the times of both sides in version 3."""
    game = csa("V3.0\n$TIME:300+10+0\n'*a\n$TIME+: 60\n'$TIME-:30\nPI\n+ \n'*b\n+7776FU \n-3334FU\n%TORYO")
    assert game.headers == {"持ち時間": "300+10+0", "先手持ち時間": "60", "後手持ち時間": "30"}
    assert (len(game.moves), game.comments) == (2, {0: ["*a", "*b"]})


@pytest.mark.parametrize("manner", ["", "不成", "生"])
def test_moves_without_promotion_in_kif_may_be_marked(manner: str) -> None:
    game = read_kif(KIF_HEAD + f"   3 ２二角{manner}(88)\n   4 同　銀(31)\n   5 投了\n", "a.kif")
    assert [move_to_usi(int(move)) for move in game.moves[2:]] == ["8h2b", "3a2b"]


@pytest.mark.parametrize(("manner", "moved"), [("", "8h2b"), ("不成", "8h2b"), ("生", "8h2b"), ("成", "8h2b+")])
def test_promotion_in_ki2_is_read_with_any_marks(manner: str, moved: str) -> None:
    game = read_ki2(f"☗７六歩 ☖３四歩 ▼２二角{manner} ▽同銀\n投了\n", "a.ki2")
    assert [move_to_usi(int(move)) for move in game.moves[2:]] == [moved, "3a2b"]


def test_ki2_may_disambiguate_pinned_pieces() -> None:
    """The gold on 4八 stands between its king and a rook."""
    rows = ["・ ・ ・ ・v玉 ・ ・ ・ ・", "・ ・ ・ ・ ・v飛 ・ ・ ・", *["・ ・ ・ ・ ・ ・ ・ ・ ・"] * 5]
    rows += ["・ ・ ・ 金 ・ 金 ・ ・ ・", "・ ・ ・ ・ ・ 玉 ・ ・ ・"]
    head = "後手の持駒：なし\n" + "".join(f"| {row}|\n" for row in rows) + "先手の持駒：なし\n"
    game = read_ki2(head + "▲５七金左\nまで1手で先手の勝ち\n", "a.ki2")
    assert [move_to_usi(move) for move in game.moves.tolist()] == ["6h5g"]
    with pytest.raises(GameError, match="illegal"):
        read_ki2(head + "▲５七金右\nまで1手で先手の勝ち\n", "a.ki2")


def test_numbers_in_comments_of_readers_are_not_scores(tmp_path: Path) -> None:
    path = tmp_path / "game.csa"
    path.write_text("PI\n+\n+7776FU\n'* 3 minutes of thought\n-3334FU\n'*30\n+2726FU\n'** 30\n%TORYO\n")
    game = only(path)
    assert game.scores.tolist() == [0, 0, 30]
    assert game.scored.tolist() == [False, False, True]


def test_scores_are_from_the_view_of_the_mover(data_directory: Path) -> None:
    game = only(data_directory / "scored.csa")
    oracle = CSA.Parser.parse_file(str(data_directory / "scored.csa"))[0]
    sign = np.where(np.arange(len(game.moves)) % 2 == 0, 1, -1)
    assert np.array_equal(game.scores * sign, oracle.scores)
    assert game.scored.sum() == (data_directory / "scored.csa").read_text().count("\n'** ")
    assert game.ratings == (3800.5, 3200.0)
    assert game.result == 2
    other = only(data_directory / "scored.kifu")
    assert np.array_equal(other.scores, game.scores)
    assert np.array_equal(other.scored, game.scored)


def test_lines_of_usi_moves(data_directory: Path, tmp_path: Path) -> None:
    games = list(read_games(data_directory / "games.usi"))
    assert [game.result for game in games if isinstance(game, Game)] == [2, 2, 1, 1]
    (tmp_path / "a.sfen").write_text(
        "# a comment\n#another\n\n"
        "position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 31 moves G*5b\n"
        "startpos moves 7g7f 3c3d\n"
        "startpos moves 7g7f 7g7f nonsense resign\n"
        "startpos moves 7g7f nonsense resign\n"
        "sfen 9/9/9/9/9/9/9/9/4K4 b - 1 moves 5i5h resign\n" + "startpos moves" + " 5i5h 5a5b 5h5i 5b5a" * 3 + "\n"
        "startpos moves 7g7f 3c3d win\n"
        "startpos moves 7g7f resign 3c3d\n"
    )
    mate, unfinished, illegal, noise, no_king, repeated, declared, more = read_games(tmp_path / "a.sfen")
    assert isinstance(mate, Game)
    assert (mate.result, mate.first_ply) == (1, 30)
    assert isinstance(unfinished, GameError)
    assert "line 5: " in str(unfinished)
    assert unfinished.reason == "no result"
    assert "move 2 (7g7f) is illegal" in str(illegal)
    assert "'nonsense' is not a USI move" in str(noise)
    assert "king" in str(no_king)
    assert isinstance(repeated, Game)
    assert repeated.result == SENNICHITE
    assert isinstance(declared, Game)
    assert declared.result == 1 | DECLARATION
    assert "after the ending: '3c3d'" in str(more)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csa", CSA_HEAD), ("a.kif", "   1 ７六歩(77)\n"), ("a.ki2", "▲７六歩\n"), ("a.usi", "startpos moves 7g7f")],
)
def test_a_game_without_a_result_is_refused_with_its_reason(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (error,) = read_games(tmp_path / name)
    assert isinstance(error, GameError)
    assert error.reason == "no result"


@pytest.mark.parametrize(
    ("end", "result"),
    [
        ("%TORYO", 2),
        ("%TSUMI", 2),
        ("%TIME_UP\nT10", 2),
        ("%ILLEGAL_MOVE", 2),
        ("+7776FU\n%ILLEGAL_MOVE", 2),
        ("%+ILLEGAL_ACTION", 2),
        ("+7776FU\n%+ILLEGAL_ACTION", 2),
        ("%-ILLEGAL_ACTION", 1),
        ("%KACHI", 1 | DECLARATION),
        ("%SENNICHITE", SENNICHITE),
        ("%JISHOGI\n'summary:max_moves:a draw:b draw", MOVE_LIMIT),
        ("%SENNICHITE\n'summary:oute_sennichite:a lose:b win", 2),
        ("%HIKIWAKE", 0),
        ("%MAX_MOVES", MOVE_LIMIT),
        ("%JISHOGI", 0),
    ],
)
def test_endings_of_csa_give_results(end: str, result: int) -> None:
    game = csa(CSA_HEAD + end + "\n")
    assert game.result == result
    assert len(game.moves) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSA_HEAD, "no result"),
        (CSA_HEAD + "%CHUDAN", "no result"),
        (CSA_HEAD + "+7776FU\n%TORYO", "move 3 .* is illegal"),
        (CSA_HEAD + "+7776FU\n%-ILLEGAL_ACTION", "move 3 .* is illegal"),
        (CSA_HEAD + "+7776FU\n-8384FU\n%TORYO", r"move 3 \(\+7776FU\) is illegal \(line 5\)$"),
        (CSA_HEAD + "+7776FU\n+XX\n%TORYO", r"move 3 \(\+7776FU\) is illegal \(line 5\)$"),
        (CSA_HEAD + "+2726FU\n+8384FU\n%TORYO", "other side"),
        (CSA_HEAD + "+2726XX\n%TORYO", "cannot read the move"),
        (CSA_HEAD + "+2726GI\n%TORYO", "another piece"),
        (CSA_HEAD + "+0055OU\n%TORYO", "illegal"),
        (CSA_HEAD + "garbage\n%TORYO", "cannot read the line 'garbage'"),
        ("+7776FU\n%TORYO", "before the first position"),
        ("'** 100\n%TORYO", "before the first position"),
        ("PI\n%TORYO", "before the first position"),
        (CSA_HEAD + "+\n+2726FU\n%TORYO", "a position in the middle of it"),
        ("PI82KA\n-\n-3334FU\n%TORYO", "no KA on 82 to take away"),
        ("PI55FU\n-\n-3334FU\n%TORYO", "no FU on 55 to take away"),
        ("PI77FU77FU\n-\n-3334FU\n%TORYO", "no FU on 77 to take away"),
        ("P1-XX\n+\n%TORYO", "unknown piece"),
        ("PI\n+\n%TORYO", "no moves"),
        ("P+55OU\n+\n+5554OU\n%TORYO", "king"),
        ("P-51OU\nP+59OU" + "00FU" * 274 + "\n+\n+5958OU\n%TORYO", "no hand holds so many FU"),  # 18 in a byte
        (CSA_HEAD + "%TORYO\n+2726FU", r"a move after the ending: '\+2726FU'"),
        (CSA_HEAD + "%TORYO,+2726FU", "a move after the ending"),
        (CSA_HEAD + "%CHUDAN\n+2726FU\n%TORYO", "a move after the ending"),
        (CSA_HEAD + "+2726FU,garbage\n%TORYO", "cannot read the line 'garbage'"),
    ],
)
def test_unusable_csa_games_are_refused(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        csa(text)


@given(joined=st.lists(st.booleans(), min_size=9, max_size=9))
def test_csa_statements_may_be_on_one_line_or_on_several(joined: list[bool]) -> None:
    """The standard allows commas instead of line ends, up to a comment, which may contain commas."""
    statements = ["PI", "+", "+7776FU", "T3", "-3334FU", "T2", "+2726FU", "T5.25", "%TORYO", "T7,'** 50 up, loudly"]
    ends = ["," if one else "\n" for one in joined]
    game = csa("".join(map("".join, zip(statements, [*ends, "\n"], strict=True))))
    assert (len(game.moves), game.result, game.ending) == (3, 1, "TORYO")
    assert game.times.tolist() == [3000, 2000, 5250, 7000]
    assert game.scores.tolist() == [0, 0, 50]


def test_positions_and_several_games_of_csa_are_read() -> None:
    pieces = "P+59OU00AL\nP-51OU\n+\n+0055KI\n%TORYO\n"
    handicap = "PI82HI22KA\n-\n-3334FU\n%TORYO\n"
    games = list(read_csa(f"{pieces}/\n{handicap}/\nbroken\n/\n{CSA_HEAD}%TORYO", "a.csa"))
    assert isinstance(games[0], Game)
    assert games[0].start_sfen == "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1"
    assert isinstance(games[1], Game)
    assert games[1].start_sfen == "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    assert games[1].result == 2
    assert str(games[2]).startswith("a.csa game 3: cannot read the line")
    assert isinstance(games[3], Game)
    promoted = csa("P+59OU55TO66UM00AL\nP-51OU\n+\n+0045KI\n%TORYO\n")
    assert promoted.start_sfen == "4k4/9/9/9/4+P4/3+B5/9/9/4K4 b 2RB4G4S4N4L17P 1"


def test_an_invalid_declaration_is_not_a_declaration() -> None:
    game = csa(CSA_HEAD + "%KACHI\n'summary:illegal kachi:a lose:b win\n")
    assert (game.result, game.ending) == (2, "illegal kachi")
    assert csa(CSA_HEAD + "%TORYO\n'summary:toryo:a lose:b win\n").ending == "TORYO"


def test_a_game_too_long_for_records_is_refused() -> None:
    builder = GameBuilder("a game")
    shuffle = [move_from_usi(usi) for usi in ("2h3h", "8b7b", "3h2h", "7b8b")]
    for ply in range(MAX_MOVES):
        builder.play(shuffle[ply % 4])
    with pytest.raises(GameError, match="more than 2047 moves"):
        builder.play(shuffle[MAX_MOVES % 4])


KIF_HEAD = "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 ３四歩(33)\n"


@pytest.mark.parametrize(
    ("end", "result"),
    [
        ("   3 投了\n", 2),
        ("   3 中断\nまで2手で後手の勝ち", 2),
        ("   3 反則勝ち\n", 1),
        ("   3 ５五歩打\n   4 反則勝ち\n", 2),
        ("   3 反則負け\n", 2),
        ("   3 不戦敗\nまで2手で後手の勝ち\n", 2),
        ("   3 不戦勝\nまで2手で先手の不戦勝\n", 1),
        ("   3 ２六歩(27)\n   4 不戦敗\n", 1),
        ("   3 ２六歩(27)\n   4 不戦勝\n", 2),
        ("   3 入玉勝ち\n", 1 | DECLARATION),
        ("   3 入玉宣言\n", 1 | DECLARATION),
        ("   3 勝ち宣言      ( 0:01/00:00:02)\nまで2手で先手の勝ち\n", 1 | DECLARATION),
        ("   3 勝ち宣言      ( 0:01/00:00:02)\nまで2手で後手の勝ち\n", 2),  # including MyShogi's word for a try
        ("   3 トライ         ( 0:00/00:00:00)\n", 2),
        ("まで2手でトライ\n", 2),
        ("   3 王手連続千日手\n", 1),
        ("   3 ERROR\nまで2手で後手の勝ち\n", 2),
        ("   3 最大手数\n", MOVE_LIMIT),
        ("   3 時間切れ\n", 2),
        ("   3  Time-up   ( 0:0/)\n", 2),
        ("3 先手 反則負け ( 0:22/00:04:53)\n", 2),
        ("3 後手 反則負け ( 0:22/00:04:53)\n", 1),
        ("3 投了\n先手時間切れ\n", 2),
        ("*時間切れにて終局\n", 2),
        ("   3 ５五歩打\n*反則手にて終局\n", 2),
        ("   3 千日手\n", SENNICHITE),
        ("   3 持将棋\n", 0),
        ("まで2手で先手の反則負け\n", 2),
        ("まで2手で持将棋\n", 0),
        ("   3 ２二角成(88)\n   4 同　銀(31)\n   5 投了\n\n変化：3手\n   3 ２六歩(27)\n", 2),
    ],
)
def test_endings_of_kif_give_results(end: str, result: int) -> None:
    assert read_kif(KIF_HEAD + end, "a.kif").result == result


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("   3 ７六歩(77)\n   4 投了", "no such piece"),
        ("   3 ５五歩打\n   4 投了", "no result|illegal"),
        ("   3 ５五と打\n   4 投了", "illegal"),
        ("   3 ５五歩打\n   4 ８四歩(83)\n", r"move 3 \(▲５五歩打\) is illegal \(line 5\)$"),
        ("   4 ２六歩(27)\n   5 投了", r"4.*move 3.*\(line 5\)"),
        ("   3 ２六銀(27)\n   4 投了", "no such piece"),
        ("   3 二六歩\n   4 投了", r"cannot read '二六歩' as move 3 \(line 5\)"),
        ("なにか　ある\n   3 投了", r"cannot read the line 'なにか　ある' \(line 5\)"),
        ("   3 同　歩(86)   ( 0:01/00:00:01)\n   4 投了", r"move 3 \(▲同歩\): no such piece .*\(line 5\)"),
        ("まで12手で先手の勝ち\n", "12 moves"),
        ("*時間切れにて終局\n   3 ２六歩(27)\n", "no result"),
        ("", "no result"),
        ("   3 ERROR        ( 0:00/00:00:00)\n", "no result .ERROR."),
        ("   3 ERROR\n   4 投了\n", "no result .ERROR."),
        ("   3 歩(27)\n", "cannot read .* as move 3"),
        ("   3 二六\n", "cannot read .* as move 3"),
    ],
)
def test_unusable_kif_games_are_refused(end: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        read_kif(KIF_HEAD + end, "a.kif")


@pytest.mark.parametrize("words", ["盤面回転", "盤面反転", " 盤面回転　"])
@pytest.mark.parametrize("reader", [read_kif, read_ki2])
def test_the_header_for_a_turned_board_is_ignored(reader: Callable[[str, str], Game], words: str) -> None:
    """It is the only header without a value."""
    moves = "   1 ７六歩(77)\n   2 投了\n" if reader is read_kif else "▲７六歩\n投了\n"
    game = reader(f"手合割：平手\n先手：a\n後手：b\n{words}\n{moves}", "a")
    assert (len(game.moves), game.result, game.names) == (1, 1, ("a", "b"))


def test_handicaps_and_diagrams_of_kif_are_read() -> None:
    game = read_kif("手合割：二枚落ち\n上手：a\n下手：b\n   1 ３四歩(33)\n   2 投了\n", "a.kif")
    assert game.start_sfen.split()[1] == "w"
    assert game.names == ("b", "a")
    board = cshogi.Board(sfen="4k4/9/4P4/9/9/9/9/9/4K4 b 2G2r2b2g4s4n4l17p 1")
    text = "手合割：その他\n" + KIF.board_to_bod(board) + "\n   1 ５二金打\n   2 詰み\n"
    game = read_kif(text, "a.kif")
    assert game.start_sfen == "4k4/9/4P4/9/9/9/9/9/4K4 b 2G2r2b2g4s4n4l17p 1"
    assert game.result == 1
    for written, read in (("歩十七", "歩17"), ("の持駒", "の持ち駒"), ("　", "")):
        assert text.count(written)
        assert read_kif(text.replace(written, read), "a.kif").start_sfen == game.start_sfen
    with pytest.raises(GameError, match="no hand holds so many pieces"):
        read_kif(text.replace("歩十七", "歩十七　" * 16), "a.kif")  # 272, and 16 in a byte
    with pytest.raises(GameError, match="歩170"):
        read_kif(text.replace("歩十七", "歩170"), "a.kif")
    with pytest.raises(GameError, match="diagram"):
        read_kif("手合割：その他\n   1 ５二金打\n", "a.kif")


@pytest.mark.parametrize(("side", "start"), [("左", "2sgkg3"), ("右", "3gkgs2")])
def test_handicaps_of_seven_pieces_remove_the_left_or_right_silver(side: str, start: str) -> None:
    game = read_kif(f"手合割：{side}七枚落ち\n   1 ３四歩(33)\n   2 投了\n", "a.kif")
    assert game.start_sfen == f"{start}/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    assert read_kif(kif_text(game), "b.kif").start_sfen == game.start_sfen


def test_scores_in_comments_of_kif_are_read() -> None:
    text = KIF_HEAD.replace(
        "( 0:01/00:00:01)\n",
        "( 0:01/00:00:01)\n**評価値=80\n*#評価値=120\n**解析 0 候補2 深さ 5 評価値 999 読み筋\n",
    )
    text += "**対局 時間 00:01 評価値 +詰 12\n   3 投了\n"
    game = read_kif(text, "a.kif")
    # The score of the first move's own search, and black's mate, which precedes the analysis of the same position.
    assert game.scores.tolist() == [80, -32000]
    assert game.scored.all()
    text = KIF_HEAD + "*#評価値=-70\n   3 ２六歩(27)\n   4 投了\n"
    game = read_kif(text, "a.kif")
    assert game.scores.tolist() == [0, 0, -70]
    assert game.scored.tolist() == [False, False, True]
    # The first of two analyses; scores are limited by mates.
    text = KIF_HEAD + "*#評価値=-999999\n*#評価値=-80\n   3 ２六歩(27)\n**評価値=99999\n*#評価値=70000\n"
    game = read_kif(text + "   4 ８四歩(83)\n   5 投了\n", "a.kif")
    assert game.scores.tolist() == [0, 0, 32000, -32000]
    game = read_kif(KIF_HEAD + "*#評価値=-70\n*#評価値=-80\n   3 ２六歩(27)\n   4 投了\n", "a.kif")
    assert game.scores.tolist() == [0, 0, -70]


@pytest.mark.parametrize("seed", range(6))
def test_random_games_are_read_back_in_each_notation(seed: int) -> None:
    """Read games written by cshogi with every kind of move, also from crowded boards."""
    generator = np.random.default_rng(seed)
    board = cshogi.Board()
    csa_lines, kif_lines, ki2_moves, expected, last = ["PI", "+"], ["手合割：平手"], [], [], None
    for ply in range(200):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = moves[generator.integers(len(moves))]
        csa_lines.append("+-"[board.turn] + cshogi.move_to_csa(move))
        kif_lines.append(f"{ply + 1:4} {KIF.move_to_kif(move, last)}")
        ki2_moves.append(KI2.move_to_ki2(move, board))
        expected.append(cshogi.move_to_usi(move))
        last = move
        board.push(move)
    loser = "先後"[board.turn]
    winner = "後先"[board.turn]
    games = [
        csa("\n".join([*csa_lines, "%TORYO"])),
        read_kif("\n".join([*kif_lines, f"{len(expected) + 1:4} 投了"]), "a.kif"),
    ]
    for game in games:
        assert [move_to_usi(int(move)) for move in game.moves] == expected
        assert game.result == 1 + "先後".index(winner), loser
    try:
        game = read_ki2("\n".join([*ki2_moves, f"まで{len(expected)}手で{winner}手の勝ち"]), "a.ki2")
    except GameError as error:
        # cshogi's exporter leaves a few moves on crowded boards ambiguous; these must be refused.
        assert "is ambiguous" in str(error)  # noqa: PT017
    else:
        assert [move_to_usi(int(move)) for move in game.moves] == expected


@settings(max_examples=100)
@given(st.data())
def test_damaged_texts_are_refused_or_legal(data_directory: Path, data: st.DataObject) -> None:
    """Lines lost, doubled or swapped, characters changed: only GameError is raised, and all moves are legal."""
    suffix = data.draw(st.sampled_from([".csa", ".kif", ".ki2"]))
    raw = (data_directory / f"wcsc28{suffix}").read_bytes()
    lines = raw.decode("utf-8" if suffix == ".csa" else "cp932").splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, len(lines) - 1))
        kind = data.draw(st.integers(0, 3))
        if kind == 0:
            del lines[where]
        elif kind == 1:
            lines.insert(where, lines[data.draw(st.integers(0, len(lines) - 1))])
        elif kind == 2:
            lines[where] = lines[where][: data.draw(st.integers(0, len(lines[where])))]
        elif lines[where]:
            at = data.draw(st.integers(0, len(lines[where]) - 1))
            lines[where] = lines[where][:at] + data.draw(st.characters(codec="utf-8")) + lines[where][at + 1 :]
    text = "\n".join(lines)
    try:
        if suffix == ".csa":
            game = csa(text)
        else:
            game = (read_kif if suffix == ".kif" else read_ki2)(text, "a")
    except GameError:
        return
    board = cshogi.Board(sfen=game.start_sfen)
    for move in game.moves:
        move = board.move_from_move16(int(move))
        assert board.is_legal(move)
        board.push(move)


@pytest.mark.parametrize(
    ("name", "text", "move"),
    [
        ("日本.kif", KIF_HEAD + "   3 ２六歩(27)\n   4 ３三金(41)\n   5 投了\n", r"move 4 \(△３三金\)"),
        ("日本.kif", KIF_HEAD + "   3 ２六歩(27)\n   4 ３三金(32)\n   5 投了\n", r"move 4 \(△３三金\)"),
        ("日本.kif", KIF_HEAD + "   3 同　歩成(27)\n   4 投了\n", r"move 3 \(▲同歩成\)"),
        ("日本.ki2", "▲７六歩 △３四歩 ▲２六歩 △３三金\n投了\n", r"move 4 \(△３三金\)"),
        ("日本.csa", CSA_HEAD + "+2726FU\n-4133KI\n%TORYO\n", r"move 4 \(-4133KI\)"),
        ("日本.usi", "startpos moves 7g7f 3c3d 2g2f 4a3c resign\n", r"move 4 \(4a3c\)"),
    ],
)
def test_a_refusal_names_the_move_as_its_notation_does(tmp_path: Path, name: str, text: str, move: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (error,) = read_games(tmp_path / name)
    assert isinstance(error, GameError)
    with pytest.raises(GameError, match=rf"日本\..*{move}"):
        raise error
