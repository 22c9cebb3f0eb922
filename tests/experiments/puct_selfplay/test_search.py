"""Concurrent searches give the results of single ones and end at their limits."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from experiments.jobs.protocol import Stopped
from experiments.puct_selfplay.search import search_together
from search.puct.engine import PuctEngine, Settings, even_network
from search.puct.leaves import Leaves
from search.puct.planes import LABELS, PLANES1
from search.puct.tree import PROVED_WIN, UNPROVED
from search.puct.tree_memory import Tree
from search.rules.sfen import move_to_usi, position_from_sfen

SETTINGS = Settings(batch_size=1, leaf_mate_nodes=0)
SFENS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2",
    "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",
)

WEIGHTS = np.random.default_rng(3).standard_normal((PLANES1 * 81, LABELS + 1), np.float32)


def guess(input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
    """A network whose outputs depend only on the position, not on the rest of the batch."""
    found = np.stack([one.reshape(-1) @ WEIGHTS for one in input1]) / 8
    return found[:, :LABELS], 1 / (1 + np.exp(-found[:, LABELS])), None


def search_of(sfen: str, megabytes: int = 4) -> SimpleNamespace:
    tree = Tree(megabytes)
    SETTINGS.write(tree.record)
    tree.record["draw_value"] = 0.5
    tree.allow(set())
    return SimpleNamespace(tree=tree, position=position_from_sfen(sfen))


def test_each_search_gives_the_result_of_a_single_one() -> None:
    searches = [search_of(sfen) for sfen in SFENS]
    search_together(searches, 150, guess, Leaves(len(searches)))
    for sfen, one in zip(SFENS, searches, strict=True):
        engine = PuctEngine(guess, 4, settings=SETTINGS)
        engine.analyse(sfen, nodes=150)
        edges = one.tree.root_edges()
        edges = edges[edges["child"] >= 0]
        visits = one.tree.nodes["visits"][edges["child"]].tolist()
        found = {move_to_usi(int(move)): count for move, count in zip(edges["move"], visits, strict=True)}
        if one.tree.root["proof"] == UNPROVED:  # otherwise both continue to the end of their round
            assert found == {move.move: move.visits for move in engine.root_moves() if move.visits}
        assert one.tree.root["proof"] == engine.tree.root["proof"]
        assert not one.tree.nodes["in_flight"][: one.tree.record["nodes_used"]].any()
    assert searches[-1].tree.root["proof"] == PROVED_WIN
    assert searches[-1].tree.root["visits"] < 150
    assert [int(one.tree.root["visits"]) for one in searches[:-1]] == [150] * 3


def test_a_small_tree_makes_room() -> None:
    searches = [search_of(sfen, 1) for sfen in SFENS[:2]]
    search_together(searches, 1500, even_network, Leaves(2))
    assert all(one.tree.root["visits"] == 1500 for one in searches)
    assert any(one.tree.record["visits"] > one.tree.record["nodes_used"] for one in searches)


def test_a_search_stops_on_request() -> None:
    searches = [search_of("startpos")]
    asked = iter((False, False, False, True))
    with pytest.raises(Stopped):
        search_together(searches, 60, guess, Leaves(1), lambda: next(asked))
    assert searches[0].tree.root["visits"] == 3
    search_together(searches, 60, guess, Leaves(1))
    assert searches[0].tree.root["visits"] == 60
