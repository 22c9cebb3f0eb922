"""The share of time for a move: each sign of change increases it, and the engine follows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.alphabeta import engine as engine_module
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.settling import settling
from search.alphabeta.thread import thread_dtype
from search.clock import Budget
from search.engine import Limits
from search.evaluation.material import material_network

BEST, OTHER = 3, 8


def searched(moves: list[int], scores: list[int], share: float = 0.6) -> np.void:
    """Return a thread with the moves and scores of its depths; the last move took this share of the nodes."""
    thread = np.zeros((), thread_dtype)[()]
    thread["depth"] = len(moves)
    for depth, (move, score) in enumerate(zip(moves, scores, strict=True), 1):
        thread["found"][depth]["line"][0] = move
        thread["found"][depth]["score"] = score
    thread["line"][0], thread["score"] = moves[-1], scores[-1]
    thread["root_count"] = 2
    thread["root_moves"][:2] = BEST, OTHER
    best = moves[-1]
    thread["root_nodes"][best] = round(1000 * share)
    thread["root_nodes"][BEST + OTHER - best] = round(1000 * (1 - share))
    return thread


def test_a_stable_move_takes_half_of_its_time_and_an_unstable_one_more():
    calm = settling(searched([BEST] * 12, [50] * 12, 0.95))
    wavering = settling(searched([BEST, OTHER] * 6, [50] * 12, 0.4))
    assert calm < 0.55
    assert wavering > 1.6


def test_older_changes_count_less():
    factors = []
    for ago in range(9):
        moves = [OTHER] * (11 - ago) + [BEST] * (1 + ago)
        factors.append(settling(searched(moves, [0] * 12)))
    assert factors == sorted(factors, reverse=True)
    assert factors[8] == settling(searched([BEST] * 12, [0] * 12)) < factors[6]


@given(st.lists(st.integers(-3000, 3000), min_size=5, max_size=5), st.integers(1, 500), st.floats(0.05, 0.9))
def test_a_falling_score_adds_time_and_nodes_on_the_best_move_save_it(scores, fall, share):
    moves = [BEST] * 5
    level = settling(searched(moves, scores, share))
    assert settling(searched(moves, [*scores[:4], scores[4] - fall], share)) >= level
    assert settling(searched(moves, scores, share + 0.05)) < level
    assert 0 < level < 3


def test_the_first_depth_is_not_a_change():
    assert math.isfinite(settling(searched([BEST], [10])))


@pytest.mark.parametrize(
    ("factor", "budget", "depth"),
    [
        (0.0, Budget(60_000, 120_000), 1),
        (math.inf, Budget(60_000, 120_000), 5),
        (0.0, Budget(120_000, 120_000), 5),  # byoyomi: unused time is lost
    ],
)
def test_the_engine_starts_no_depth_beyond_the_share(factor, budget, depth, monkeypatch):
    monkeypatch.setattr(engine_module, "settling", lambda thread: factor)
    monkeypatch.setattr(engine_module, "REPORTED_NODES", 1)  # else it looks at the clock after 2,000 nodes
    engine = AlphaBetaEngine(material_network(), hash_mb=4)
    engine.set_position("startpos")
    engine.ready(budget)
    assert engine.search(Limits(depth=5))[0].depth == depth
