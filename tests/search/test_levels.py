"""Levels: legal and varied moves that depend on the seed, mates are played, and ratings increase by level."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.levels import FULL, LEVELS, NAMES, Level, level_named
from search.score import MATE
from search.system.options import OptionError

MATE_IN_ONE = ("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1", "G*5b")
PLIES = 4


@pytest.fixture(scope="module")
def engine() -> AlphaBetaEngine:
    return AlphaBetaEngine("default", 1)


def opening(engine: AlphaBetaEngine, name: str, seed: int) -> tuple[str, ...]:
    """Return the first moves of a level against itself."""
    engine.set_level(name, seed)
    engine.new_game()
    moves: list[str] = []
    for _ in range(PLIES):
        found = engine.analyse("startpos", moves).best_move
        assert found is not None
        moves.append(found)
    return tuple(moves)


def test_ratings_increase_by_a_few_hundred_per_level():
    assert list(NAMES) == [FULL, *(level.name for level in LEVELS)]
    assert all(name.isascii() and name.isalnum() for name in NAMES)
    assert all(level.error > 0 for level in LEVELS)
    ratings = [*(level.elo for level in LEVELS), 0]
    assert all(150 <= higher - lower <= 450 for lower, higher in pairwise(ratings))


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_plays_legal_moves_that_depend_on_its_seed(engine, level):
    games = [opening(engine, level.name, seed) for seed in (1, 2, 3, 4, 1)]  # illegal moves are refused
    assert games[0] == games[-1]
    assert len(set(games)) > 1


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_a_level_mates_in_one(engine, level):
    sfen, mate = MATE_IN_ONE
    for seed in range(4):
        engine.set_level(level.name, seed)
        engine.new_game()
        assert engine.analyse(sfen).best_move == mate


def test_full_strength_is_the_engine_without_a_level(engine):
    engine.set_level("level1")
    engine.set_level()
    engine.new_game()
    found = engine.analyse("startpos", depth=4)
    plain = AlphaBetaEngine("default", 1).analyse("startpos", depth=4)
    assert (found.pv, found.score, found.nodes) == (plain.pv, plain.score, plain.nodes)


def test_an_analysis_has_full_strength(engine):
    engine.set_level("level1")
    engine.new_game()
    lines = engine.analyse("startpos", depth=4, multipv=3, analysis=True)
    assert [(line.depth, line.rank) for line in lines] == [(4, 1), (4, 2), (4, 3)]


def test_limits_of_a_search_may_be_below_those_of_the_level(engine):
    engine.set_level("level8")
    assert engine.analyse("startpos", depth=2).depth == 2
    assert engine.analyse("startpos", time_ms=60_000).nodes <= 1.2 * (LEVELS[-1].nodes or 0)


def test_a_level_always_returns_one_line(engine):
    engine.set_level("level2")
    found = engine.analyse("startpos", multipv=5)
    assert [line.rank for line in found] == [1]
    assert engine.multipv == 1


def test_more_threads_do_not_change_the_moves_of_a_level():
    moves = []
    for threads in (1, 2):
        engine = AlphaBetaEngine("default", 1, threads)
        moves.append(opening(engine, "level6", 1))
    assert moves[0] == moves[1]


def test_a_worse_move_is_drawn_less_often():
    level = Level("level", 3, 100)
    random = Random(1)
    drawn = [level.draw([0, -100, -1000], random) for _ in range(1000)]
    assert 600 < drawn.count(0) < 850  # 1 / (1 + 1 / e) is 0.73
    assert drawn.count(2) <= 2


def test_a_mate_is_played_and_a_lost_game_still_has_a_choice():
    level, random = Level("level", 2, 300), Random(1)
    assert {level.draw([MATE - 1, MATE - 3], random) for _ in range(50)} == {0}
    assert {level.draw([-3000, -MATE + 2], random) for _ in range(50)} == {0, 1}


@pytest.mark.parametrize("name", ["", "level9", "LEVEL1", "9kyu"])
def test_an_unknown_level_is_refused_with_the_names(engine, name):
    with pytest.raises(OptionError, match="full, level1") as raised:
        engine.set_level(name)
    assert raised.value.fields == ("level",)
    assert "\n" not in str(raised.value)
    assert level_named(FULL) is None
