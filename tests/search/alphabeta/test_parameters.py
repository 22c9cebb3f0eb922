"""The search's parameters: their ranges, and the options by which the engine takes them."""

from __future__ import annotations

import pytest

from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.parameters import SHORT, SHORT_NODES, make_numbers, parameters_for
from search.usi.alphabeta import AlphaBetaAdapter, tunable_options
from search.usi.usi_options import OptionValues


def test_a_tunable_engine_takes_parameters_as_options():
    assert not set(tunable_options()) & set(AlphaBetaAdapter().options)
    adapter = AlphaBetaAdapter(tunable=True)
    values = OptionValues(adapter.options)
    values.set("Razor_Margin", "300")
    values.set("USI_Hash", "1")
    engine = adapter.make(values, pytest.fail)
    adapter.apply(engine, values, lambda text: None)
    assert engine.numbers["short"]["razor_margin"] == engine.numbers["long"]["razor_margin"] == 300
    assert engine.numbers["long"]["reduction_base"] == make_numbers()["long"]["reduction_base"]
    default = str(make_numbers()["long"]["futility_margin"])
    values.set("futility_margin", default)  # which overrides the other default of short searches
    adapter.apply(engine, values, lambda text: None)
    assert str(engine.numbers["short"]["futility_margin"]) == default != str(SHORT["futility_margin"])
    with pytest.raises(ValueError, match="outside 80 to 800"):
        values.set("razor_margin", "5000")


def test_parameters_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="outside"):
        make_numbers({"razor_margin": 5})
    with pytest.raises(ValueError, match="no such parameter"):
        make_numbers({"speed": 5})


def test_short_searches_have_their_own_parameters():
    numbers = make_numbers({"razor_base": 300})
    long = make_numbers()["long"]
    for name, value in SHORT.items():
        assert numbers["short"][name] == value != long[name], name
        make_numbers({name: value})  # within its range
    derived = {"continuation_shares", "correction_weights"}
    for name in set(numbers.dtype["short"].names) - set(SHORT) - derived:
        assert (numbers["short"][name] == numbers["long"][name]).all(), name
    for nodes, part in ((SHORT_NODES, "short"), (SHORT_NODES + 1, "long"), (0, "long")):
        for one in parameters_for(nodes):
            assert make_numbers()[part][one.name] == one.default


@pytest.mark.parametrize(
    ("limits", "part"), [({"nodes": 1000}, "short"), ({"nodes": 50_000}, "long"), ({"depth": 3}, "long")]
)
def test_a_search_uses_the_parameters_of_its_length(limits, part):
    engine = AlphaBetaEngine("lite-16-4-32", 1)
    engine.analyse("4k4/9/9/9/9/9/9/9/4K4 b P 1", **limits)
    assert engine._threads[0].record["parameters"] == engine.numbers[part]
