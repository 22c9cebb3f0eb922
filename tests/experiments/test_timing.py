"""Which runs count: those that nothing slowed down."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.jobs.verb import Verbs
from experiments.timing import ALIKE, MOST_RUNS, agreeing, time_network


def runs_of(costs: Sequence[float]) -> Callable[[], dict[str, Any]]:
    left = iter(costs)
    return lambda: {"cost": next(left)}


def costs_of(costs: Sequence[float], repeats: int) -> tuple[list[float], int]:
    runs, made = agreeing(runs_of(costs), lambda run: float(run["cost"]), repeats)
    return [run["cost"] for run in runs], made


@pytest.mark.parametrize(
    ("costs", "found", "made"),
    [
        ([100, 102, 101, 999], [100, 101, 102], 3),
        ([140, 150, 101, 102, 139, 100, 999], [100, 101, 102], 6),
        ([140, 141, 142, 100, 101, 102], [140, 141, 142], 3),
    ],
)
def test_runs_that_agree_are_enough(costs: list[float], found: list[float], made: int) -> None:
    """Also where all of them were slowed down alike: that cannot be seen."""
    assert costs_of(costs, 3) == (found, made)


def test_a_machine_that_is_never_quiet_has_an_end() -> None:
    costs = [2.0**place for place in range(100)]
    assert costs_of(costs, 3) == (costs[:3], 3 * MOST_RUNS)


@given(st.lists(st.floats(50, 500), min_size=5 * MOST_RUNS, max_size=5 * MOST_RUNS), st.integers(1, 5))
def test_the_fastest_of_all_runs_count(costs: list[float], repeats: int) -> None:
    found, made = costs_of(costs, repeats)
    assert found == sorted(costs[:made])[:repeats]
    assert found[-1] <= (1 + ALIKE) * found[0] or made == repeats * MOST_RUNS


class SlowMachine(Verbs):
    """On which all takes so many times as long."""

    def __init__(self, slow: float) -> None:
        super().__init__()
        self.slow = slow

    @contextmanager
    def alone_in(self, folder: Path) -> Iterator[None]:
        yield

    def run(self, words: Sequence[str], folder: Path | None = None) -> tuple[str, dict[str, float]]:
        if words[1] == "search":
            return json.dumps({"nps": 1_000_000 / self.slow}), {}
        reference = {"update_ns": 150 * self.slow, "forward_ns": 50 * self.slow}
        own = {"update_ns": 30 * self.slow, "forward_ns": 20 * self.slow, "refresh_ns": 90 * self.slow}
        return json.dumps(own | {"half_kp": reference}), {}


@pytest.mark.parametrize("slow", [1, 1.5])
def test_what_slows_all_runs_slows_the_reference_too(slow: float) -> None:
    times = time_network("net.safetensors", 3, verbs=SlowMachine(slow))
    assert (times["evaluation_ns"], times["reference_ns"]) == (50 * slow, 200 * slow)


def test_windows_has_neither_users_numbers_nor_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert time_network("net.safetensors", 3, verbs=SlowMachine(1))["load"] is None
