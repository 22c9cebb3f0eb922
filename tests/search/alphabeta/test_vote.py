"""The vote of threads: a mate wins, then the majority, and the first thread if votes are equal."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.alphabeta import engine as engine_module
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.thread import thread_dtype
from search.alphabeta.vote import believed, best_move, best_score
from search.engine import Limits
from search.evaluation.material import material_network
from search.rules.movegen import is_legal
from search.rules.sfen import move_from_usi
from search.score import MATE

RECORD = np.dtype(
    [(name, thread_dtype[name]) for name in ("line", "line_length", "pv", "pv_length", "score", "pv_score")]
)


def searched(*found: tuple[int, int]) -> list[np.void]:
    """Return records of threads that found (move, score); move 0 means none."""
    records = np.zeros(len(found), RECORD)
    for record, (move, score) in zip(records, found, strict=True):
        record["line"][0], record["line_length"], record["score"] = move, move != 0, score
    return list(records)


def interrupt(thread: np.void, move: int, score: int) -> None:
    """Let a thread have found this move and score in an interrupted iteration."""
    thread["pv"][0][0], thread["pv_length"][0], thread["pv_score"] = move, 1, score


def test_an_interrupted_iteration_counts():
    (thread,) = searched((7, 50))
    thread["pv"][0][0], thread["pv_score"] = 8, 20
    assert (best_move(thread), best_score(thread)) == (7, 50)
    interrupt(thread, 8, 20)
    assert (best_move(thread), best_score(thread)) == (8, 20)
    thread["line_length"] = 0
    assert best_move(thread) == 0  # an interrupted first iteration has no score


@pytest.mark.parametrize(
    ("finished", "interrupted", "score"),
    [(50, 90, 50), (50, MATE - 5, MATE - 5), (MATE - 5, MATE - 3, MATE - 3), (MATE - 3, MATE - 5, MATE - 3)],
)
def test_a_mate_by_the_same_move_counts(finished, interrupted, score):
    (thread,) = searched((7, finished))
    interrupt(thread, 7, interrupted)
    assert (best_move(thread), best_score(thread)) == (7, score)


def test_a_mate_of_an_interrupted_iteration_wins():
    for move in (7, 9):
        threads = searched((7, 300), (8, 50), (8, 90))
        interrupt(threads[0], move, MATE - 3)
        assert believed(threads) == 0


def test_equal_votes_are_decided_by_the_scores_of_interrupted_iterations():
    threads = searched((7, 0), (8, 900), (9, 300), (8, 20), (9, 30))
    for thread in threads[1::2]:
        interrupt(thread, 6, 100)
    assert believed(threads) == 2


@pytest.mark.parametrize(
    ("found", "place"),
    [
        ([(7, 50), (7, 90), (8, 900)], 0),
        ([(7, 50), (8, 10), (8, -90)], 1),
        ([(7, 50), (8, 900)], 0),  # equal votes: the first thread's move
        ([(7, 50), (8, 10), (9, 20), (8, 0), (9, 5)], 2),
        ([(7, 50), (0, 0), (8, 10), (8, 10)], 2),
        ([(7, 50), (0, 900)], 0),  # it has not finished a depth
        ([(7, 50), (7, 50), (8, MATE - 5), (9, MATE - 3)], 3),
        ([(7, MATE - 3), (8, 50), (8, 50), (9, MATE - 5)], 0),
        ([(7, MATE - 5), (7, MATE - 3)], 1),
        ([(7, -MATE + 4), (8, -MATE + 9), (8, -MATE + 7)], 1),
    ],
)
def test_the_vote_selects_a_thread(found, place):
    assert believed(searched(*found)) == place


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-3000, 3000)), min_size=1, max_size=9))
def test_the_selected_move_has_the_most_votes(found):
    votes = Counter(move for move, _ in found)
    place = believed(searched(*found))
    assert votes[found[place][0]] == max(votes.values())
    assert place == 0 or found[place][0] != found[0][0]


def test_the_line_of_the_selected_thread_is_reported(monkeypatch):
    engine = AlphaBetaEngine(material_network(), hash_mb=4, threads=3)
    asked = []

    def second(threads):
        asked.append(len(threads))
        return 2

    monkeypatch.setattr(engine_module, "believed", second)
    engine.set_position("startpos")
    engine.ready()
    found = engine.search(Limits(nodes=200_000))[0]
    record = engine._threads[2].record
    assert asked == [3]
    assert found.score == best_score(record)
    assert move_from_usi(found.pv[0]) == best_move(record)
    assert is_legal(engine.position, np.int64(move_from_usi(found.pv[0])))
    engine.ready()
    engine.search(Limits(depth=4))
    assert asked == [3]  # a search to a depth asks the first thread only
