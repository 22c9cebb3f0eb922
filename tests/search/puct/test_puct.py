"""The PUCT engine with networks for tests: the tree's sums, mates, draws, and the end of a search."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence

import cshogi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.clock import Budget
from search.engine import Analysis, Limits, Rules
from search.mate.solver import MateResult, MateSolver, MateStatus
from search.puct import compaction, new_root, playout
from search.puct.engine import PuctEngine, Settings, even_network
from search.puct.leaves import PolicyValueFunction
from search.puct.planes import move_label
from search.puct.report import PuctAnalysis
from search.puct.tree import UNPROVED
from search.rules.declaration import NO_RULE
from search.rules.movegen import is_legal, list_moves
from search.rules.position import do_move, in_check
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen
from search.score import MAX_PLY, is_mate
from tests.search.puct.conftest import MIDDLE_GAME, NO_MATES, Guess, Outputs, check_tree


def play(sfen: str, moves: Sequence[str]) -> np.void:
    """Return the position after legal moves."""
    pos = position_from_sfen(sfen)
    for usi in moves:
        move = np.int64(move_from_usi(usi))
        assert is_legal(pos, move)
        do_move(pos, move)
    return pos


@settings(max_examples=20)
@given(
    playouts=st.integers(1, 400),
    batch=st.integers(1, 20),
    threads=st.integers(1, 3),
    moves=st.integers(0, 120),
    seed=st.integers(0, 1 << 32),
)
def test_the_sums_of_the_tree_agree(playouts: int, batch: int, threads: int, moves: int, seed: int) -> None:
    pos, chosen = position_from_sfen("startpos"), np.random.default_rng(seed)
    for _ in range(moves):
        legal = list_moves(pos)
        if len(legal) < 2:
            break
        do_move(pos, np.int64(chosen.choice(legal)))
    engine = PuctEngine(Guess(), 4, threads, Settings(batch_size=batch))
    found = engine.analyse(get_sfen(pos), nodes=playouts)
    check_tree(engine.tree)
    root = engine.tree.root
    if found.nodes < playouts:  # it ends earlier if nothing is left to search
        assert root["proof"] != UNPROVED or not root["visits"]
    else:
        assert found.nodes == playouts == root["visits"] == sum(one.visits for one in engine.root_moves()) + 1


def test_every_edge_is_a_legal_move_with_the_networks_prior(engine: PuctEngine) -> None:
    engine.use_settings(Settings(batch_size=1, temperature=2.0))
    engine.analyse(MIDDLE_GAME, nodes=1)
    legal = list_moves(position_from_sfen(MIDDLE_GAME))
    moves = {move_from_usi(one.move): one.prior for one in engine.root_moves()}
    assert sorted(moves) == sorted(legal)
    leaves = engine._workers[0].leaves
    policy = Guess()(leaves._input1[:1], leaves._input2[:1])[0][0]
    logits = np.array([policy[move_label(np.int64(move), np.int64(1))] for move in legal]) / 2.0
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert [moves[move] for move in legal] == pytest.approx(expected.tolist(), rel=1e-4)


def test_other_priors_at_the_root_leave_the_tree_whole(engine: PuctEngine) -> None:
    engine.use_settings(Settings(batch_size=1, leaf_mate_nodes=0))
    engine.analyse(MIDDLE_GAME, nodes=60)
    tree, random = engine.tree, np.random.default_rng(5)
    before = {one.move: (one.visits, one.value) for one in engine.root_moves() if one.visits}
    for _ in range(3):
        wanted = random.dirichlet(np.full(len(tree.root_edges()), 0.3)).astype(np.float32)
        expected = dict(zip(tree.root_edges()["move"].tolist(), wanted.tolist(), strict=True))
        tree.set_root_priors(wanted)
        edges = tree.root_edges()
        assert dict(zip(edges["move"].tolist(), edges["prior"].tolist(), strict=True)) == expected
        tried = int((edges["child"] >= 0).sum())
        assert (edges["child"][:tried] >= 0).all()
        assert (np.diff(edges["prior"][tried:]) <= 0).all()
    assert {one.move: (one.visits, one.value) for one in engine.root_moves() if one.visits} == before
    likeliest = max(expected, key=lambda move: expected[move])
    found = engine.analyse(MIDDLE_GAME, nodes=400)
    assert found.nodes == 400
    visits = {move_from_usi(one.move): one.visits for one in engine.root_moves()}
    assert visits[likeliest] > before.get(move_to_usi(likeliest), (0, 0))[0]
    assert sum(visits.values()) == 459


def test_the_tree_is_reused_in_the_game(engine: PuctEngine) -> None:
    engine.analyse("startpos", ("7g7f",), nodes=300)
    line = [engine.root_moves()[0].move]
    child = next(
        c for m, _, c in engine.tree.moves_from(int(engine.tree.record["root"])) if m == move_from_usi(line[0])
    )
    visits = int(engine.tree.nodes[child]["visits"])
    assert visits > 10
    found = engine.analyse("startpos", ("7g7f", *line), nodes=50)
    assert found.nodes == 50
    assert engine.tree.root["visits"] == visits + 50
    check_tree(engine.tree)
    engine.analyse("startpos", ("7g7f", *line), nodes=50)
    assert engine.tree.root["visits"] == visits + 100
    for other in (("7g7f",), ("2g2f",), ("7g7f", *line, "9i9h")):  # moves taken back, another game, a jump
        if len(other) == 3:
            continue
        engine.analyse("startpos", other, nodes=50)
        assert engine.tree.root["visits"] == 50
    engine.rules = Rules(max_moves=100)
    engine.analyse("startpos", ("2g2f",), nodes=50)
    assert engine.tree.root["visits"] == 50
    engine.new_game()
    engine.analyse("startpos", ("2g2f",), nodes=50)
    assert engine.tree.root["visits"] == 50


def _mates(plies: int, count: int, seed: int) -> list[str]:
    """Return positions of random games with a mate in `plies` and no shorter one."""
    chosen, found = np.random.default_rng(seed), []
    while len(found) < count:
        board = cshogi.Board()
        for _ in range(int(chosen.integers(60, 160))):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(int(chosen.choice(moves)))
        if board.is_game_over() or board.is_check() or board.mate_move_in_1ply():
            continue
        if board.mate_move(plies):
            found.append(board.sfen())
    return found


@pytest.mark.parametrize("way", ["tree", "leaf", "root"])
def test_mates_are_found_with_their_complete_lines(way: str) -> None:
    chosen = {
        "tree": NO_MATES,
        "leaf": Settings(leaf_mate_nodes=2000),
        "root": Settings(leaf_mate_nodes=0),
    }[way]
    engine = PuctEngine(Guess(), 16, settings=chosen)
    for sfen in _mates(3, 4, 5):
        found = engine.analyse(sfen, nodes=30_000)
        assert found.score_text == f"mate {len(found.pv)}", sfen
        pos = play(sfen, found.pv)
        assert in_check(pos)
        assert not list_moves(pos)
        assert found.nodes < 30_000
        assert found.win_rate == 1


def test_a_mate_is_completed_in_the_time_left(engine: PuctEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MateSolver, "_prepared", False)
    engine.warm_up()
    assert MateSolver._prepared  # not loaded by the move that mates
    asked = []

    def solve(solver: MateSolver, pos: np.void, milliseconds: float, nodes: int) -> MateResult:
        asked.append(milliseconds)
        return MateResult(MateStatus.UNKNOWN)

    monkeypatch.setattr(MateSolver, "solve", solve)
    assert is_mate(engine.analyse("8k/9/8G/9/9/9/9/9/K8 b G 1", time_ms=60_000).score)
    assert 0 < asked[0] <= 60_000


def test_being_mated_is_seen_and_delayed(engine: PuctEngine) -> None:
    engine.use_settings(Settings())
    for sfen in _mates(3, 3, 8):
        mate = engine.analyse(sfen, nodes=30_000)
        reply = engine.analyse(sfen, mate.pv[:1], nodes=30_000)
        assert reply.score_text == f"mate -{len(mate.pv) - 1}"
        assert reply.best_move is not None
        assert reply.win_rate == 0


REPEATING = ("5i4h", "5a4b", "4h5i")
"""White's 4b5a repeats the starting position."""


@pytest.mark.parametrize("threads", [1, 2])
def test_the_value_of_a_draw_decides_on_repetition(threads: int) -> None:
    visits = {}
    for draw_value in (-20_000, 20_000):
        engine = PuctEngine(even_network, 16, threads, NO_MATES)
        engine.rules = Rules(draw_value=(-draw_value, draw_value))
        found = engine.analyse("startpos", REPEATING, nodes=800)
        assert isinstance(found, PuctAnalysis)
        repeating = next(one for one in engine.root_moves() if one.move == "4b5a")
        visits[draw_value] = repeating.visits
        assert (found.best_move == "4b5a") == (draw_value > 0)
        assert repeating.draw_rate == 1
        assert repeating.win_rate == 0.5
        assert repeating.value == pytest.approx(1 if draw_value > 0 else 0)
        assert found.draw_rate == (1 if draw_value > 0 else pytest.approx(0, abs=0.2))
    assert visits[20_000] > 400
    assert visits[-20_000] < 20


def test_winning_a_pawn_by_returning_to_a_position_of_the_game_is_not_a_win() -> None:
    engine = PuctEngine(even_network, 16, settings=NO_MATES)
    engine.analyse("4k4/9/9/9/5p3/9/4+p4/7B1/4K4 w g2p 1", ["4e4f", "2h4f", "P*4e"], nodes=200)
    assert next(one for one in engine.root_moves() if one.move == "4f2h").win_rate < 0.9


def led_by(moves: Sequence[str], turn: int) -> PolicyValueFunction:
    """A network that holds every position even and expects these moves, the first by the colour `turn`."""
    sides = itertools.cycle((turn, 1 - turn))
    labels = [
        move_label(np.int64(move_from_usi(move)), np.int64(side)) for move, side in zip(moves, sides, strict=False)
    ]

    def network(input1: np.ndarray, input2: np.ndarray) -> Outputs:
        policy, wins, draws = even_network(input1, input2)
        policy[:, labels] = 30
        return policy, wins, draws

    return network


RETURNING = "4k4/9/9/9/5p3/9/9/7B1/K8 w gp 1", ("4e4f", "2h4f", "P*4e", "4f2h")
"""A start and moves after which its board recurs, while black holds a pawn more."""


def test_a_kept_tree_forgets_gains_by_returning_to_a_position_before_its_root() -> None:
    start, moves = RETURNING
    engine = PuctEngine(led_by(moves, 1), 16, settings=NO_MATES)
    engine.analyse(start, nodes=200)
    assert tuple(map(move_to_usi, engine.tree.line())) == moves
    engine.analyse(start, moves[:2], nodes=1)
    check_tree(engine.tree)
    engine.analyse(start, moves[:3], nodes=200)
    check_tree(engine.tree)
    found = next(one for one in engine.root_moves() if one.move == moves[3])
    assert found.visits > 50
    assert found.win_rate == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("analysis", [False, True])
def test_a_kept_tree_forgets_draws_by_positions_before_its_root_in_an_analysis(analysis: bool) -> None:
    moves = (*REPEATING, "4b5a")
    engine = PuctEngine(led_by(moves, 0), 16, settings=NO_MATES)
    for count in (0, 2, 3):
        engine.set_position("startpos", moves[:count])
        engine.ready()
        engine.search(Limits(nodes=100, analysis=analysis))
        check_tree(engine.tree)
    assert engine.tree.root["visits"] > 100  # the tree was kept
    assert (next(one for one in engine.root_moves() if one.move == "4b5a").draw_rate == 1) != analysis


@pytest.mark.parametrize("analysis", [False, True])
def test_in_an_analysis_a_position_of_the_game_is_not_a_draw(analysis: bool) -> None:
    engine = PuctEngine(even_network, 16, settings=NO_MATES)
    engine.set_position("startpos", REPEATING)
    engine.ready()
    engine.search(Limits(nodes=200, analysis=analysis))
    assert (next(one for one in engine.root_moves() if one.move == "4b5a").draw_rate == 1) != analysis


def test_a_tree_of_an_analysis_is_not_used_in_play_nor_one_of_play_in_an_analysis() -> None:
    engine = PuctEngine(even_network, 16, settings=NO_MATES)
    engine.set_position("startpos", REPEATING)
    for analysis in (False, True, False):
        engine.ready()
        engine.search(Limits(nodes=200, analysis=analysis))
        assert (next(one for one in engine.root_moves() if one.move == "4b5a").draw_rate == 1) != analysis


def test_the_root_s_moves_are_judged_by_all_four_occurrences(drawn_at_once: tuple[str, tuple[str, ...], str]) -> None:
    start, moves, last = drawn_at_once
    engine = PuctEngine(even_network, 16, settings=NO_MATES)
    engine.rules = Rules(draw_value=(-20_000, 20_000))
    assert engine.analyse(start, moves, nodes=400).best_move == last
    found = next(one for one in engine.root_moves() if one.move == last)
    assert (found.draw_rate, found.win_rate) == (1, 0.5)


def drawn_by_a_pawn(input1: np.ndarray, input2: np.ndarray) -> Outputs:
    """A network that predicts a draw wherever black has moved its pawn to 7f, and even chances everywhere."""
    policy, wins, _ = even_network(input1, input2)
    square = move_from_usi("7g7f") & 127
    flat = input1.reshape(len(input1), 62, 81)
    return policy, wins, np.maximum(flat[:, 0, square] * (flat[:, 31, square] == 0), flat[:, 31, 80 - square]) * 0.9


@pytest.mark.parametrize(("draw_value", "liked"), [(1200, True), (-1200, False)])
def test_predicted_draws_are_sought_or_avoided(draw_value: int, liked: bool) -> None:
    engine = PuctEngine(drawn_by_a_pawn, 16, settings=NO_MATES)
    engine.rules = Rules(draw_value=(draw_value, -draw_value))
    engine.analyse("startpos", nodes=2000)
    moves = {one.move: one for one in engine.root_moves()}
    assert moves["7g7f"].draw_rate > 0.8
    assert (moves["7g7f"].visits > 3 * moves["2g2f"].visits) == liked
    assert (3 * moves["7g7f"].visits < moves["2g2f"].visits) == (not liked)
    check_tree(engine.tree)  # the value of a draw is not in the tree


def test_games_end_at_the_move_limit_in_the_tree(engine: PuctEngine) -> None:
    engine.rules = Rules(max_moves=2)
    engine.analyse("startpos", nodes=500)
    assert engine.tree.record["deepest"] == 2
    assert engine.tree.root["draw"] > 100


def test_a_mate_at_a_leaf_comes_before_the_move_limit() -> None:
    mated = "l3pssnl/5k3/p1+P1NppS1/7Pp/9/6+R2/1P1PPPP1P/B1GS5/L4K1NL b RBGN4P2gp 139"
    engine = PuctEngine(even_network, 16, settings=Settings(leaf_mate_nodes=2000))
    for last, expected in ((145, "mate"), (142, "cp")):  # the mate after 5d takes three more moves, by this proof five
        engine.rules = Rules(max_moves=last)
        assert engine.analyse(mated, ("N*5d",), nodes=500).score_text.startswith(expected)


def test_a_declaration_is_a_win() -> None:
    engine = PuctEngine(even_network, 4, settings=NO_MATES)
    entered = "2SGK1S2/PPPP1PPP1/9/9/9/9/9/9/4k4 {} 2RBG2P 1"
    found = engine.analyse(entered.format("b"), nodes=10)
    assert found.best_move == "win"
    assert found.win_rate == 1
    assert engine.analyse(entered.format("w"), nodes=100).score_text == "mate -2"  # after any move of white
    engine.rules = Rules(declaration=NO_RULE)
    assert engine.analyse(entered.format("b"), nodes=10).best_move != "win"


def test_only_the_given_moves_are_searched(engine: PuctEngine) -> None:
    engine.set_position("startpos")
    for wanted in (("9g9f", "1g1f"), ("5g5f",), ("1i1h",)):
        engine.ready()
        found = engine.search(Limits(nodes=100, moves=wanted))[0]
        assert found.best_move in wanted
        assert {one.move for one in engine.root_moves() if one.visits} >= {found.best_move}
    engine.ready()
    assert engine.search(Limits(nodes=2000))[0].best_move not in (None, "1i1h")


def test_several_lines_are_reported(engine: PuctEngine) -> None:
    engine.multipv = 3
    lines: list = []
    engine.analyse("startpos", nodes=300, on_info=lines.append)
    last = lines[-3:]
    assert [line.rank for line in last] == [1, 2, 3]
    assert len({line.best_move for line in last}) == 3
    for line in last:
        play("startpos", line.pv)
    assert engine.analyse("startpos", nodes=1, multipv=2)[0].rank == 1
    again = engine.analyse("startpos", nodes=300, multipv=2)
    assert [(line.rank, line.best_move) for line in again] == [
        (rank, one.move) for rank, one in enumerate(engine.root_moves()[:2], 1)
    ]


def test_a_depth_that_the_line_cannot_reach_ends_the_search() -> None:
    def one_move(input1: np.ndarray, input2: np.ndarray) -> Outputs:
        """Even chances, and one move with nearly all of the policy."""
        policy, wins, draws = Guess()(input1, input2)
        return 100 * policy, np.full_like(wins, 0.5), draws

    def search(network: PolicyValueFunction, depth: int, max_moves: int) -> Analysis:
        engine = PuctEngine(network, 16, settings=NO_MATES)
        engine.rules = Rules(max_moves=max_moves)
        engine.set_position("startpos")
        engine.ready(Budget(60_000, 60_000))
        found = engine.search(Limits(depth=depth))[0]
        assert found.milliseconds < 30_000
        return found

    drawn = search(even_network, 10, 2)
    assert drawn.depth == 2
    assert drawn.nodes > 10  # the first line that the rules end is not taken for the best one
    assert search(one_move, 1000, 0).depth == MAX_PLY


def test_mated_positions_and_forced_moves_end_at_once(engine: PuctEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.analyse("8k/8G/8G/9/9/9/9/9/K8 w - 1", nodes=10).best_move is None
    forced = engine.analyse("7k1/9/9/9/9/9/9/1r7/K8 b - 1", time_ms=60_000)  # one legal move, so not a minute
    assert forced.best_move == "9i8h"
    budget, looks = Budget(60_000, 60_000, 100), itertools.count()
    monkeypatch.setattr(engine.clock, "read", lambda: (budget, next(looks)))  # a millisecond from one to the next
    engine.ready(budget)
    engine.search()
    assert next(looks) > 100  # MinimumThinkingTime still applies


@pytest.mark.parametrize("threads", [1, 3])
def test_stop_ends_a_search_without_limits(threads: int) -> None:
    engine = PuctEngine(Guess(), 16, threads, NO_MATES)
    engine.set_position("startpos")
    engine.ready()
    found: list = []
    thread = threading.Thread(target=lambda: found.append(engine.search()[0]))
    thread.start()
    time.sleep(0.2)
    engine.stop()
    thread.join(60)
    assert found[0].best_move
    check_tree(engine.tree)


def test_a_search_limited_to_one_thread_uses_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers: list = []
    monkeypatch.setattr(PuctEngine, "_assist", lambda self, worker, nodes: helpers.append(worker))
    engine = PuctEngine(Guess(), 4, 3, NO_MATES)
    for one_thread, expected in ((True, 0), (False, 2)):
        engine.ready()
        engine.search(Limits(nodes=50, one_thread=one_thread))
        assert len(helpers) == expected


def test_a_search_stopped_before_it_begins_has_a_move(engine: PuctEngine) -> None:
    engine.set_position("startpos")
    engine.ready()
    engine.stop()
    assert engine.search()[0].best_move
    assert engine.tree.root["visits"] == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_the_search_ends_in_time_without_a_timer(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PuctEngine(Guess(), 16, threads, NO_MATES)
    engine.warm_up()
    monkeypatch.setattr("search.clock.started", lambda thread: None)
    engine.ready(Budget(200, 200))
    found = engine.search(Limits(nodes=10**10))[0]
    assert found.nodes > 10
    assert not engine._stopped.is_set()


def test_a_search_stops_if_no_other_move_can_catch_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def sure(input1: np.ndarray, input2: np.ndarray) -> Outputs:
        policy, wins, draws = even_network(input1, input2)
        policy[:, move_label(np.int64(move_from_usi("2g2f")), np.int64(0))] = 30
        return policy, wins, draws

    engine = PuctEngine(sure, 16, settings=NO_MATES)
    engine.set_position("startpos")
    budget = Budget(600_000, 1_200_000)
    engine.ready(budget)
    monkeypatch.setattr(engine.clock, "read", lambda: (budget, 599_999))  # a millisecond before the optimum, forever
    assert engine.search()[0].best_move == "2g2f"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_failing_network_leaves_a_usable_tree(threads: int) -> None:
    class Failing(Guess):
        calls = 0

        def __call__(self, input1: np.ndarray, input2: np.ndarray) -> Outputs:
            self.calls += 1
            if self.calls == 20:
                raise RuntimeError("no more memory on the device")
            return super().__call__(input1, input2)

    engine = PuctEngine(Failing(), 16, threads, NO_MATES)
    with pytest.raises(RuntimeError, match="no more memory"):
        engine.analyse("startpos", nodes=1000)
    check_tree(engine.tree)
    assert engine.analyse("startpos", nodes=100).nodes == 100
    check_tree(engine.tree)


def test_outputs_that_are_not_numbers_do_no_harm() -> None:
    class Broken(Guess):
        def __call__(self, input1: np.ndarray, input2: np.ndarray) -> Outputs:
            policy, wins, draws = super().__call__(input1, input2)
            assert draws is not None
            policy[:, ::3], policy[:, 1::7] = np.nan, np.inf
            wins[::2], draws[::3] = np.nan, np.inf
            return policy, wins * 3 - 1, draws

    engine = PuctEngine(Broken(), 16, settings=NO_MATES)
    assert engine.analyse("startpos", nodes=300).best_move
    check_tree(engine.tree)


def test_each_function_is_compiled_once() -> None:
    compiled: list[Callable] = [
        value
        for file in (playout, compaction, new_root)
        for value in vars(file).values()
        if hasattr(value, "overloads")
    ]
    files = (playout.__name__, compaction.__name__, new_root.__name__)
    own = [function for function in compiled if function.__module__ in files]
    assert len(own) > 10
    assert {function.__name__: len(function.overloads) for function in own if len(function.overloads) > 1} == {}
