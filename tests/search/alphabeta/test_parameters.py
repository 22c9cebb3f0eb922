"""The search's parameters: their ranges, and the options by which the engine takes them."""

from __future__ import annotations

import pytest

from search.alphabeta.parameters import make_parameters
from search.usi.alphabeta import AlphaBetaAdapter, tunable_options
from search.usi.options import OptionValues


def test_the_engine_takes_parameters_where_it_is_asked_to(monkeypatch):
    monkeypatch.delenv("LITESHOGI_TUNE", raising=False)
    assert not tunable_options()
    monkeypatch.setenv("LITESHOGI_TUNE", "1")
    adapter = AlphaBetaAdapter()
    values = OptionValues(adapter.options)
    values.set("Razor_Margin", "300")
    values.set("USI_Hash", "1")
    engine = adapter.make(values, pytest.fail)
    adapter.apply(engine, values, lambda text: None)
    assert engine.parameters["razor_margin"] == 300
    assert engine.parameters["reduction_base"] == make_parameters()["reduction_base"]
    with pytest.raises(ValueError, match="outside 80 to 800"):
        values.set("razor_margin", "5000")


def test_parameters_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="outside"):
        make_parameters({"razor_margin": 5})
    with pytest.raises(ValueError, match="no such parameter"):
        make_parameters({"speed": 5})
