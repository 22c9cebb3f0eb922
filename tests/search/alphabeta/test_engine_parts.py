"""Replacing the engine's table, threads and network: a failure leaves the engine unchanged."""

from __future__ import annotations

import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.engine import Rules
from search.evaluation.material import material_network

MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


@pytest.fixture
def engine() -> AlphaBetaEngine:
    return AlphaBetaEngine(material_network(), hash_mb=8)


@pytest.mark.parametrize(("megabytes", "threads"), [(1, 0), (1, 100_000), (-5, 1), (0, 1), (10**30, 1)])
def test_excessive_threads_and_tables_are_refused(megabytes, threads):
    with pytest.raises(ValueError, match=r"^(threads|a table of) \S+( MB)?: choose 1 to (64|1048576)$"):
        AlphaBetaEngine(material_network(), megabytes, threads)


def test_another_table_clears_all_statistics(engine):
    first = engine.analyse("startpos", nodes=3000)
    engine.analyse("startpos", ("7g7f", "3c3d"), nodes=3000)
    engine.set_hash(8)
    engine.new_game()
    again = engine.analyse("startpos", nodes=3000)
    assert (again.pv, again.nodes, again.score) == (first.pv, first.nodes, first.score)


def test_an_empty_table_is_not_cleared(monkeypatch):
    """Clearing would write to each page of the table during the first move."""
    cleared = []
    monkeypatch.setattr(TranspositionTable, "clear", lambda table: cleared.append(table))
    engine = AlphaBetaEngine(material_network(), hash_mb=1)
    engine.rules = Rules(max_moves=320)
    engine.analyse(MIDDLE, depth=1)
    assert not cleared
    engine.rules = Rules(max_moves=256)
    engine.analyse(MIDDLE, depth=1)
    assert cleared == [engine.table]


def test_a_table_that_does_not_fit_leaves_the_old_one(engine):
    before = engine.table
    with pytest.raises(MemoryError, match="does not fit"):
        engine.set_hash(1 << 20)
    assert engine.table is before


def none(*_: object) -> None:
    raise MemoryError


def test_a_network_that_does_not_fit_leaves_the_old_one(engine, monkeypatch):
    before, found = engine.network, engine.analyse("startpos", depth=3)
    engine.new_game()
    with monkeypatch.context() as full:
        full.setattr("search.evaluation.accumulator.network_record", none)
        with pytest.raises(MemoryError):
            engine.set_network(material_network())
    assert engine.network is before
    assert engine.analyse("startpos", depth=3).score == found.score


def test_threads_that_do_not_fit_leave_the_old_ones(engine, monkeypatch):
    engine.set_threads(2)
    made = []

    def few(*given: object) -> SearchThread:
        if len(made) == 3:
            raise MemoryError
        made.append(given)
        return SearchThread(*given)

    with monkeypatch.context() as full:
        full.setattr("search.alphabeta.engine.SearchThread", few)
        with pytest.raises(MemoryError):
            engine.set_threads(8)
    assert len(engine._threads) == 2


def test_a_network_that_cannot_be_read_leaves_the_old_one(engine, tmp_path):
    before = engine.network
    with pytest.raises(FileNotFoundError, match=r"missing\.safetensors"):
        engine.set_network(tmp_path / "missing.safetensors")
    assert engine.network is before
    assert engine.analyse("startpos", depth=2).best_move
