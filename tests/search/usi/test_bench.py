"""The measure of short searches: what it asks is answered, and its figures hold together."""

from __future__ import annotations

import pytest

from search.usi import bench


def test_short_searches_are_measured_against_long_ones(monkeypatch):
    for name, value in (("ROUNDS", 1), ("LAST", 14), ("LONG", 20_000), ("NODES", (10, 2000))):
        monkeypatch.setattr(bench, name, value)
    figures = bench.measure_pipes()
    assert list(figures["searches"]) == [10, 2000]
    for nodes, found in figures["searches"].items():
        assert found["with_position_ms"] > 0
        assert found["overhead"] == pytest.approx(
            1000 * found["go_ms"] / (nodes * figures["long_us"]), rel=0.02, abs=0.01
        )


def test_an_engine_that_ends_is_told():
    session = bench._Session()
    with pytest.raises(ChildProcessError, match="before it said bestmove"):
        session.seconds_to("bestmove", "quit")
    session.end()


def test_an_engine_that_has_ended_is_told_and_not_taken_for_a_reader_who_has_seen_enough():
    """A broken pipe of its own is nothing that the command line ends quietly for."""
    session = bench._Session()
    session._process.kill()
    session._process.wait()
    with pytest.raises(ChildProcessError, match="before it said bestmove"):
        session.seconds_to("bestmove", "go depth 1")
    session.end()
