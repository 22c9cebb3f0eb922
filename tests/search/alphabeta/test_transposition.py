"""The transposition table: stored results are found, torn entries are not, and excessive sizes are refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.alphabeta import transposition as tt
from search.alphabeta.transposition import AGES, EXACT, LOWER, UPPER, TranspositionTable, probe, store
from search.compiling.jit import jit
from search.score import MATE, MATE_BOUND


@pytest.fixture(scope="module")
def table() -> TranspositionTable:
    return TranspositionTable(1)


@given(
    key=st.integers(1, (1 << 64) - 1),
    move=st.integers(1, (1 << 15) - 1),
    score=st.integers(-MATE + 64, MATE - 64),
    evaluation=st.integers(-20000, 20000),
    depth=st.integers(0, 100),
    bound=st.integers(1, 3),
    ply=st.integers(0, 60),
    pv=st.integers(0, 1),
)
@settings(max_examples=200)
def test_stored_results_are_found(table, key, move, score, evaluation, depth, bound, ply, pv):
    table.clear()
    numbers = [np.int64(n) for n in (move, score, evaluation, depth, bound, ply, pv)]
    store(table.record, np.uint64(key), *numbers)
    data = np.uint64(probe(table.record, np.uint64(key)))
    assert data != 0
    assert tt.data_move(data) == move
    expected = score
    if abs(score + ply) > MATE_BOUND and abs(score) <= MATE_BOUND:
        expected = tt.data_score(data, np.int64(ply))  # a score just outside the mate range is not a mate
    assert tt.data_score(data, np.int64(ply)) == expected
    assert tt.data_evaluation(data) == evaluation
    assert tt.data_depth(data) == depth
    assert tt.data_bound(data) == bound
    assert tt.data_pv(data) == pv


def keep(table, key, depth, bound=EXACT, move=7):
    """Store a result; keys this small share one cluster."""
    store(table.record, np.uint64(key), *(np.int64(n) for n in (move, 12, 34, depth, bound, 0, 0)))


def depth_of(table, key):
    """Return the depth of a key's stored result, None if there is none."""
    data = np.uint64(probe(table.record, np.uint64(key)))
    return int(tt.data_depth(data)) if data else None


def test_a_result_without_a_move_keeps_the_one_before_it(table):
    table.clear()
    keep(table, 1, 5, move=77)
    keep(table, 1, 6, move=0)
    data = np.uint64(probe(table.record, np.uint64(1)))
    assert (tt.data_move(data), tt.data_depth(data)) == (77, 6)


@pytest.mark.parametrize(
    ("depth", "bound", "searches", "kept"),
    [(6, LOWER, 0, 10), (6, UPPER, 0, 10), (7, LOWER, 0, 7), (1, EXACT, 0, 1), (6, LOWER, 1, 6)],
)
def test_a_much_shallower_bound_does_not_replace_a_result_of_the_same_search(table, depth, bound, searches, kept):
    table.clear()
    keep(table, 1, 10)
    for _ in range(searches):
        table.new_search()
    keep(table, 1, depth, bound)
    assert depth_of(table, 1) == kept


@pytest.mark.parametrize("searches_before", [0, AGES - 1])
def test_the_shallowest_entry_is_replaced_and_an_age_counts_eight_plies(table, searches_before):
    table.clear()
    for _ in range(searches_before):
        table.new_search()
    keep(table, 1, 20)
    table.new_search()
    for key, depth in ((2, 15), (3, 11), (4, 30)):
        keep(table, key, depth)
    assert [depth_of(table, key) for key in range(1, 5)] == [20, 15, 11, 30]
    keep(table, 5, 13)
    assert [depth_of(table, key) for key in range(1, 6)] == [20, 15, None, 30, 13]
    keep(table, 6, 1)
    assert [depth_of(table, key) for key in range(1, 7)] == [None, 15, None, 30, 13, 1]


def test_a_cleared_table_is_empty(table):
    for index in range(50_000):
        keep(table, (index * 0x9E3779B97F4A7C15 | 1) & (1 << 64) - 1, 5)
    assert table._words[-8:].any()
    table.clear()
    assert not table._words.any()


def test_a_torn_entry_counts_as_absent(table):
    table.clear()
    key = np.uint64(0x123456789ABCDEF0)
    store(table.record, key, *(np.int64(n) for n in (77, 12, 34, 9, EXACT, 0, 1)))
    assert probe(table.record, key) != 0
    words = table._words
    (data,) = (index for index in np.flatnonzero(words) if index % 2)
    words[data] ^= np.uint64(1 << 20)
    assert probe(table.record, key) == 0


@jit
def _hammer(table, seed, rounds, keys):
    """Store keys whose data is a function of the key, and count entries found that do not match it."""
    wrong = 0
    state = np.uint64(seed)
    for _ in range(rounds):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        key = (state >> np.uint64(33)) % np.uint64(keys) + np.uint64(1)  # all in one cluster
        data = probe(table, key)
        if data != np.uint64(0):
            move = tt.data_move(data)
            if move != np.int64(key) or tt.data_score(data, np.int64(0)) != move % 9000:
                wrong += 1
        move = np.int64(key)
        evaluation = np.int64(state & np.uint64(0xFFF))
        store(table, key, move, move % 9000, evaluation, np.int64(5), np.int64(LOWER), np.int64(0), np.int64(0))
    return wrong


def test_two_threads_never_read_a_mixture(table):
    table.clear()
    results = []
    arguments = (np.int64(20_000_000), np.int64(8))
    threads = [
        threading.Thread(target=lambda seed=seed: results.append(_hammer(table.record, np.int64(seed), *arguments)))
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0, 0]


def test_a_size_that_does_not_fit_is_refused_with_an_error():
    with pytest.raises(MemoryError, match="does not fit"):
        TranspositionTable(1 << 20)


def test_hashfull_counts_the_current_search(table):
    table.clear()
    assert table.hashfull() == 0
    for index in range(20_000):
        key = np.uint64(index * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
        store(table.record, key, *(np.int64(n) for n in (1, 2, 3, 4, EXACT, 0, 1)))
    assert table.hashfull() > 100
    table.new_search()
    assert table.hashfull() == 0


@given(seed=st.integers(1, 1 << 62), count=st.integers(0, 1500), clusters=st.integers(1, 1 << 9))
@settings(max_examples=50)
def test_a_table_that_grows_loses_nothing(table, seed, count, clusters):
    table.clear()
    table.record["clusters"] = clusters
    keys = np.random.default_rng(seed).integers(1, 1 << 64, count, np.uint64)
    for key in keys:
        store(table.record, key, *(np.int64(n) for n in (1, 2, 3, 4, EXACT, 0, 1)))
    held = [probe(table.record, key) for key in keys]
    entries = np.count_nonzero(table._words[1::2])
    table.grow()
    assert table.record["clusters"] == 2 * clusters
    assert [probe(table.record, key) for key in keys] == held
    assert np.count_nonzero(table._words[1::2]) == entries
    table.record["clusters"] = table.clusters
