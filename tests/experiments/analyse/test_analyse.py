"""The verb `analyse`: cshogi reads its KIF, its figures are correct, and Ctrl-C keeps the completed part."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import cshogi
import pytest
from cshogi import KIF

from experiments.analyse.analyse import Analysing, analyse_games
from experiments.analyse.annotated_kif import (
    Judgement,
    japanese,
    mark_of,
    situation,
    without_analysis,
    write_kif,
)
from experiments.analyse.as_text import as_text
from experiments.analyse.figures import MARKS_IN_ENGLISH, figures
from experiments.analyse.result import AnalysedGame, AnalysedGames
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from lite.notation.game import UNFINISHED, Game
from lite.notation.games import read_games
from lite.notation.ki2 import read_ki2
from liteshogi.commands.analyse import Command as Analyse
from search.rules.sfen import move_to_usi
from search.score import MATE
from tests.experiments.invented_analysis import DATA, GAMES, find_game, invented


def annotated(game: Game, judgements: list[Judgement]) -> str:
    report = figures(game, judgements)
    every = [*judgements, *[None] * (len(game.moves) + 1 - len(judgements))]
    return write_kif(game, every, [move.loss for move in report.moves])


@pytest.mark.parametrize("name", GAMES)
def test_the_kif_is_read_back_by_cshogi_and_here(tmp_path, name):
    game = find_game(DATA / name, 1)
    judgements = invented(game, 1)
    path = tmp_path / "game.kif"
    path.write_text(annotated(game, judgements), encoding="utf-8")
    again = find_game(path, 1)
    assert (again.moves == game.moves).all()
    assert (again.start_sfen, again.result, again.names) == (game.start_sfen, game.result, game.names)
    for ply in range(len(game.moves)):
        sign = 1 if ply % 2 == 0 else -1
        if game.scored[ply]:  # the player's own score comes first
            assert again.scores[ply] == game.scores[ply]
            continue
        wanted = max(-32000, min(32000, judgements[ply].score))
        found = sign * int(again.scores[ply])
        assert again.scored[ply]
        assert found == (wanted if abs(wanted) < 30000 else (32000 if wanted > 0 else -32000))
    parsed = KIF.Parser.parse_str(path.read_text(encoding="utf-8"))
    assert [cshogi.move16(move) for move in parsed.moves] == game.moves.tolist()
    assert parsed.win == game.result & 3
    for judgement, comment in zip(judgements[1:], parsed.comments, strict=True):
        if abs(judgement.score) < 30000:
            assert f"#評価値={judgement.score}\n" in comment
        else:
            assert f"#詰み={'先手' if judgement.score > 0 else '後手'}勝ち:" in comment
        assert f"#深さ={judgement.depth}\n" in comment


def test_best_lines_are_legal_and_unambiguous_ki2():
    """Each line in the comments, read as a KI2 game from its position, gives the same moves."""
    game = find_game(DATA / "scored.csa", 1)
    judgements = invented(game, 2)
    comments = re.split(r"\n *[0-9]+ ", annotated(game, judgements))
    board, read = cshogi.Board(game.start_sfen), 0
    for number, judgement in enumerate(judgements):
        match = re.search("#読み筋=(.*)", comments[number])
        if match:
            # `同` in the first move refers to the preceding move of the game, so it is replaced by the square.
            head, text = KIF.board_to_bod(board), match[1]
            if text[1] == "同":
                assert game.moves[number - 1] & 127 == cshogi.move_to(board.move_from_usi(judgement.line[0]))
                to = KIF.KIFU_TO_SQUARE_NAMES[cshogi.move_to(board.move_from_usi(judgement.line[0]))]
                text = text[0] + to + text[2:]
            line = read_ki2(head + "\n" + text + "\n", "line", unfinished=True)
            assert [move_to_usi(move) for move in line.moves.tolist()] == list(judgement.line)
            read += 1
        if number < len(game.moves):
            board.push(board.move_from_move16(int(game.moves[number])))
    assert read > 40


KEPT = """開始日時：2021/02/03 10:00:00
棋戦：第１回テスト杯：予選
手合割：香落ち
下手：弟子
上手：師匠
手数----指手---------消費時間--
*対局前の一言
   1 ３四歩(33)   ( 1:05/00:01:05)
*#評価値=55
*定跡
&栞
   2 ７六歩(77)   ( 0:02/00:00:02)+
   3 ４四歩(43)   (12:00/00:13:05)
   4 投了         ( 0:03/00:00:05)
まで3手で上手の勝ち

変化：2手
   2 ２六歩(27)   ( 0:09/00:00:09)
*こちらも
   3 中断         ( 0:01/00:01:06)
まで2手で中断
"""


def test_headers_times_comments_and_variations_are_kept(tmp_path):
    source, path = tmp_path / "game.kif", tmp_path / "analysed.kif"
    source.write_text(KEPT, encoding="utf-8")
    game = find_game(source, 1)
    path.write_text(annotated(game, invented(game, 5)), encoding="utf-8")
    written = path.read_text(encoding="utf-8").splitlines()
    rest = iter(written)
    assert all(line in rest for line in KEPT.rstrip().splitlines())  # every line, in the same order
    added = set(written) - set(KEPT.splitlines())
    assert all(line.startswith(("*", "#KIF")) for line in added)
    again = find_game(path, 1)
    assert again.headers == {"開始日時": "2021/02/03 10:00:00", "棋戦": "第１回テスト杯：予選"}
    assert again.times.tolist() == [65_000, 2_000, 720_000, 3_000]
    assert again.variations == game.variations
    assert "*勝率 下手 " in "\n".join(written)


def test_further_lines_follow_the_first_and_are_not_read_as_scores(tmp_path):
    game, path = find_game(DATA / "wcsc28.csa", 1), tmp_path / "game.kif"
    judgements = invented(game, 10, others=2)
    path.write_text(annotated(game, judgements), encoding="utf-8")
    once = find_game(path, 1)
    board = cshogi.Board(game.start_sfen)
    for ply, judgement in enumerate(judgements):
        lines = [line for line in once.comments[ply] if line.startswith(("*#候補2=", "*#候補3="))]
        assert [line.split("読み筋=")[1] for line in lines] == [japanese(board, one.line) for one in judgement.others]
        if ply < len(game.moves):
            board.push(board.move_from_move16(int(game.moves[ply])))
    alone = annotated(game, [replace(one, others=()) for one in judgements])
    path.write_text(alone, encoding="utf-8")
    assert find_game(path, 1).scores.tolist() == once.scores.tolist()
    assert annotated(once, [replace(one, others=()) for one in judgements]) == alone


def test_a_second_analysis_replaces_the_first(tmp_path):
    source, path = tmp_path / "game.kif", tmp_path / "analysed.kif"
    source.write_text(KEPT, encoding="utf-8")
    game = find_game(source, 1)
    path.write_text(annotated(game, invented(game, 6)), encoding="utf-8")
    once = find_game(path, 1)
    assert annotated(once, invented(game, 7)) == annotated(game, invented(game, 7))
    # Where the second analysis stopped early, the comments of the first remain.
    cut = find_game(path, 1)
    assert annotated(cut, invented(game, 7)[:1]).count("*#エンジン=LiteShogi") == len(game.moves) + 1


OTHERS = """手合割：平手
手数----指手---------消費時間--
   1 ７六歩(77)
*互角
*#評価値=80
*#読み筋=△３四歩▲２六歩
*#深さ=20
*#エンジン=YaneuraOu
   2 ３四歩(33)
*先手有望
*【悪手】
   3 ２六歩(27)
*#評価値=30
*#エンジン=LiteShogi
   4 中断
"""


def test_a_second_analysis_keeps_comments_of_other_programs(tmp_path):
    source, path = tmp_path / "game.kif", tmp_path / "analysed.kif"
    source.write_text(OTHERS, encoding="utf-8")
    game = find_game(source, 1)
    for seed in range(11, 19):
        path.write_text(annotated(game, invented(game, seed, others=seed % 2)), encoding="utf-8")
        once = find_game(path, 1)
        assert annotated(once, invented(game, 7)) == annotated(game, invented(game, 7))
        assert all(without_analysis(lines) == game.comments.get(ply, []) for ply, lines in once.comments.items())
        # A comment below an earlier analysis does not prevent its removal.
        assert without_analysis([*once.comments[2], "*互角"]) == [*game.comments[2], "*互角"]


def test_ki2_variations_and_csa_headers_are_kept(tmp_path):
    source = tmp_path / "game.ki2"
    source.write_text(
        "棋戦：王位戦\n▲７六歩 △３四歩\nまで2手で後手の勝ち\n\n"
        "変化：2手\n△８四歩\n\n変化：1手\n▲２六歩\n\n変化：9手\n▲２五歩\n",
        encoding="utf-8",
    )
    game = find_game(source, 1)
    text = annotated(game, invented(game, 8))
    assert "棋戦：王位戦\n" in text
    assert text.endswith("まで2手で後手の勝ち\n\n変化：2手\n   2 ８四歩(83)\n\n変化：1手\n   1 ２六歩(27)\n")
    assert "*変化：9手\n*▲２五歩\nまで" in text  # an invalid variation
    source = tmp_path / "game.csa"
    source.write_text(
        "V2.2\nN+a\nN-b\n$EVENT:wdoor+floodgate\n$START_TIME:2020/01/02 03:04:05\nPI\n'*始め\n+\n+7776FU,T12,'*a,b\n"
        "-3334FU\nT3\n'** 30 +2726FU\n%TORYO\nT4\n'$END_TIME:2020/01/02 03:14:05\n",
        encoding="utf-8",
    )
    text = annotated(find_game(source, 1), invented(game, 9))
    assert "棋戦：wdoor+floodgate\n開始日時：2020/01/02 03:04:05\n終了日時：2020/01/02 03:14:05\n" in text
    assert "--\n*始め\n" in text
    assert "   1 ７六歩(77)   ( 0:12/00:00:12)\n*a,b\n" in text
    assert "   2 ３四歩(33)   ( 0:03/00:00:03)\n** 30 +2726FU\n" in text
    assert "   3 投了         ( 0:04/00:00:16)\n" in text


@pytest.mark.parametrize(
    "line",
    [
        "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 4a3b 7g7f resign",  # two pieces
        "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1 moves G*5b",  # a diagram; checkmate
        "sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1 moves S*2h resign",
        "startpos moves 7g7f 3c3d 2g2f",  # unfinished
        "startpos moves 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h 7b8b",  # repetition
        "sfen +P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG2g4s4n4l8p 200 moves G*5h 5i5h win",
    ],
)
def test_games_with_other_starts_and_ends_are_read_back(tmp_path, line):
    source, path = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text(line + "\n")
    game = find_game(source, 1)
    path.write_text(annotated(game, invented(game, 3)), encoding="utf-8")
    again = find_game(path, 1)
    assert again.start_sfen.split()[:3] == game.start_sfen.split()[:3]
    assert (again.moves == game.moves).all()
    assert again.result == game.result


def test_a_declaration_has_no_line(tmp_path):
    source, output = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text("sfen +P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG2g4s4n4l8p 200 moves G*5h 5i5h win\n")
    analyse_games(Analysing("default", (source,), output, nodes=300, hash_mb=4))
    text = output.read_text(encoding="utf-8")
    assert "*入玉宣言で勝ち\n" in text
    assert "*#読み筋=\n" not in text


def test_a_declaration_is_reported_as_the_best_move(tmp_path, capsys):
    source, output = tmp_path / "game.usi", tmp_path / "game.kif"
    source.write_text("sfen +R+R+B+BGGGGK/SSSS5/PPPPPPPPP/9/9/9/9/9/k8 b PPPPPP 1 moves 1a1b 9i8i 1b1a\n")
    Analyse("default", (source,), output, nodes=300, hash_mb=4).run()
    first, *_, last = capsys.readouterr().err.splitlines()
    assert "left" not in last
    assert re.fullmatch(r"  0/3 +declaration  100\.0 %  depth 0  \d+:\d\d left", first)
    game, declared = find_game(source, 1), Judgement(MATE - 1, 1.0, 0, 0, ("win",))
    found = [declared, Judgement(0, 0.5, 9, 99, ()), declared]
    assert "*【大悪手】 最善は 入玉宣言\n" in annotated(game, found)
    report = figures(game, found)
    assert [(row.best, row.best_name) for row in report.moves] == [
        ("win", "入玉宣言"),
        (None, None),
        ("win", "入玉宣言"),
    ]
    one = AnalysedGame(report, output, output, output, ENGLISH)
    text = as_text(AnalysedGames((one,), (), (), False), ENGLISH)
    assert "1 ▲１二玉       lost 50.0 % (blunder); best was declaration\n" in text
    text = as_text(AnalysedGames((replace(one, words=JAPANESE),), (), (), False), JAPANESE)
    assert "1手目 ▲１二玉       勝率損失 50.0 %（大悪手）　最善手 入玉宣言\n" in text


def test_a_handicap_game_without_a_name_has_its_own_words_for_the_sides(tmp_path, capsys):
    source, rank, lines = tmp_path / "game.kif", "| ・ ・ ・ ・ ・ ・ ・ ・ ・|", [*"一二三四五六七八九"]
    rows = [rank] * 9
    rows[0], rows[2], rows[8] = (rank[:9] + piece + rank[11:] for piece in ("v玉", " 金", " 玉"))
    board = "\n".join(row + name for row, name in zip(rows, lines, strict=True))
    source.write_text(
        f"上手の持駒：なし\n{board}\n下手の持駒：金\n下手番\n   1 ５二金打\n   2 投了\n", encoding="utf-8"
    )
    report = analyse_games(Analysing("default", (source,), nodes=300, hash_mb=4, language="ja"))
    assert "下手勝ち 1手詰" in capsys.readouterr().err
    assert ": 下手勝ち\n" in as_text(report, JAPANESE)
    assert '<span id="result">下手勝ち<' in report.games[0].page.read_text(encoding="utf-8")


def test_unfinished_games_are_read_only_on_request(tmp_path):
    path = tmp_path / "game.kif"
    path.write_text("手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 中断\n", encoding="utf-8")
    assert isinstance(next(read_games(path)), ValueError)
    game = next(read_games(path, unfinished=True))
    assert isinstance(game, Game)
    assert (game.result, len(game.moves)) == (UNFINISHED, 2)


def test_the_loss_of_each_move_is_counted_and_marked():
    game = find_game(DATA / "games.usi", 1)
    rates = [0.5, 0.55, 0.9, 0.6, 0.6]
    judgements = [Judgement(0, rate, 1, 1, (move_to_usi(int(game.moves[2])),)) for rate in rates]
    report = figures(game, judgements)
    assert not report.complete
    rows = report.moves[:4]
    assert [row.side for row in rows] == ["black", "white", "black", "white"]
    # Black's win rate rises by black's move and by white's mistake, and falls after black's best move.
    assert [row.loss for row in rows] == [0.0, 0.35, 0.0, 0.0]
    assert [row.mark for row in rows] == [None, "mistake", None, None]
    assert asdict(report.white) == {
        "moves": 2,
        "as_the_best": 0,
        "mean_loss": 0.175,
        "blunder": 0,
        "mistake": 1,
        "doubtful": 0,
        "slack": 0,
    }
    assert report.moves[4].loss is None
    assert [mark_of(loss) for loss in (0.04, 0.05, 0.1, 0.2, 0.5)] == ["", "緩手", "疑問手", "悪手", "大悪手"]
    assert [situation(score) for score in (199, 200, -400, 600, -1500)] == [
        "互角",
        "先手有望",
        "後手有利",
        "先手優勢",
        "後手勝勢",
    ]


def test_a_move_among_the_lines_is_compared_within_its_search():
    """The deeper search of the next position must not contradict the order of the lines."""
    game = find_game(DATA / "games.usi", 1)
    first, second = (move_to_usi(int(game.moves[ply])) for ply in range(2))
    other = Judgement(16, 0.49, 8, 99, (first,))
    judgements = [
        Judgement(20, 0.5, 8, 99, ("2g2f",), (other,)),
        Judgement(-60, 0.44, 8, 99, ("1c1d",), (Judgement(-30, 0.46, 8, 99, ("9c9d",)),)),
    ]
    row = figures(game, judgements).moves[0]
    assert first != "2g2f"
    assert (row.loss, row.mark, row.compared, row.win_rate) == (0.01, None, "lines", 0.44)
    deeper = Judgement(-60, 0.44, 9, 99, ("1c1d",))
    row = figures(game, [replace(judgements[0], others=()), deeper]).moves[0]
    assert (row.loss, row.mark, row.compared) == (0.06, "slack", "next")
    assert second not in ("1c1d", "9c9d")
    # A deeper search whose lines lack the move proves that it is worse than the last of them.
    shallow = Judgement(0, 0.43, 2, 9, ())
    judgements = [judgements[0], replace(judgements[1], win_rate=0.36), shallow]
    row = figures(game, judgements).moves[1]
    assert (row.loss, row.compared) == (0.1, "bound")
    assert figures(game, [*judgements[:2], replace(shallow, depth=7)]).moves[1].compared == "next"


@pytest.mark.parametrize(
    ("loss", "percent", "mark"), [(0.04996, 5.0, "slack"), (0.0494, 4.9, None), (0.1996, 20.0, "mistake")]
)
def test_all_outputs_mark_a_move_by_the_loss_that_they_show(loss, percent, mark):
    game = find_game(DATA / "games.usi", 1)
    first = move_to_usi(int(game.moves[0]))
    other = Judgement(0, 0.6 - loss, 8, 99, (first,))
    judgements = [Judgement(20, 0.6, 8, 99, ("2g2f",), (other,)), Judgement(-60, 0.5, 8, 99, ())]
    row = figures(game, judgements).moves[0]
    assert row.loss is not None
    assert (round(100 * row.loss, 4), row.mark) == (percent, mark)
    every = [*judgements, *[None] * (len(game.moves) - 1)]
    kif = write_kif(game, every, [move.loss for move in figures(game, judgements).moves])
    marks = [line for line in kif.splitlines() if line.startswith("*【")]
    assert [MARKS_IN_ENGLISH[line[2 : line.index("】")]] for line in marks] == ([mark] if mark else [])


def test_games_without_a_network_are_analysed_by_the_default_network(tmp_path, monkeypatch):
    asked = []

    def analyse(options):
        asked.append(options)
        return AnalysedGames((), (), (), False)

    monkeypatch.setattr("liteshogi.commands.analyse.analyse_games", analyse)
    (tmp_path / "games").mkdir()
    for named in (DATA / "wcsc28.kif", tmp_path / "games"):
        Analyse(str(named), (DATA / "wcsc28.csa",)).run()
        assert (asked[-1].net, asked[-1].games) == ("default", (named, DATA / "wcsc28.csa"))
    Analyse("lite-16-4-32", (DATA / "wcsc28.csa",)).run()
    assert (asked[-1].net, asked[-1].games) == ("lite-16-4-32", (DATA / "wcsc28.csa",))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch", "nosuch: there is no such file"),
        ("folder/", "folder: there is no such file"),
        ("game", "game: the suffix is not that of a game file"),
        ("game.hcpe3", "game.hcpe3: a file of records; name the game files"),
        ("game.jkf", "game.jkf: games in JSON, such as JKF, are neither read nor written"),
        ("game.kif.gz", "game.kif.gz: compressed files are neither read nor written; unpack it"),
        ("default", "`games`: no game given"),
        ("net.bin", "`games`: no game given"),
    ],
)
def test_a_single_word_that_is_no_game_is_named_with_its_fault(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("game.jkf", "game", "game.hcpe3", "game.kif.gz", "net.bin"):
        (tmp_path / file).touch()
    with pytest.raises((ValueError, OSError), match=message):
        Analyse(name, language="en").run()


@pytest.mark.filterwarnings("ignore:Glyph .* missing")  # from the only available font at the end
def test_the_verb_writes_kif_page_and_picture(tmp_path, capsys, monkeypatch):
    output = tmp_path / "out" / "game.kif"
    Analyse("default", (DATA / "wcsc28.ki2",), output, nodes=1000, multipv=2, hash_mb=4, json=True).run()
    (report,) = json.loads(capsys.readouterr().out)["games"]
    assert report["complete"]
    assert report["result"] == "black wins"
    assert len(report["moves"]) == 49
    assert report["moves"][-1]["mate"] == 0
    assert report["moves"][-1]["win_rate"] == 1.0
    assert report["moves"][-2]["mate"] == 1
    assert all(len(move["others"]) == 1 for move in report["moves"][:40])
    assert sorted(file.name for file in output.parent.iterdir()) == ["game.html", "game.kif", "game.png"]
    assert find_game(output, 1).scored.all()
    monkeypatch.setattr("experiments.analyse.analyse.japanese_fonts", lambda: ["DejaVu Sans"])
    with pytest.raises(ValueError, match=r"game\.kif: already exists; set `overwrite`"):
        Analyse("default", (DATA / "wcsc28.ki2",), output, nodes=300).run()
    Analyse("default", (DATA / "wcsc28.ki2",), output, nodes=300, hash_mb=4, overwrite=True, language="en").run()
    printed = capsys.readouterr()
    assert "black wins" in printed.out
    assert "▲５二金" in printed.err
    assert "6i" not in printed.out + printed.err  # moves have names on the terminal
    assert printed.err.count("apt install fonts-noto-cjk") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"number": 2}, "`number` 2: .*wcsc28.kif"),
        ({"multipv": 0}, "must be at least 1"),
        ({"games": (DATA / "wcsc28.kif", DATA / "wcsc28.csa"), "output": Path("one.kif")}, "`output` one.kif"),
        ({"games": (DATA / "networks",)}, "networks: holds no .kif"),
        ({"number": 0}, "`number` 0"),
        ({"threads": 0}, "must be at least 1"),
        ({"output": DATA / "wcsc28.kif"}, "`output` .*wcsc28.kif"),
        ({"net": "nowhere.safetensors"}, "nowhere.safetensors: there is no such file"),
        ({"output": Path("game.png")}, r"end in \.kif or \.kifu; name it game\.kif"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises((ValueError, OSError), match=message):
        Analyse(**{"net": "default", "games": (DATA / "wcsc28.kif",), "language": "en"} | options).run()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "name", ["SIGINT", *(pytest.param(one, marks=pytest.mark.slow) for one in ("SIGTERM", "SIGHUP"))]
)
def test_a_signal_keeps_the_completed_part_and_a_second_one_waits_for_the_files(name, tmp_path):
    output = tmp_path / "game.kif"
    command = [sys.executable, "-m", "liteshogi", "analyse", "default", str(DATA / "wcsc28.csa"), "-o", str(output)]
    command += ["--json"]
    with subprocess.Popen(
        [*command, "--nodes", "100000", "--hash-mb", "4"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if line.lstrip().startswith("5/49"):
                break
        process.send_signal(getattr(signal, name))
        for line in process.stderr:
            if line.startswith("stopped after"):
                assert line.endswith("of 50 positions; writing its files\n")
                break
        process.send_signal(getattr(signal, name))
        out, messages = process.stdout.read(), process.stderr.read()
        assert process.wait(60) == 130
    found = json.loads(out)
    (report,) = found["games"]
    assert found["interrupted"]
    searched = sum(move["win_rate"] is not None for move in report["moves"])
    assert not report["complete"]
    assert 5 <= searched < 49
    assert "Traceback" not in messages
    assert find_game(output, 1).scored.sum() == searched + 1
    assert output.with_suffix(".png").stat().st_size > 1000
    assert {path.name for path in tmp_path.iterdir()} == {"game.kif", "game.html", "game.png"}
