"""Backing the memory of a table keeps its content; a table starts small and grows as searches fill it."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

import search.alphabeta.paging
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.paging import back_table, begin_small, grow_before, grow_within
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network

MEGABYTE = 1 << 14
"""Number of clusters in a megabyte."""


@pytest.fixture
def always_full(monkeypatch):
    monkeypatch.setattr(search.alphabeta.paging, "FULL", 0)


def in_use(table: TranspositionTable) -> int:
    return int(table.record["clusters"])


def until_grown(table: TranspositionTable, clusters: int) -> None:
    """Grow a table until a number of clusters are in use, if its memory is backed."""
    end = time.monotonic() + 60
    while in_use(table) < clusters:
        assert time.monotonic() < end
        time.sleep(0.01)
        grow_before(table)


def test_entries_survive():
    table = TranspositionTable(4)
    table._words[::1000] = 12345
    before = table._words.copy()
    assert back_table(table).wait(60)
    assert in_use(table) == 4 * MEGABYTE
    assert (table._words == before).all()


def test_a_table_starts_small_and_doubles(always_full):
    table = TranspositionTable(100)
    begin_small(table)
    sizes = [in_use(table)]
    while in_use(table) < table.clusters:
        grow_before(table)
        sizes.append(in_use(table))
    assert sizes == [MEGABYTE * 25 // 4, MEGABYTE * 25 // 2, 25 * MEGABYTE, 50 * MEGABYTE, 100 * MEGABYTE]
    grow_before(table)
    assert in_use(table) == table.clusters


def test_a_table_grows_only_as_far_as_its_memory_is_backed(always_full):
    table = TranspositionTable(64)
    begin_small(table)
    search.alphabeta.paging._backed[table] = 20 * MEGABYTE
    for _ in range(3):
        grow_before(table)
    assert in_use(table) == 16 * MEGABYTE
    assert not grow_within(table, None)


def test_a_table_grows_between_searches(monkeypatch, always_full):
    monkeypatch.setattr(search.alphabeta.paging, "_FIRST_CLUSTERS", 2 * MEGABYTE)
    table = TranspositionTable(12)
    assert back_table(table).wait(60)
    assert in_use(table) == MEGABYTE * 3 // 2
    engine = AlphaBetaEngine(material_network(), 1)
    engine.use_table(table)
    assert engine.analyse("startpos", nodes=2000).best_move
    until_grown(table, table.clusters)
    assert engine.analyse("startpos", nodes=2000).best_move  # the threads use the larger table


def test_a_table_that_is_not_filled_stays_small():
    engine = AlphaBetaEngine("default", 64)
    engine.analyse("startpos", nodes=20_000)
    assert in_use(engine.table) == 8 * MEGABYTE
    assert 0 < engine.table.filled() < search.alphabeta.paging.FULL
    assert engine.table.hashfull() == engine.table.filled() // 8  # of all 64 MB


def test_a_search_that_fills_the_table_grows_it_between_depths(monkeypatch):
    monkeypatch.setattr(search.alphabeta.paging, "_FIRST_CLUSTERS", MEGABYTE)
    for multipv in (1, 2):
        engine = AlphaBetaEngine("default", 64, threads=2)
        engine.multipv = multipv
        engine.analyse("startpos", nodes=200_000)
        assert in_use(engine.table) > MEGABYTE
        for thread in engine._threads:
            assert thread.record["table"]["clusters"] == in_use(engine.table)


def test_a_table_grows_if_there_is_time(always_full):
    table = TranspositionTable(64)
    begin_small(table)
    assert not grow_within(table, 31)
    assert in_use(table) == 8 * MEGABYTE
    assert grow_within(table, 32)
    assert in_use(table) == 16 * MEGABYTE
    assert not grow_within(table, 63)
    assert grow_within(table, None)
    assert grow_within(table, None)
    assert not grow_within(table, None)
    assert in_use(table) == 64 * MEGABYTE


def test_small_tables_have_their_full_size_at_once():
    table = TranspositionTable(1)
    assert back_table(table).wait(60)
    assert in_use(table) == MEGABYTE


def test_the_memory_of_a_dropped_table_is_released():
    table = TranspositionTable(64)
    back_table(table)
    dropped = weakref.ref(table)
    del table
    end = time.monotonic() + 60
    while dropped() is not None:
        assert time.monotonic() < end
        gc.collect()
        time.sleep(0.01)


def test_on_systems_without_backing_a_table_has_its_full_size(monkeypatch):
    monkeypatch.setattr(search.alphabeta.paging.sys, "platform", "win32")
    table = TranspositionTable(600)
    assert back_table(table).is_set()
    assert in_use(table) == 600 * MEGABYTE


@pytest.mark.slow
def test_the_first_search_with_many_gigabytes_is_as_fast():
    """Without backing, a search has only about a hundred nodes in the first second."""
    engine = AlphaBetaEngine(material_network(), 1)
    try:
        engine.set_hash(6144)
    except MemoryError as error:
        pytest.skip(str(error))
    back_table(engine.table).wait(60)
    assert engine.analyse("startpos", time_ms=1000).nodes > 20_000
