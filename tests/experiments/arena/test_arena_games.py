"""A match's games as KIF: played through ShogiArena, read by this project's reader and by cshogi."""

from __future__ import annotations

import re
import sqlite3

import cshogi
import pytest
from rsshogi.core import Move

from experiments.arena.engine_match import UsiMatch, play_usi_match
from experiments.arena.kif_games import REASONS, read_database, write_games
from experiments.arena.process import ARENA
from experiments.language.catalogue import translated
from lite.notation.game import Game
from lite.notation.games import read_games
from lite.notation.kif import read_kif
from lite.notation.kif_writer import kif_text
from lite.records.formats import WINNER_MASK

PERPETUAL = "4k4/9/9/9/9/9/9/5R3/8K b - 1"
TIMES = "time per move, median (90th percentile): a 100 (100) ms"
DECLARABLE = "9/9/9/9/9/9/+p+p+p+p+p+p+p+p+p/+p4k3/8K b 2r2b4g4s4n4l8p 1"


@pytest.fixture(scope="module")
def played(scripted, tmp_path_factory):
    place = tmp_path_factory.mktemp("match")
    play_usi_match(
        UsiMatch(scripted.command(), scripted.command(), games=2, byoyomi=5000, max_moves=16, output=place / "run")
    )
    return place / "run"


def test_a_match_leaves_its_games_as_kif(played):
    files = sorted((played / "kif").iterdir())
    assert [file.name for file in files] == ["0001.kifu", "0002.kifu"]
    for file in files:
        (game,) = read_games(file)
        assert isinstance(game, Game)
        parsed = cshogi.KIF.Parser.parse_str(file.read_text(encoding="utf-8"))
        assert len(parsed.moves) > 4
        assert "評価値" in file.read_text(encoding="utf-8")
    (remark,) = write_games(played / ARENA / "games" / "game.db", played / "again", {})
    assert re.fullmatch(
        r"time per move, median \(90th percentile\): (first|second) \d+ \(\d+\) ms, \w+ \d+ \(\d+\) ms", remark
    )
    assert len(list((played / "again").iterdir())) == 2


def _database(path, ending, moves, sfen=PERPETUAL):
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "create table player (id integer, player_name text);"
            "create table game (id integer, start_date text, initial_position_sfen text, game_result text,"
            " black_player_id integer, white_player_id integer);"
            "create table game_move (game_id integer, ply integer, next_move integer, eval integer,"
            " next_move_time_ms integer);"
            "insert into player values (1, 'a'), (2, 'b');"
        )
        connection.execute("insert into game values (1, '2020-01-02 03:04:05.678', ?, ?, 1, 2)", (sfen, ending))
        for ply, usi in enumerate(moves):
            connection.execute("insert into game_move values (1, ?, ?, 10, 100)", (ply, int(Move.from_usi(usi))))
        connection.execute("insert into game_move values (1, 99, ?, null, null)", (int(Move.MOVE_END),))
    return path


def test_reasons_of_wins_are_distinguished(tmp_path):
    for name, ending, sfen, moves, expected in (
        ("mated", "BLACK_WIN", PERPETUAL, ["4h5h", "5a4a", "5h4h"], "投了"),
        ("perpetual check", "WHITE_WIN", PERPETUAL, ["4h5h", "5a4a", "5h4h", "4a5a"] * 3 + ["4h5h"], "反則勝ち"),
        ("claimed", "WHITE_WIN", PERPETUAL, ["4h5h"], "入玉宣言"),
        ("declared", "WHITE_WIN", DECLARABLE, ["1i2i"], "入玉勝ち"),
        ("declared by its rules", "WHITE_WIN_BY_DECLARATION", PERPETUAL, ["4h5h"], "入玉勝ち"),
        ("late", "BLACK_WIN_BY_TIMEOUT", PERPETUAL, ["4h5h"], "切れ負け"),
        ("illegal", "BLACK_WIN_BY_ILLEGAL_MOVE", PERPETUAL, ["4h5h"], "反則負け"),
    ):
        (game,) = read_database(_database(tmp_path / f"{name}.db", ending, moves, sfen), {"a": "LiteShogi"})
        assert isinstance(game, Game), game
        assert (game.ending, game.names) == (expected, ("LiteShogi", "b"))
        text = kif_text(game)
        assert "開始日時：2020/01/02 03:04:05\n" in text
        again = read_kif(text, name)
        assert again.result == game.result
        assert again.result & WINNER_MASK == 1 + ending.startswith("WHITE")
        assert (again.scores == 10).all()  # from the view of each engine
        assert again.times.tolist()[:-1] == [0] * len(moves)


def test_an_invalid_declaration_that_counts_as_a_win_is_reported(tmp_path):
    database = _database(tmp_path / "game.db", "WHITE_WIN", ["4h5h"])
    remark = "LiteShogi declared 1 win that the rule of 27 points does not allow, counted as won"
    reasons = "reasons of wins: declaration against the rule 1"
    assert write_games(database, tmp_path / "kif", {"b": "LiteShogi"}) == [reasons, TIMES, remark]


def test_reasons_of_wins_are_counted(tmp_path):
    database = _database(tmp_path / "game.db", "BLACK_WIN", ["4h5h", "5a4a", "5h4h"])
    assert write_games(database, tmp_path / "kif", {}) == [
        "reasons of wins: resignation or crash 1",
        f"{TIMES}, b 100 (100) ms",
    ]
    assert set(REASONS) == {"投了", "入玉勝ち", "入玉宣言", "反則勝ち", "反則負け", "切れ負け"}
    assert all(translated(f"{reason} 2") != f"{reason} 2" for reason in REASONS.values())


def test_a_game_that_kif_cannot_express_is_skipped_with_a_warning(tmp_path, capsys):
    database = _database(tmp_path / "game.db", "WHITE_WIN_BY_DECLARATION", ["4h5h", "5a4a"])  # black is to move
    assert write_games(database, tmp_path / "kif", {}) == []
    assert not list((tmp_path / "kif").iterdir())
    assert "KIF cannot express it" in capsys.readouterr().err


def test_failed_games_are_left_out(tmp_path):
    assert list(read_database(_database(tmp_path / "game.db", "ERROR", ["5h4h"]), {})) == []


def test_an_error_names_an_unreadable_database(tmp_path):
    (tmp_path / "game.db").write_text("nothing of the kind")
    with pytest.raises(OSError, match=r"game\.db"):
        list(read_database(tmp_path / "game.db", {}))
    with pytest.raises(OSError, match=r"none\.db"):
        list(read_database(tmp_path / "none.db", {}))
