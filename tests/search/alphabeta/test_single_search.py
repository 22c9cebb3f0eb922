"""A search for games and labels returns a root move however early it is interrupted."""

from __future__ import annotations

import numpy as np

from search.alphabeta.single_search import begin_search, best_found, search_once, share_search
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.rules.movegen import is_legal
from search.rules.sfen import move_to_usi, set_sfen

BEFORE = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
CHECKED = "+P8/3+L4s/1+b2p1+bl1/p7p/1p3N3/P4P1PP/1k+p1+nr2s/8K/8L b R2G2SNL5P2gn3p 133"
"""A position with one move, whose quiescence may take more nodes than a first iteration has."""


def test_a_search_interrupted_at_once_does_not_return_the_previous_move() -> None:
    thread = share_search(SearchThread(material_network(), TranspositionTable(1)))
    record, sums = thread.record, thread.accumulators
    set_sfen(thread.position, BEFORE)
    before, _ = search_once(thread.position, record, sums.record, sums.network, np.int64(300), np.int64(0))
    assert record["depth"] > 0
    set_sfen(thread.position, CHECKED)
    assert not is_legal(thread.position, np.int64(before))
    assert begin_search(thread.position, record, np.int64(1)) == 1
    assert move_to_usi(best_found(record)) == "1h2i"
    assert [move_to_usi(move) for move in record["pv"][0][: record["pv_length"][0]]] == ["1h2i"]
    assert record["depth"] == 0


def test_a_search_after_forgetting_equals_a_first_search() -> None:
    """The table numbers its searches, and that number also distinguishes entries from empty ones."""
    thread, fresh = (share_search(SearchThread(material_network(), TranspositionTable(1))) for _ in range(2))
    record, sums = thread.record, thread.accumulators
    set_sfen(thread.position, BEFORE)
    for _ in range(5):
        search_once(thread.position, record, sums.record, sums.network, np.int64(300), np.int64(0))
    thread.forget()
    for name in ("clusters", "age"):
        assert record["table"][name] == fresh.record["table"][name]
    assert thread.table.filled() == 0
    assert not record["history"].any()
