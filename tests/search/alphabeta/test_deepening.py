"""Depth after depth, from wherever a thread begins."""

from __future__ import annotations

import numpy as np

from search.alphabeta.deepening import cut_found_better, deepen
from search.alphabeta.single_search import begin_search, best_found
from search.alphabeta.thread import SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.alphabeta.vote import best_move
from search.evaluation.material import material_network
from search.rules.sfen import set_sfen

MIDDLE = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


def test_a_helper_that_begins_at_the_second_depth_orders_its_moves_by_this_search_alone():
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


def test_a_better_move_of_a_depth_that_was_cut_counts_for_whoever_asks():
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
