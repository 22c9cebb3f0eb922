"""Ends of a search: stop, pondering, clocks, the end of a game."""

from __future__ import annotations

import re
import time

import pytest

from search.alphabeta.transposition import TranspositionTable
from search.clock import Punctuality, SearchClock, plan

MATED = "position sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1"


def test_an_infinite_search_holds_its_move_until_stop(session):
    session.send(MATED, "go infinite")
    time.sleep(0.2)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    session.send("stop")
    assert session.bestmove() == "resign"


def test_stop_is_answered_once_and_only_when_thinking(session):
    session.send("position startpos", "go infinite")
    session.until("info depth 2")
    session.send("stop")
    assert session.bestmove() != "resign"
    session.send("stop", "stop", "gameover win")
    assert session.waiting() == []


@pytest.mark.parametrize("clocks", ["", " btime 300 wtime 300 byoyomi 100"])
def test_a_pondering_search_answers_after_ponderhit(session, clocks):
    go = "go ponder" + ("" if clocks else " btime 0 wtime 0 byoyomi 200")
    session.send("position startpos moves 7g7f", go)
    session.until("info depth 3")
    time.sleep(0.4)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    session.send("ponderhit" + clocks)
    assert session.bestmove() != "resign"


def test_a_ponder_miss_is_followed_by_another_search(session):
    session.send("position startpos moves 7g7f", "go ponder btime 0 wtime 0 byoyomi 100")
    session.until("info depth 2")
    session.send("stop")
    session.bestmove()
    session.send("ponderhit", "position startpos moves 7g7f 8c8d", "go btime 0 wtime 0 byoyomi 100")
    session.bestmove()


def test_a_ponderhits_clock_does_not_stop_the_next_search(session):
    session.send("position startpos", "go ponder", "ponderhit btime 0 wtime 0 byoyomi 400")
    session.until("info depth 2")
    session.send("stop")
    session.bestmove()
    session.send("go infinite")
    time.sleep(0.7)
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    session.send("stop")
    session.bestmove()


def test_the_delay_of_a_move_is_measured_before_it_is_written(session, monkeypatch):
    noted: list[float] = []
    transcript = session.transcript
    monkeypatch.setattr(SearchClock, "overdue", lambda clock: float(any("bestmove" in line for line in transcript)))
    monkeypatch.setattr(Punctuality, "note", lambda punctuality, late: noted.append(late))
    session.send("position startpos", "go btime 0 wtime 0 byoyomi 20").bestmove()
    session.send("isready").until("readyok")
    assert noted == [0.0]


@pytest.mark.parametrize("clocks", ["movetime 99999999999999", "btime 9007199254740991 wtime 9007199254740991"])
def test_extremely_long_clocks_are_accepted(session, clocks):
    session.send("position startpos", f"go {clocks}", "stop")
    assert session.bestmove() != "resign"
    session.send(f"go ponder {clocks}", "ponderhit", "stop")
    assert session.bestmove() != "resign"


def test_a_first_move_after_an_opening_has_no_increment_yet(session, monkeypatch):
    """A clock gets its increment after a move; if it holds less than that, it gets it when the move begins."""
    budgets = []

    def planned(*asked):
        budgets.append(plan(*asked))
        return budgets[-1]

    monkeypatch.setattr("search.usi.session.plan", planned)
    opening = "position startpos moves 7g7f 3c3d"
    poor = "go btime 1000 wtime 1000 binc 2000 winc 2000"
    for _ in range(2):
        session.send("usinewgame", opening, poor, "stop").bestmove()
        session.send(opening + " 2g2f 8c8d", poor, "stop").bestmove()
    assert [budget.maximum < 1000 for budget in budgets] == [True, False] * 2


@pytest.mark.parametrize("clocks", ["byoyomi 0", "binc 0 winc 0", "btime 0 wtime 0"])
def test_a_clock_without_time_is_answered_at_once(session, clocks):
    session.send("position startpos", f"go {clocks}")
    assert session.bestmove() != "resign"


def test_gameover_ends_a_search(session):
    session.send("position startpos", "go ponder btime 1000 wtime 1000", "gameover lose")
    session.bestmove()
    session.send("isready").until("readyok")


def test_a_finished_game_is_forgotten_before_the_next(session, monkeypatch):
    def search(*before: str) -> str:
        lines = session.send(*before, "position startpos", "go depth 7").until("bestmove")
        return re.findall(r"nodes \d+", lines[-2])[0]

    cleared, clear = [], TranspositionTable.clear
    monkeypatch.setattr(TranspositionTable, "clear", lambda table: cleared.append(clear(table)))
    fresh = search("usinewgame")
    assert search() != fresh
    session.send("gameover win", "isready").until("readyok")
    assert len(cleared) == 1
    assert search("usinewgame") == fresh
    assert len(cleared) == 1


def test_a_second_go_ends_the_first(session):
    session.send("position startpos", "go infinite", "go depth 2")
    assert "resign" not in (session.bestmove(), session.bestmove())
