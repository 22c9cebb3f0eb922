"""The node signature: a change that is not meant to change the search must not move it."""

from __future__ import annotations

from search.alphabeta.bench import SIGNATURE, signature


def test_the_signature_is_what_the_sources_say():
    assert signature()["signature"] == SIGNATURE
