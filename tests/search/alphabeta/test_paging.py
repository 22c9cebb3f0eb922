"""Backing a table's memory changes nothing in it, and a large table grows into its memory."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

import search.alphabeta.paging
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.paging import back_table, grow_table
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network


def until_backed(table: TranspositionTable, clusters: int) -> None:
    """Wait until so many clusters may be used; where memory cannot be backed ahead they are from the first."""
    end = time.monotonic() + 60
    while int(table.record["clusters"]) < clusters:
        assert time.monotonic() < end
        time.sleep(0.01)
        grow_table(table)


def test_entries_survive():
    table = TranspositionTable(4)
    table._words[::1000] = 12345
    before = table._words.copy()
    assert back_table(table).wait(60)
    until_backed(table, 4 << 14)
    assert (table._words == before).all()


def test_a_large_table_grows_between_searches(monkeypatch):
    monkeypatch.setattr(search.alphabeta.paging, "FIRST", 2)
    table = TranspositionTable(11)
    whole = int(table.record["clusters"])
    assert back_table(table).wait(60)
    assert int(table.record["clusters"]) in (2 << 14, whole)
    engine = AlphaBetaEngine(material_network(), 1)
    engine.use_table(table)
    first = engine.analyse("startpos", nodes=2000)
    assert first.best_move
    until_backed(table, whole)
    assert int(table.record["clusters"]) == whole
    assert engine.analyse("startpos", nodes=2000).best_move  # the threads are told of it


def test_small_tables_are_whole_at_once():
    table = TranspositionTable(1)
    assert back_table(table).wait(60)
    assert int(table.record["clusters"]) == 1 << 14


def test_a_table_that_is_dropped_is_given_back():
    table = TranspositionTable(64)
    back_table(table)
    dropped = weakref.ref(table)
    del table
    end = time.monotonic() + 60
    while dropped() is not None:
        assert time.monotonic() < end
        gc.collect()
        time.sleep(0.01)


def test_systems_that_cannot_do_it(monkeypatch):
    monkeypatch.setattr(search.alphabeta.paging.sys, "platform", "win32")
    table = TranspositionTable(600)
    assert back_table(table).is_set()
    assert int(table.record["clusters"]) == 600 << 14


@pytest.mark.slow
def test_the_first_search_with_many_gigabytes_is_no_slower():
    """Not a matter of percents: it used to see a hundred nodes a second."""
    engine = AlphaBetaEngine(material_network(), 1)
    try:
        engine.set_hash(6144)
    except MemoryError as error:
        pytest.skip(str(error))
    back_table(engine.table).wait(60)
    assert engine.analyse("startpos", time_ms=1000).nodes > 20_000
