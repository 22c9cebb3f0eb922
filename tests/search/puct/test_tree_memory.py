"""The memory of a tree: compacted when it is full, refused if it does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from search.puct import tree_memory
from search.puct.engine import PuctEngine, even_network
from search.puct.tree import FRESH
from search.puct.tree_memory import Tree
from tests.search.puct.conftest import MIDDLE_GAME, NO_MATES, Guess, check_tree


def test_a_full_tree_is_compacted_and_reused() -> None:
    engine = PuctEngine(Guess(), 1, 2, NO_MATES)
    filled: list[int] = []
    engine.analyse(MIDDLE_GAME, nodes=3000, on_info=lambda found: filled.append(found.hashfull))
    assert engine.tree.root["visits"] == 3000
    assert engine.tree.record["edges_used"] <= len(engine.tree.edges)
    assert check_tree(engine.tree, collapsed=True) < 2000
    assert (engine.tree.nodes["state"][: engine.tree.record["nodes_used"]] == FRESH).any()
    assert max(filled) <= 1000


def test_compaction_keeps_the_root_and_makes_room(engine: PuctEngine) -> None:
    engine.analyse("startpos", nodes=1500)
    before = engine.root_moves()
    engine.tree.shrink()
    assert engine.root_moves() == before  # nothing was in excess
    engine.analyse("startpos", (before[0].move,), nodes=1)
    used = int(engine.tree.record["nodes_used"])
    engine.tree.shrink()  # the other moves are removed
    assert engine.tree.record["nodes_used"] < used
    assert engine.tree.record["root"] == 0
    check_tree(engine.tree)


def test_missing_memory_is_reported(engine: PuctEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = engine.tree

    def none(count: int, dtype: np.dtype) -> np.ndarray:
        raise MemoryError

    monkeypatch.setattr("search.system.bounds.memory_left", lambda: None)
    monkeypatch.setattr(tree_memory, "aligned_zeros", none)
    with pytest.raises(MemoryError, match="a tree of 1048576 MB does not fit"):
        engine.set_hash(1 << 20)
    assert engine.tree is tree


def test_a_tree_has_at_most_as_many_nodes_as_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def few(count: int, dtype: np.dtype) -> np.ndarray:
        asked.append(count)
        return np.zeros(2, dtype)

    monkeypatch.setattr("search.system.bounds.memory_left", lambda: None)
    monkeypatch.setattr(tree_memory, "aligned_zeros", few)
    for megabytes, edges in ((16_384, (16_384 << 20) // 12 * 11 // 12), (65_536, 2**31 - 1), (1 << 20, 2**31 - 1)):
        Tree(megabytes)
        assert asked[-1] == pytest.approx(edges, abs=2)
        assert max(asked) < 2**31


@pytest.mark.parametrize(("tree_mb", "threads", "place"), [(0, 1, "a tree of 0 MB"), (1, 65, "threads 65")])
def test_impossible_threads_and_trees_are_refused(tree_mb: int, threads: int, place: str) -> None:
    with pytest.raises(ValueError, match=f"^{place}: "):
        PuctEngine(even_network, tree_mb, threads)
