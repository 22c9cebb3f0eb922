"""The course of games by the scores of their players, read from an invented run of ShogiArena."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from rsshogi.core import Move

from experiments.arena import arena_games
from experiments.arena.arena_games import read_arena_games
from experiments.arena.course import read_course
from experiments.arena.engine_match import VERB
from experiments.arena.process import ARENA
from experiments.report.match_section import MOVES, RATE, match_section
from experiments.report.section import Run
from lite.run_folder import RunPlan, RunWriter, read_run
from search.score import score_of_rate, win_rate

BLACK_FIRST = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
WHITE_FIRST = BLACK_FIRST.replace(" b ", " w ")
FAR = score_of_rate(0.8)
ANY_MOVE = int(Move.from_usi("7g7f"))
NAMES = {1: "first", 2: "second"}


def play(folder: Path, pairs: int, sfen: str = BLACK_FIRST, ending: str = "BLACK_WIN", length: int = 12) -> Path:
    """Write pairs of games in which both sides report a win rate of 0.8 for black from black's second move on."""
    games = folder / "games"
    games.mkdir(parents=True)
    schedule = []
    with closing(sqlite3.connect(games / "game.db")) as database, database:
        database.execute("create table player (id, player_name)")
        database.executemany("insert into player values (?, ?)", NAMES.items())
        database.execute(
            "create table game (id, game_name, game_result, initial_position_sfen, black_player_id, white_player_id)"
        )
        database.execute("create table game_move (game_id, ply, next_move, eval)")
        for number in range(2 * pairs):
            black, white = (1, 2) if number % 2 == 0 else (2, 1)
            key = {"game_id": f"g{number}", "pair_key": f"pair {number // 2}", "black": NAMES[black]}
            schedule.append(key | {"white": NAMES[white]})
            row = (number, f"g{number}", ending, sfen, black, white)
            database.execute("insert into game values (?, ?, ?, ?, ?, ?)", row)
            blacks = [None, None] if number == 0 else [0, FAR]  # a move without a score keeps the score before it
            scores = [blacks[min(ply // 2, 1)] if ply % 2 == 0 else -FAR for ply in range(length)]
            if " w " in sfen:
                scores = [-score if score else score for score in scores]
            moves = [(number, ply, ANY_MOVE, score) for ply, score in enumerate(scores)]
            moves.append((number, length, int(Move.MOVE_END), None))  # ShogiArena adds this row to every game
            database.executemany("insert into game_move values (?, ?, ?, ?)", moves)
    (games / "schedule.json").write_text(json.dumps({"games": schedule}))
    return folder


def test_colours_cancel_and_finished_games_count_with_their_result(tmp_path):
    moments = read_course(play(tmp_path, 10))
    assert [(one.moves, one.player) for one in moments] == [(10, "first"), (10, "second")]
    first, second = moments
    assert second.win_rate == pytest.approx(0.5)
    assert second.error == pytest.approx(0)
    # In one of twenty games the first player, black, never reports more than 0.5.
    assert first.win_rate == pytest.approx(0.5 - (win_rate(FAR) - 0.5) / 20)
    assert first.error == pytest.approx(
        (win_rate(FAR) - 0.5) / 20
    )  # of ten pairs, nine of them equal: as large as the mean
    assert first.over == 0


@pytest.mark.parametrize("word", ["ERROR", "PAUSED"])
def test_a_finished_game_counts_with_its_own_result_if_others_failed(tmp_path, word):
    folder = play(tmp_path, 11)
    with closing(sqlite3.connect(folder / "games" / "game.db")) as database, database:
        database.execute("update game set game_result = ? where id = 0", (word,))
        database.execute(
            "delete from game_move where game_id = 4 and ply between 1 and 11"
        )  # won at once by the first player
    rates = [one.win_rate for one in read_course(folder)]
    assert rates == pytest.approx([0.5 + (1 - win_rate(FAR)) / 20] * 2)


@pytest.mark.parametrize("sfen", [BLACK_FIRST, WHITE_FIRST])
def test_the_first_player_is_identified_with_either_colour(tmp_path, sfen):
    folder = play(tmp_path, 10, sfen)
    with closing(sqlite3.connect(folder / "games" / "game.db")) as database, database:
        database.execute("update game set black_player_id = 1, white_player_id = 2")
    rates = sorted(one.win_rate for one in read_course(folder))
    far = win_rate(FAR)  # black's, who is the first player; in one game the player who begins reports no more than 0.5
    assert rates == pytest.approx([far - (far - 0.5) / 20, far])


@pytest.mark.parametrize(("length", "moments"), [(9, 0), (10, 2)])
def test_the_row_that_ends_a_game_is_not_a_move(tmp_path, length, moments):
    found = read_course(play(tmp_path, 10, length=length))
    assert [one.over for one in found] == [0] * moments  # a game has ended after its last move


def test_few_games_have_no_course_and_a_damaged_file_is_named(tmp_path):
    assert read_course(tmp_path) == []
    assert read_course(play(tmp_path / "few", 9)) == []
    torn = play(tmp_path / "torn", 11)
    whole = read_course(torn)
    for number, moments in ((21, 2), (1, 0)):  # a pair of which a game failed does not count
        with closing(sqlite3.connect(torn / "games" / "game.db")) as database, database:
            database.execute("update game set game_result = 'ERROR' where id = ?", (number,))
        assert len(read_course(torn)) == moments <= len(whole)
    folder = play(tmp_path / "spoilt", 10)
    (folder / "games" / "game.db").write_text("nothing of the kind")
    with pytest.raises(OSError, match=r"game\.db"):
        read_course(folder)


def test_a_paused_game_has_no_result_and_a_failed_one_no_points(tmp_path):
    folder = play(tmp_path, 2)
    with closing(sqlite3.connect(folder / "games" / "game.db")) as database, database:
        database.executemany("update game set game_result = ? where id = ?", [("PAUSED", 1), ("ERROR", 2)])
        database.execute("insert into game select 4, 'g4', 'DRAW_BY_REPETITION', '', 1, 2")
    found = [(one.pair, one.points, one.ending) for one in read_arena_games(folder)]
    assert found[:-1] == [("pair 0", 1.0, "BLACK_WIN"), ("pair 1", None, "ERROR"), ("pair 1", 0.0, "BLACK_WIN")]
    assert found[-1] == ("g4", 0.5, "DRAW_BY_REPETITION")  # a game that is not in the schedule is a pair of its own


def test_a_schedule_is_read_when_it_is_complete(tmp_path, monkeypatch):
    folder = play(tmp_path, 2)
    schedule = folder / "games" / "schedule.json"
    whole = schedule.read_text()
    schedule.write_text(whole[:20])
    writer = threading.Timer(0.2, schedule.write_text, (whole,))
    writer.start()
    assert [one.pair for one in read_arena_games(folder)] == ["pair 0", "pair 0", "pair 1", "pair 1"]
    writer.join()
    monkeypatch.setattr(arena_games, "WRITING_SECONDS", 0.1)
    schedule.write_text("")
    with pytest.raises(OSError, match=r"schedule\.json: JSONDecodeError"):
        read_arena_games(folder)


def test_a_report_draws_the_course(tmp_path):
    play(tmp_path / ARENA, 10, length=34)
    with RunWriter(tmp_path, RunPlan(VERB, goal={"players": ["first", "second"]})):
        pass
    (chart,) = match_section([Run("mine", tmp_path, read_run(tmp_path))]).charts[-1:]
    rows = chart.spec["data"]["values"]
    assert [(row[MOVES], row["seen by"]) for row in rows][:3] == [
        (10, "mine: the first"),
        (10, "mine: the second"),
        (20, "mine: the first"),
    ]
    assert all(row[f"{RATE} from"] <= row[RATE] <= row[f"{RATE} to"] for row in rows)
