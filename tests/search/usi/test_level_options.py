"""Levels in a USI session: declared, obeyed, refused in one line, and without effect on analysis."""

from __future__ import annotations

import time

import pytest

from search.levels import LEVELS, NAMES, Level
from search.mate.root_mate import RootMate
from tests.usi_session import InProcess

GAME = "position startpos moves 7g7f 3c3d"


def moves_of(session: InProcess, *setting: str, count: int = 5) -> list[str]:
    """Return the moves of several searches of one position, each in a separate game."""
    session.send(*setting)
    found = []
    for _ in range(count):
        session.send("usinewgame", GAME, "go btime 60000 wtime 60000 byoyomi 10000")
        found.append(session.bestmove())
    return found


def test_the_options_are_declared():
    lines = InProcess().send("usi").until("usiok")
    declared = next(line for line in lines if line.startswith("option name Level "))
    assert declared == f"option name Level type combo default full {' '.join(f'var {name}' for name in NAMES)}"
    assert "option name LevelSeed type spin default 0 min 0 max 2147483647" in lines


def test_a_level_answers_at_once_and_reports_its_line(session):
    session.send("setoption name Level value level3", GAME)
    begun = time.monotonic()
    session.send("go byoyomi 60000")
    info, best = session.until("bestmove")[-2:]
    assert time.monotonic() - begun < 30
    assert info.split(" pv ")[1].split()[0] == best.split()[1]
    assert int(info.split()[2]) == LEVELS[2].depth


def test_equal_seeds_play_equal_moves_and_no_seed_varies(session):
    first = moves_of(session, "setoption name Level value level2", "setoption name LevelSeed value 7")
    assert len(set(first)) > 1
    session.send("setoption name LevelSeed value 8", GAME)
    assert moves_of(session, "setoption name LevelSeed value 7") == first
    assert moves_of(session, "setoption name LevelSeed value 0", count=12) != [first[0]] * 12


def test_full_strength_is_the_default_and_can_be_restored(session):
    full = moves_of(session, "setoption name NodesLimit value 500", count=2)
    session.send("setoption name Level value level1", GAME, "go nodes 100").until("bestmove")
    assert moves_of(session, "setoption name Level value full", count=2) == full


def test_go_infinite_analyses_at_full_strength(session):
    session.send("setoption name Level value level1", "setoption name MultiPV value 2", GAME, "go infinite")
    while " depth 5 " not in session.until("info depth")[-1]:
        pass
    assert " multipv 2 " in session.until("info depth")[-1]
    session.send("stop").until("bestmove")


def test_a_pondering_level_holds_its_move(session):
    session.send("setoption name Level value level1", GAME, "go ponder btime 60000 wtime 60000 byoyomi 1000")
    session.until("info depth")
    assert not [line for line in session.waiting() if line.startswith("bestmove")]
    session.send("ponderhit").until("bestmove")


def test_minimum_thinking_time_holds_the_move_of_a_level(session):
    session.send("setoption name Level value level1", "setoption name MinimumThinkingTime value 500", GAME)
    begun = time.monotonic()
    session.send("go btime 0 wtime 0 byoyomi 10000").until("bestmove")
    assert time.monotonic() - begun > 0.3  # less the NetworkDelay
    session.send("setoption name MinimumThinkingTime value 60000", "go btime 0 wtime 0 byoyomi 90000")
    session.send("stop").until("bestmove")


def test_a_level_resigns_only_lost_positions(session, monkeypatch):
    """The move that a level draws may lose, but the best line decides whether the position is lost."""
    monkeypatch.setattr(Level, "draw", lambda level, scores, random: len(scores) - 1)
    session.send("setoption name Level value level1", "setoption name ResignValue value 1")
    session.send("position sfen 4k4/9/9/9/9/9/9/4r4/4K4 b - 1", "go btime 60000 wtime 60000")
    info, best = session.until("bestmove")[-2:]  # the king may capture the rook or move away
    assert " score cp -" in info
    assert best != "bestmove resign"
    session.send("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/9/9/4K4 b - 1", "go btime 60000 wtime 60000")
    assert session.until("bestmove")[-1] == "bestmove resign"


def test_the_root_mate_search_does_not_help_a_level(session, monkeypatch):
    def begin(*_):
        raise MemoryError("a mate search")

    monkeypatch.setattr(RootMate, "begin", begin)
    session.send("setoption name Mate_Root_Search value 10000", GAME, "go depth 1")
    assert any("a mate search" in line for line in session.until("bestmove"))
    session.send("setoption name Level value level1", "isready", GAME, "go depth 1")
    assert not any("a mate search" in line for line in session.until("bestmove"))


def test_go_mate_solves_at_every_level(session):
    session.send("setoption name Level value level1", "position sfen 8k/9/8G/9/9/9/9/9/K8 b G 1", "go mate 10000")
    assert session.until("checkmate")[-1] == "checkmate G*1b"


@pytest.mark.parametrize("value", ["", "level0", "Level1", "level1 level2", "\u6700\u5f37", "99"])
def test_an_unknown_level_is_refused_in_one_line(session, value):
    session.send(f"setoption name Level value {value}")
    (line,) = session.words().splitlines()
    assert "Level" in line
    assert "full, level1" in line
    assert session.usi._options.text("Level") == "full"
