"""Iterative deepening: one depth after another, from any starting depth of a thread."""

from __future__ import annotations

import numpy as np

from search.alphabeta.deepening import GROWTH, GROWTH_NODES, cut_found_better, deepen
from search.alphabeta.root import search_root
from search.alphabeta.single_search import begin_search, best_found
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.alphabeta.vote import best_move
from search.evaluation.material import material_network
from search.rules.sfen import set_sfen
from search.score import INFINITE

MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


def test_a_helper_thread_orders_its_first_moves_by_this_search_only():
    network, nodes = material_network(), []
    for counts_before in (0, np.arange(1 << 15)[::-1]):
        thread = SearchThread(network, TranspositionTable(1))
        set_sfen(thread.position, MIDDLE)
        begin_search(thread.position, thread.record, np.int64(0))
        thread.record["depth"], thread.record["root_nodes"] = 1, counts_before
        sums = thread.accumulators
        deepen(thread.position, thread.record, sums.record, sums.network, np.int64(5))
        nodes.append(int(thread.record["nodes"]))
    assert nodes[0] == nodes[1]


def test_an_iteration_is_limited_to_a_multiple_of_the_nodes_of_earlier_ones():
    thread = SearchThread(material_network(), TranspositionTable(1))
    set_sfen(thread.position, MIDDLE)
    begin_search(thread.position, thread.record, np.int64(0))
    sums = thread.accumulators
    deepen(thread.position, thread.record, sums.record, sums.network, np.int64(6))
    before = int(thread.record["found"]["nodes"][5])
    assert 0 < before < thread.record["nodes"] < thread.record["grow_until"]
    assert thread.record["grow_until"] == before + GROWTH * (before + GROWTH_NODES)


def test_beyond_the_limit_of_an_iteration_other_nodes_are_searched():
    nodes = []
    for until in (0, 1 << 40):
        thread = SearchThread(material_network(), TranspositionTable(1))
        set_sfen(thread.position, MIDDLE)
        begin_search(thread.position, thread.record, np.int64(0))
        record, sums = thread.record, thread.accumulators
        record["grow_until"] = until
        for depth in range(1, 8):
            window = (np.int64(-INFINITE), np.int64(INFINITE))
            search_root(thread.position, record, sums.record, sums.network, np.int64(depth), *window)
        nodes.append(int(record["nodes"]))
    assert nodes[0] != nodes[1]


def test_a_better_move_of_an_interrupted_depth_counts():
    network, seen = material_network(), set()
    for nodes in range(200, 6000, 200):
        thread = SearchThread(network, TranspositionTable(1))
        set_sfen(thread.position, MIDDLE)
        begin_search(thread.position, thread.record, np.int64(nodes))
        record, sums = thread.record, thread.accumulators
        deepen(thread.position, record, sums.record, sums.network, np.int64(20))
        finished, better, voted = int(record["line"][0]), bool(cut_found_better(record)), best_move(record)
        seen.add(better)
        assert better == (voted != finished)
        assert best_found(record) == voted == record["pv"][0][0]
        assert bool(cut_found_better(record)) == better
    assert seen == {False, True}
