"""A network for tests, an engine with it, and a check of trees."""

from __future__ import annotations

import numpy as np
import pytest

from search.puct.engine import PuctEngine, Settings
from search.puct.planes import LABELS
from search.puct.tree import EXPANDED, PROVED_LOSS, PROVED_WIN, UNPROVED
from search.puct.tree_memory import Tree

MIDDLE_GAME = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
NO_MATES = Settings(leaf_mate_nodes=0)
Outputs = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Guess:
    """A network whose outputs are noise that depends on the position only."""

    def __call__(self, input1: np.ndarray, input2: np.ndarray) -> Outputs:
        policy = np.empty((len(input1), LABELS), np.float32)
        rates = np.empty((len(input1), 2), np.float32)
        for number, planes in enumerate(zip(input1, input2, strict=True)):
            words = np.concatenate([np.packbits(part != 0) for part in planes])
            noise = np.random.default_rng(int(words.astype(np.uint64) @ np.arange(1, len(words) + 1, dtype=np.uint64)))
            policy[number] = noise.normal(0, 2, LABELS)
            rates[number] = noise.random(2)
        return policy, rates[:, 0], rates[:, 0] * (1 - rates[:, 0]) * rates[:, 1]


@pytest.fixture
def engine() -> PuctEngine:
    return PuctEngine(Guess(), 16, settings=NO_MATES)


def check_tree(tree: Tree, collapsed: bool = False) -> int:
    """Check every node when no playout is in flight; return the number of expanded nodes."""
    nodes, edges, record = tree.nodes, tree.edges, tree.record
    assert not nodes["in_flight"][: record["nodes_used"]].any()
    expanded, waiting = 0, [int(record["root"])]
    while waiting:
        index = waiting.pop()
        node = nodes[index]
        assert 0 <= node["win"] <= node["visits"]
        assert 0 <= node["draw"] <= node["visits"]
        if node["state"] != EXPANDED:
            assert node["edge_count"] == 0
            assert node["own"] == node["visits"] or node["proof"] != UNPROVED
            continue
        expanded += 1
        first, count = int(node["first_edge"]) + 1, int(node["edge_count"])
        assert edges[first - 1]["child"] == index
        assert edges[first - 1]["count"] == count
        own = edges[first : first + count]
        assert len(set(own["move"].tolist())) == count
        assert own["prior"].sum() == pytest.approx(1, abs=1e-4)
        assert (np.diff(own["prior"]) <= 0).all()
        children = own["child"][own["child"] >= 0]
        assert (children > index).all()
        visits, wins = nodes["visits"][children].astype(np.int64), nodes["win"][children]
        assert node["visits"] == node["own"] + visits.sum()
        assert collapsed or node["own"] == 1 or node["proof"] != UNPROVED
        if len(children) < count:  # moves are first tried in the order of their priors
            assert (own["child"][: len(children)] >= 0).all() or collapsed or tree.record["allowed"].min() == 0
        rest = node["win"] - (visits - wins).sum()
        assert -1e-6 <= rest <= node["own"] + 1e-6
        proofs, plies = nodes["proof"][children], nodes["plies"][children].astype(int)
        if node["proof"] == PROVED_WIN:
            assert node["plies"] == plies[proofs == PROVED_LOSS].min() + 1
        elif node["proof"] == PROVED_LOSS:
            assert (proofs == PROVED_WIN).all()
            assert len(children) == count
            assert node["plies"] == plies.max() + 1
        waiting.extend(children.tolist())
    return expanded
