"""Timing: the runs that count, and the condition for agreement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.jobs.protocol import Stopped
from experiments.sweep import timing
from experiments.sweep.isolated import Isolated
from experiments.sweep.timing import (
    ALIKE,
    MOST_RUNS,
    Evaluation,
    EvaluationRun,
    SpeedRatio,
    SpeedRun,
    agreeing,
    speed_ratio,
    time_value_network,
)


def runs_of(costs: Sequence[float]) -> Callable[[], float]:
    left = iter(costs)
    return lambda: next(left)


@pytest.mark.parametrize(
    ("costs", "found", "made"),
    [
        ([100, 102, 101, 999], [100, 101, 102], 3),
        ([140, 150, 101, 102, 139, 100, 999], [100, 101, 102], 6),
        ([140, 141, 142, 100, 101, 102], [140, 141, 142], 3),
    ],
)
def test_runs_that_agree_are_enough(costs: list[float], found: list[float], made: int) -> None:
    """A slowdown that is equal in all runs cannot be detected."""
    agreed = agreeing(runs_of(costs), float, 3)
    assert (agreed.runs, agreed.made) == (found, made)


def test_timing_ends_on_a_busy_machine() -> None:
    costs = [2.0**place for place in range(100)]
    agreed = agreeing(runs_of(costs), float, 3)
    assert (agreed.runs, agreed.made, agreed.spread) == (costs[:3], 3 * MOST_RUNS, 1.5)


@given(st.lists(st.floats(50, 500), min_size=5 * MOST_RUNS, max_size=5 * MOST_RUNS), st.integers(1, 5))
def test_the_fastest_of_all_runs_count(costs: list[float], repeats: int) -> None:
    agreed = agreeing(runs_of(costs), float, repeats)
    found = list(agreed.runs)
    assert found == sorted(costs[: agreed.made])[:repeats]
    assert found[-1] <= (1 + ALIKE) * found[0] or agreed.made == repeats * MOST_RUNS


class SlowMachine(Isolated):
    """A machine that is slower by a factor, which grows with each run."""

    def __init__(self, slow: float, drift: float = 0.0) -> None:
        super().__init__()
        self.slow, self.drift = slow, drift

    @contextmanager
    def alone_in(self, folder: Path, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        yield

    def run(self, step: Any) -> Any:
        self.slow *= 1 + self.drift
        if isinstance(step, EvaluationRun):
            return Evaluation(30 * self.slow, 20 * self.slow, 90 * self.slow, 200 * self.slow)
        return round(1_000_000 / self.slow)


@pytest.mark.parametrize("slow", [1, 1.5])
def test_a_slow_machine_also_slows_the_reference(slow: float) -> None:
    times = time_value_network("net.safetensors", 3, "", SlowMachine(slow))
    assert (times.evaluation_ns, times.reference_ns) == (50 * slow, 200 * slow)
    assert (times.evaluation_spread, times.agreed, times.runs) == (0, True, 6)


def test_runs_that_never_agree_are_reported() -> None:
    times = time_value_network("net.safetensors", 3, "", SlowMachine(1, drift=0.3))
    assert not times.agreed
    assert times.evaluation_spread > ALIKE


def test_speeds_are_compared_again_until_they_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def run(_: Isolated, step: SpeedRun) -> SpeedRatio:
        asked.append(step.rounds)
        return SpeedRatio(1.2, 0.2 / len(asked) ** 2)

    monkeypatch.setattr(Isolated, "run", run)
    monkeypatch.setattr(timing, "alone", lambda one: one.alone_in(Path("unused")))
    monkeypatch.setattr(Isolated, "alone_in", SlowMachine.alone_in)
    assert speed_ratio("a", "b", Isolated()).error == 0.05
    assert asked == [1, 2]


def test_waiting_for_another_timing_is_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.tempfile, "gettempdir", lambda: str(tmp_path))
    first, second = Isolated(), Isolated()
    stages: list[str] = []

    def show(stage: str) -> None:
        stages.append(stage)
        second.stop()

    with timing.alone(first, show):
        assert not stages
        with pytest.raises(Stopped), timing.alone(second, show):
            pass
    assert stages == ["waiting until another timing on this machine ends,"]


def test_windows_has_no_user_ids_and_no_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert time_value_network("net.safetensors", 3, "", SlowMachine(1)).load is None
