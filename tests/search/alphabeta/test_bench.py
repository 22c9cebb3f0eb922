"""The node signature: a change that is not meant to change the search must not move it."""

from __future__ import annotations

import pytest

from search.alphabeta.bench import POSITIONS, SIGNATURE, signature


def test_the_signature_is_what_the_sources_say():
    assert signature()["signature"] == signature(limit=1_000_000)["nodes"] == SIGNATURE


def test_limited_searches_have_a_speed_and_no_signature():
    found = signature("dense-64-16", depth=9, limit=5000)
    assert (found["signature"], found["nps"] > 0) == (None, True)
    assert 12 * 1000 < found["nodes"] < 12 * 6000
    with pytest.raises(ValueError, match="--nodes 0"):
        signature(limit=0)


def test_who_waits_is_told_how_far_it_is():
    told: list[int] = []
    signature("default", 2, searched=told.append)
    assert told == list(range(1, len(POSITIONS) + 1))
