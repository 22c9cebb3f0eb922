"""The bench signature, which changes only with the search."""

from __future__ import annotations

import pytest

from search.alphabeta.bench import POSITIONS, SIGNATURE, signature
from search.system.options import OptionError


def test_the_signature_equals_that_in_the_sources():
    assert signature().signature == signature(limit=1_000_000).nodes == SIGNATURE


def test_limited_searches_have_a_speed_but_no_signature():
    found = signature("dense-64-16", depth=9, limit=5000)
    assert found.signature is None
    assert found.nps > 0
    assert 12 * 1000 < found.nodes < 12 * 6000
    with pytest.raises(OptionError, match="`nodes` 0"):
        signature(limit=0)


def test_progress_is_reported():
    reported: list[int] = []
    signature("default", 2, searched=reported.append)
    assert reported == list(range(1, len(POSITIONS) + 1))
