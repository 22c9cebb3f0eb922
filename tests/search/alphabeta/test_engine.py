"""The engine's Python interface: limits, lines, MultiPV, threads, and ends of games."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liteshogi
from search.alphabeta.engine import REPORTED_NODES, AlphaBetaEngine
from search.alphabeta.thread import HISTORIES
from search.alphabeta.transposition import probe
from search.clock import Budget
from search.engine import LONGEST_GAME, Analysis, Engine, Limits, Rules, root_moves
from search.evaluation.evaluation_speed import random_network
from search.evaluation.material import material_network
from search.primitives.ticks import READABLE
from search.rules.declaration import NO_RULE, RULE_24, TRY_RULE, try_move
from search.rules.movegen import is_legal, list_moves
from search.rules.position import do_move
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen
from search.rules.shogi import BLACK, WHITE
from search.score import draw_value, is_mate, mate_plies
from search.system.options import OptionError

MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"
MATE_IN_ONE = "8k/9/8G/9/9/9/9/9/K8 b G 1"
MATE_IN_FIVE = "l3pssnl/5k3/p1+P1NppS1/7Pp/9/6+R2/1P1PPPP1P/B1GS5/L4K1NL b RBGN4P2gp 139"  # from nshogi's test set
MATED = "8k/8G/8G/9/9/9/9/9/K8 w - 1"
DECLARED = "+P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG 200"
ONE_MOVE = "8k/9/8R/9/9/9/9/9/K8 w - 1"


@pytest.fixture(scope="module")
def engine() -> AlphaBetaEngine:
    return AlphaBetaEngine(material_network(), hash_mb=8)


@pytest.fixture(autouse=True)
def as_it_was(engine):
    yield
    engine.rules, engine.multipv = Rules(), 1
    engine.set_threads(1)
    engine.new_game()


def replay(sfen: str, line: tuple[str, ...]) -> np.void:
    """Return the position at the end of a line of legal moves."""
    pos = position_from_sfen(sfen)
    for usi in line:
        assert is_legal(pos, np.int64(move_from_usi(usi))), (usi, line)
        do_move(pos, np.int64(move_from_usi(usi)))
    return pos


def test_the_package_exports_its_names():
    assert liteshogi.Engine is Engine
    assert liteshogi.AlphaBetaEngine is AlphaBetaEngine
    assert liteshogi.Analysis is Analysis
    assert set(liteshogi.__all__) <= set(dir(liteshogi))
    assert all(getattr(liteshogi, name).__doc__ or name == "__version__" for name in liteshogi.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        liteshogi.nonsense  # noqa: B018


def test_analysis_to_a_depth_is_repeatable(engine):
    found = engine.analyse(MIDDLE, depth=7)
    assert found.depth == 7
    assert found.best_move == found.pv[0]
    assert found.ponder_move == found.pv[1]
    assert 0 < found.win_rate < 1
    assert found.score_text == f"cp {found.score}"
    replay(MIDDLE, found.pv)
    engine.new_game()
    again = engine.analyse(MIDDLE, depth=7)
    assert (again.nodes, again.pv, again.score) == (found.nodes, found.pv, found.score)
    assert AlphaBetaEngine(material_network(), 8).analyse(MIDDLE, depth=7).nodes == found.nodes


def test_histories_by_ply_are_reset_for_each_search(engine):
    engine.analyse(MIDDLE, depth=1)
    (thread,) = engine._threads
    thread.record["low_ply_history"] = 7000
    engine.analyse(MIDDLE, nodes=1)
    assert thread.record["low_ply_history"].max() < 7000


def test_nodes_are_a_limit(engine):
    assert engine.analyse(MIDDLE, nodes=5_000).nodes <= 5_000
    one = engine.analyse(MIDDLE, nodes=1)
    replay(MIDDLE, (one.best_move or "",))


@pytest.mark.parametrize("limit", ["nodes", "depth"])
@pytest.mark.parametrize("number", [0, -1, 10**30])
def test_limits_beyond_the_counters_are_refused(engine, limit, number):
    with pytest.raises(OptionError, match=f"`{limit}` {number}"):
        engine.analyse(MIDDLE, **{limit: number})


def test_every_reported_line_is_legal(engine):
    lines: list[Analysis] = []
    engine.multipv = 3
    engine.analyse(MIDDLE, depth=6, on_info=lines.append)
    assert len(lines) == 18
    for index in range(0, 18, 3):
        trio = lines[index : index + 3]
        assert [line.rank for line in trio] == [1, 2, 3]
        assert len({line.pv[0] for line in trio}) == 3
        assert trio[0].score >= trio[1].score >= trio[2].score
        for line in trio:
            replay(MIDDLE, line.pv)


@pytest.mark.parametrize("budget", [None, Budget(60_000, 60_000)])
def test_reports_of_a_depth_equal_those_of_a_search_to_that_depth(engine, budget):
    reported: list[Analysis] = []
    engine.set_position(MIDDLE)
    engine.ready(budget)
    engine.search(Limits(depth=12), lambda lines, _: reported.extend(lines))
    assert [line.depth for line in reported] == list(range(1, 13))
    assert (
        reported[2].nodes < REPORTED_NODES < reported[-2].nodes
    )  # some depths were reported together, some separately
    for line in reported:
        engine.new_game()
        alone = engine.analyse(MIDDLE, depth=line.depth)
        figures = (line.nodes, line.score, line.seldepth, line.pv, line.win_rate)
        assert figures == (alone.nodes, alone.score, alone.seldepth, alone.pv, alone.win_rate)
        replay(MIDDLE, line.pv)


def cut_searches(engine, position, counts):
    """Search with these numbers of nodes and empty tables; return the results and the last reports."""
    for nodes in counts:
        reported: list[Analysis] = []
        engine.new_game()
        yield engine.analyse(position, nodes=nodes, on_info=reported.append), reported[-1]


def test_an_interrupted_depth_does_not_change_the_last_report(engine):
    cut = 0
    for found, reported in cut_searches(engine, MIDDLE, range(1000, 21_000, 1000)):
        if found.depth == reported.depth:
            cut += 1
            assert (found.seldepth, found.score, found.pv) == (reported.seldepth, reported.score, reported.pv)
    assert cut > 10


def test_a_better_move_of_an_interrupted_depth_has_its_own_score(engine):
    bettered = 0
    for found, reported in cut_searches(engine, MATE_IN_FIVE, range(3000, 5000, 100)):
        if found.pv[0] != reported.pv[0]:
            bettered += 1
            assert found.score > reported.score
            assert is_mate(found.score) == (not list_moves(replay(MATE_IN_FIVE, found.pv)))
    assert bettered > 1


def test_interrupted_depths_have_a_selective_depth():
    """Also if its first window failed and there was no time for another."""
    engine = AlphaBetaEngine("default", hash_mb=2)
    for nodes in range(860, 1000):
        engine.new_game()
        assert engine.analyse(MIDDLE, nodes=nodes).seldepth > 0


def test_depths_that_are_reported_together_have_times_by_their_nodes(engine, monkeypatch):
    monkeypatch.setattr("search.alphabeta.engine.REPORTED_NODES", 10**9)
    monkeypatch.setattr("search.alphabeta.engine._since", lambda begun: 10_000)
    reported: list[Analysis] = []
    found = engine.analyse(MIDDLE, nodes=300_000, on_info=reported.append)
    assert len(reported) > 8
    for line in reported:
        share = 10_000 * line.nodes / found.nodes
        assert share - 1 <= line.milliseconds <= share


def test_the_best_lines_are_the_last_reported_ones(engine):
    reported: list[Analysis] = []
    lines = engine.analyse(MIDDLE, depth=6, multipv=3, on_info=reported.append)
    assert [(line.pv, line.score, line.rank) for line in lines] == [
        (one.pv, one.score, one.rank) for one in reported[-3:]
    ]
    assert engine.multipv == 1
    engine.new_game()
    (alone,) = engine.analyse(MIDDLE, depth=6, multipv=1)
    engine.new_game()
    best = engine.analyse(MIDDLE, depth=6)
    assert (alone.pv, alone.score, alone.nodes) == (best.pv, best.score, best.nodes)
    with pytest.raises(ValueError, match="`multipv` 0"):
        engine.analyse(MIDDLE, multipv=0)


def test_a_second_search_of_an_engine_is_refused(engine):
    refused: list[Analysis] = []

    def search_again(found: Analysis) -> None:
        with pytest.raises(RuntimeError, match="already searching"):
            engine.analyse("startpos", nodes=10)
        refused.append(found)

    assert engine.analyse(MIDDLE, depth=4, on_info=search_again).depth == 4
    assert refused
    assert engine.game[0] == MIDDLE
    assert engine.analyse("startpos", nodes=10).best_move


@given(nodes=st.integers(1, 20_000), count=st.integers(1, 40))
@settings(max_examples=30)
def test_lines_of_the_shortest_searches_are_distinct_legal_and_ordered(engine, nodes, count):
    lines = engine.analyse(MIDDLE, nodes=nodes, multipv=count)
    assert [line.rank for line in lines] == list(range(1, len(lines) + 1))
    assert len({line.best_move for line in lines}) == len(lines) <= count
    for line in lines:
        replay(MIDDLE, line.pv)
        assert line.best_move == line.pv[0]
    deep = [line for line in lines if line.depth == lines[0].depth]
    assert lines[: len(deep)] == deep  # followed by lines of the previous depth
    assert [line.score for line in deep] == sorted((line.score for line in deep), reverse=True)


def test_more_lines_than_moves_give_all_moves(engine):
    engine.multipv = 500
    lines: list[Analysis] = []
    engine.analyse(ONE_MOVE, depth=2, on_info=lines.append)
    assert 1 <= len({line.pv[0] for line in lines}) < 5


def test_time_is_a_limit(engine):
    assert engine.analyse(MIDDLE, time_ms=60).depth >= 1


@pytest.mark.parametrize("limit", ["nodes", "depth", "time_ms"])
@pytest.mark.parametrize("number", [0, -5, 1 << 63])
def test_invalid_limits_are_refused_by_name(engine, limit, number):
    with pytest.raises(OptionError, match=f"`{limit}` {number}"):
        engine.analyse("startpos", **{limit: number})


def test_moves_in_one_text_are_refused(engine):
    with pytest.raises(TypeError, match="'7g7f 3c3d' is one text: pass a list"):
        engine.analyse("startpos", "7g7f 3c3d", depth=1)


def test_a_search_is_stopped_from_another_thread(engine):
    timer = threading.Timer(0.1, engine.stop)
    timer.start()
    found = engine.analyse(MIDDLE, depth=120)
    assert found.depth < 120
    replay(MIDDLE, found.pv)


def test_a_stop_before_the_search_begins_still_gives_a_move(engine):
    engine.set_position(MIDDLE)
    engine.ready()
    engine.stop()
    found = engine.search()[0]
    replay(MIDDLE, (found.best_move or "",))


@pytest.mark.skipif(not READABLE, reason="jitted code reads no clock here")
def test_the_search_ends_in_time_without_a_timer(engine, monkeypatch):
    monkeypatch.setattr("search.clock.started", lambda thread: None)
    engine.set_position("startpos")
    engine.ready(Budget(300, 300))
    found = engine.search(Limits(nodes=10**10))[0]
    assert engine.clock.overdue() is not None
    assert found.depth > 1


def test_the_shortest_search_evaluates_a_move(engine):
    hanging = "4k4/9/9/4r4/9/9/9/4R4/4K4 b - 1"  # the rook can be taken
    engine.set_position(hanging)
    for limit in ("stop", "budget", "nodes"):
        engine.new_game()
        engine.ready(Budget(1, 1) if limit == "budget" else None)
        if limit == "stop":
            engine.stop()
        lines: list[Analysis] = []
        found = engine.search(
            Limits(nodes=1 if limit == "nodes" else None), lambda found, _, into=lines: into.extend(found)
        )[0]
        assert found.best_move in ("5h5d", "5h5d+"), limit
        assert lines
        assert found.score > 0


def test_a_late_budget_does_not_affect_the_next_search(engine):
    engine.set_position(MIDDLE)
    engine.ready()
    timer = threading.Timer(0.05, lambda: engine.limit(Budget(10, 10)))
    timer.start()
    assert engine.search()[0].depth >= 1
    engine.ready(Budget(50, 100))
    engine.stop()
    engine.search()
    engine.ready()
    time.sleep(0.15)
    assert engine.search(Limits(depth=5))[0].depth == 5


def test_a_remaining_timer_does_not_stop_the_next_search(engine, monkeypatch):
    """A `ponderhit` after the end of a search leaves a timer, which may expire while the next search is prepared."""
    engine.limit(Budget(600_000, 600_000))
    left = engine.clock._timer

    class RingingOnce(threading.Event):
        def clear(self) -> None:
            super().clear()
            left.function(*left.args)

    monkeypatch.setattr(engine, "_stopped", RingingOnce())
    engine.ready()
    assert not engine._stopped.is_set()


def test_one_legal_move_is_answered_at_once(engine):
    engine.set_position("7r1/9/9/9/9/8k/9/8p/8K b - 1")
    engine.ready(Budget(600_000, 600_000))
    found = engine.search()[0]
    assert found.best_move == "1i1h"
    assert found.depth < 10


def test_one_legal_move_takes_the_minimum_thinking_time(engine):
    engine.set_position("k8/1G7/9/9/9/9/9/9/K8 w - 2")
    engine.ready(Budget(100, 600_000, minimum=300))
    assert engine.search()[0].milliseconds > 250  # of 300 ms, measured from slightly earlier


def test_mates_of_both_sides_are_found(engine):
    found = engine.analyse(MATE_IN_ONE, depth=5)
    assert is_mate(found.score)
    assert mate_plies(found.score) == 1
    assert found.score_text == "mate 1"
    assert found.win_rate == 1
    mated = engine.analyse(MATED, depth=3)
    assert mated.best_move is None
    assert mated.pv == ()
    assert mated.win_rate == 0


def test_the_root_s_moves_are_judged_by_all_four_occurrences(engine, drawn_at_once):
    start, moves, last = drawn_at_once
    scores = {line.best_move: line.score for line in engine.analyse(start, moves, depth=3, multipv=600)}
    assert scores[last] == 0
    assert max(scores.values()) > 0
    engine.rules = Rules(draw_value=(-30_000, 30_000))
    assert engine.analyse(start, moves, depth=3).best_move == last


def test_by_the_try_rule_a_try_prevents_a_mate(engine):
    """White's king may step to 5i between the checks, which wins."""
    engine.rules = Rules(declaration=TRY_RULE)
    start = "9/9/9/9/1+BK6/3+Rs2B1/5S3/1G3g3/2k6 b S 1"
    for depth in range(1, 9):
        engine.new_game()
        found = engine.analyse(start, depth=depth)
        pos = position_from_sfen(start)
        for move in found.pv if is_mate(found.score) else ():
            assert not try_move(pos) or move == move_to_usi(int(try_move(pos))), found
            do_move(pos, np.int64(move_from_usi(move)))


def test_given_moves_precede_a_declaration(engine):
    engine.set_position(DECLARED)
    engine.ready()
    assert engine.search(Limits(depth=2, moves=("3a3b",)))[0].best_move == "3a3b"
    engine.ready()
    assert engine.search(Limits(depth=2))[0].best_move == "win"


def test_a_declaration_is_played(engine):
    assert engine.analyse(DECLARED, depth=2).best_move == "win"
    engine.rules = Rules(declaration=NO_RULE)
    assert engine.analyse(DECLARED, depth=2).best_move not in ("win", None)
    engine.rules = Rules(declaration=RULE_24)
    assert engine.analyse(DECLARED, depth=2).best_move == "win"


def test_a_try_is_played(engine):
    engine.rules = Rules(declaration=TRY_RULE)
    assert engine.analyse("9/4K4/9/9/9/9/9/9/k8 b - 1", depth=2).best_move == "5b5a"


def test_a_move_limit_makes_draws(engine):
    engine.rules = Rules(max_moves=28)
    assert engine.analyse(MIDDLE, depth=4).score == 0


@pytest.mark.parametrize("length", [1, 5])
def test_the_last_move_before_the_limit_may_mate(engine, length):
    sfen = {1: MATE_IN_ONE, 5: MATE_IN_FIVE}[length]
    last = int(position_from_sfen(sfen)["game_ply"]) + length - 1
    engine.rules = Rules(max_moves=last)
    assert engine.analyse(sfen, depth=12).score_text == f"mate {length}"
    if length > 1:
        engine.new_game()
        engine.rules = Rules(max_moves=last - 1)
        assert not is_mate(engine.analyse(sfen, depth=12).score)


def test_the_value_of_a_draw_depends_on_the_colour(engine):
    for draw, best in (((300, -300), 300), ((-300, 300), -300)):
        engine.rules = Rules(max_moves=1, draw_value=draw)
        assert engine.analyse("startpos", depth=3).score == best


def test_another_value_of_a_draw_clears_the_table():
    """If the value of a draw or the root's colour changes, a search takes exactly the nodes of a fresh engine."""
    net = random_network("piece_square", 32, (8,), 1, ("value", "draw"))
    engine = AlphaBetaEngine(net, hash_mb=1)
    found = []
    for worth in (draw_value(0.3, BLACK), draw_value(0.7, BLACK), draw_value(0.7, WHITE)):
        engine.rules, fresh = Rules(draw_value=worth), AlphaBetaEngine(net, hash_mb=1)
        fresh.rules = engine.rules
        for name, value in HISTORIES.items():
            if name != "correction":  # the others do not depend on draws
                engine._threads[0].record[name] = value
        again, once = engine.analyse(MIDDLE, depth=6), fresh.analyse(MIDDLE, depth=6)
        assert (again.nodes, again.score) == (once.nodes, once.score)
        found.append((once.nodes, once.score))
    assert found[0] == found[2] != found[1]  # a draw of 0.7 for white equals a draw of 0.3 for black
    assert engine.analyse(MIDDLE, depth=6).nodes < again.nodes


def test_only_the_given_moves_are_searched(engine):
    engine.set_position("startpos")
    for wanted in (("1g1f",), ("9g9f", "1g1f")):
        engine.ready()
        assert engine.search(Limits(depth=5, moves=wanted))[0].best_move in wanted
    engine.ready()
    assert engine.search(Limits(depth=3, moves=("5e5d",)))[
        0
    ].best_move  # none of them is legal, so all moves are searched


def test_the_score_of_given_moves_is_not_stored_for_the_position(engine):
    """Otherwise a search of an earlier position would find this score in the table."""

    def known() -> int:
        return int(probe(engine.table.record, engine.position["key"]))

    engine.set_position(MIDDLE)
    every = tuple(move_to_usi(int(move)) for move in root_moves(engine.position))
    for wanted, reported in ((every[:1], False), (every[1:], False), (every, True), ((), True)):
        engine.new_game()
        engine.ready()
        engine.search(Limits(depth=4, moves=wanted))
        assert bool(known()) == reported


def test_moves_that_the_search_skips_are_played_on_request(engine):
    sfen = "4k4/9/9/4P4/9/9/9/9/4K4 b - 1"
    engine.set_position(sfen, ("5d5c", "5a6a"))
    engine.ready()
    assert engine.search(Limits(depth=3, moves=("5c5b",)))[0].best_move == "5c5b"


def test_positions_are_accepted_in_common_forms(engine):
    for text, moves in (
        ("startpos moves 7g7f 3c3d", ()),
        ("startpos moves 7g7f", ("3c3d",)),
        ("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2 moves 3c3d", ()),
    ):
        found = engine.analyse(text, moves, depth=2)
        assert get_sfen(engine.position) == "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3"
        replay(get_sfen(engine.position), found.pv)


def test_an_illegal_move_does_not_change_the_position(engine):
    engine.set_position(MIDDLE)
    with pytest.raises(ValueError, match=r"move 2, 7g7f, is not legal in"):
        engine.set_position("startpos", ["7g7f", "7g7f"])
    with pytest.raises(ValueError, match="ranks"):
        engine.set_position("nonsense b - 1")
    assert get_sfen(engine.position) == MIDDLE


def test_games_longer_than_a_record_are_accepted(engine):
    shuffle = ("5i5h", "5a5b", "5h5i", "5b5a")
    for length in (LONGEST_GAME - 1, LONGEST_GAME, LONGEST_GAME + 1, 3 * LONGEST_GAME + 5):
        engine.set_position("startpos", [shuffle[number % 4] for number in range(length)])
        assert int(engine.position["game_ply"]) == 1 + length
        assert int(engine.position["ply"]) == min(length, LONGEST_GAME)
        assert engine.analyse(get_sfen(engine.position), depth=3).best_move


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_the_work(engine, threads):
    engine.set_threads(threads)
    found = engine.analyse(MIDDLE, depth=8)
    assert found.depth == 8
    replay(MIDDLE, found.pv)
    assert engine.analyse(MIDDLE, nodes=20_000).nodes <= 20_000 + 16 * threads
