"""JSON and TOML as dataclasses: right values convert, wrong ones name their field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from lite.typed import typed


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class Outer:
    count: int
    share: float = 0.0
    inner: Inner | None = None
    inners: tuple[Inner, ...] = ()
    pair: tuple[int, str] = (0, "")
    sums: Mapping[str, int | float] | None = None
    colour: Literal["black", "white"] = "black"
    rest: Any = None
    axes: tuple[Literal["hand4", "k3k3"], ...] = ()


def test_values_become_dataclasses():
    entry = {
        "count": 3,
        "share": 1,
        "inner": {"name": "a"},
        "inners": [{"name": "b"}],
        "pair": [1, "x"],
        "sums": {"games": 1, "seconds": 0.5},
        "colour": "white",
        "rest": [1, {"a": None}],
    }
    expected = Outer(3, 1, Inner("a"), (Inner("b"),), (1, "x"), {"games": 1, "seconds": 0.5}, "white", [1, {"a": None}])
    assert typed(Outer, entry, "here") == expected
    assert typed(Outer, {"count": 1, "inner": None}, "here") == Outer(1)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ([], "is not a table of count, share"),
        ({}, "count must be given"),
        ({"count": 1, "cuont": 2}, r"unknown cuont; is count meant\? known are count, share"),
        ({"count": True}, "count = True is not a whole number"),
        ({"count": 1.0}, "count = 1.0 is not a whole number"),
        ({"count": 1, "share": float("nan")}, "share = nan is not a finite number"),
        ({"count": 1, "share": 10**400}, "share = 10+ is not a finite number"),
        ({"count": 1, "inner": {}}, "inner: name must be given"),
        ({"count": 1, "inner": 3}, "inner: '3' is not a table of name|inner = 3 is not"),
        ({"count": 1, "inners": {"name": "a"}}, "inners = .* is not a list, each value a table"),
        ({"count": 1, "pair": [1]}, "pair = .* is not a list of 2 values"),
        ({"count": 1, "pair": [1, 2]}, "pair = 2 is not a text"),
        ({"count": 1, "sums": {"games": "1"}}, "sums = '1' is not a finite number"),
        ({"count": 1, "colour": "red"}, "colour = 'red' is not one of black, white"),
        ({"count": 1, "axes": "k3k3"}, "axes = 'k3k3' is not a list, each value one of hand4, k3k3; write .\"k3k3\""),
        ({"count": 1, "axes": "k4k4"}, "axes = 'k4k4' is not a list, each value one of hand4, k3k3$"),
    ],
)
def test_wrong_values_are_refused_by_field(entry, words):
    with pytest.raises(ValueError, match=f"^here: ?{words}|^here: .*{words}"):
        typed(Outer, entry, "here")
