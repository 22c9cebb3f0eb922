"""Soak tests distinguish a leak from noise, and are resumed."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests.json_lines import read
from tests.soak import log
from tests.soak.__main__ import soak
from tests.soak.log import Measurement, growth, summary


def day(kilobytes_per_hour: float, hours: float, runs: int = 1) -> list[Measurement]:
    """Return a measurement per minute; processes differ in memory, and each grows by 50 MB during its warm-up."""
    generator, found = random.Random(1), []
    for run in range(runs):
        level = 200_000 + generator.randint(0, 20_000)
        for minute in range(int(60 * hours)):
            warmth = min(50_000, 10_000 * minute)
            memory = level + warmth + kilobytes_per_hour * minute / 60 + generator.gauss(0, 500)
            found.append(Measurement(run, 60.0 * minute, int(memory), 9, 5, {"play_on": minute}))
    return found


@pytest.mark.parametrize("runs", [1, 3])
def test_a_leak_is_distinguished_from_noise(runs: int) -> None:
    flat, leak = growth(day(0, 8, runs)), growth(day(300, 8, runs))
    assert flat is not None
    assert leak is not None
    assert str(flat).startswith("flat")
    assert str(leak).startswith("GROWING")
    assert abs(leak.slope - 300) < 3 * leak.error < 100
    assert flat.hours == pytest.approx(runs * (8 - 1 / 60 - log.WARM_SECONDS / 3600))


def test_few_measurements_give_no_growth(tmp_path: Path) -> None:
    assert growth(day(0, 0.1)) is None
    assert "too short" in summary(day(0, 0.1))
    assert summary(read(tmp_path / "none.jsonl", Measurement)) == "nothing has been measured"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
def test_a_soak_test_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "soak.jsonl"
    soak(path, 30 / 3600, 5)
    first = read(path, Measurement)
    soak(path, 60 / 3600, 5)
    second = read(path, Measurement)
    assert second[: len(first)] == first
    assert {one.run for one in second} == {0, 1}
    assert sum(second[-1].done.values()) > 0
    assert all(one.kilobytes > 50_000 and one.handles >= 3 for one in second)
