"""Timing of short searches through pipes: consistent figures, and a clear error when the engine ends."""

from __future__ import annotations

import pytest

from search.usi import pipe_speed


def test_short_searches_are_measured_against_long_ones(monkeypatch):
    for name, value in (("ROUNDS", 1), ("LAST", 14), ("LONG", 20_000), ("NODES", (10, 2000))):
        monkeypatch.setattr(pipe_speed, name, value)
    times = pipe_speed.measure_pipes()
    assert list(times.searches) == [10, 2000]
    for nodes, found in times.searches.items():
        assert found.with_position_ms > 0
        assert found.overhead == pytest.approx(1000 * found.go_ms / (nodes * times.long_us), rel=0.02, abs=0.01)


def test_an_engine_that_ends_raises_an_error():
    session = pipe_speed._Session()
    with pytest.raises(ChildProcessError, match="bestmove"):
        session.seconds_to("bestmove", "quit")
    session.end()


def test_an_engine_that_has_ended_is_not_mistaken_for_a_reader_that_closed_its_pipe():
    """The command line ends quietly if its own reader has gone, which is another kind of broken pipe."""
    session = pipe_speed._Session()
    session._process.kill()
    session._process.wait()
    with pytest.raises(ChildProcessError, match="bestmove"):
        session.seconds_to("bestmove", "go depth 1")
    session.end()
