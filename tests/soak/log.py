"""Measurements of a soak test, one JSON object per line, and the growth of memory."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

WARM_SECONDS = 600
"""Seconds of a process that do not count, because it touches memory for the first time."""
BLOCKS = 20
"""Blocks of a process in which measurements are averaged, because neighbouring ones are not independent."""


@dataclass(frozen=True)
class Measurement:
    """Measurement of an idle engine."""

    run: int
    """Number of the process, from 0."""
    seconds: float
    """Seconds since the start of the process."""
    kilobytes: int
    """Resident memory."""
    handles: int
    threads: int
    done: dict[str, int]
    """Number of times of each activity."""


@dataclass(frozen=True)
class Growth:
    """Growth of memory over all processes."""

    hours: float
    """Measured hours after the warm-up."""
    slope: float
    """Growth in kilobytes per hour."""
    error: float
    """Standard error of the slope."""

    def __str__(self) -> str:
        flat = "flat" if self.slope < 2 * self.error else "GROWING"
        rate = f"{self.slope:+.0f} +- {2 * self.error:.0f} kB an hour (two standard errors)"
        return f"{flat}: {rate} over {self.hours:.2f} hours"


def seconds_of(measurements: Sequence[Measurement]) -> float:
    """Return the measured seconds of all processes."""
    return sum(max(one.seconds for one in run) for _, run in groupby(measurements, lambda one: one.run))


def growth(measurements: Sequence[Measurement]) -> Growth | None:
    """Fit a line to the memory of each process, with one slope for all. None for too few measurements."""
    hours = 0.0
    shifts: list[tuple[float, float]] = []
    for _, run in groupby(measurements, lambda one: one.run):
        warm = [(one.seconds / 3600, float(one.kilobytes)) for one in run if one.seconds >= WARM_SECONDS]
        points = _blocks(warm)
        if len(points) < 3:
            continue
        hours += warm[-1][0] - warm[0][0]
        middle, level = (statistics.fmean(axis) for axis in zip(*points, strict=True))
        shifts += [(time - middle, memory - level) for time, memory in points]
    if len(shifts) < 5:
        return None
    square = sum(time * time for time, _ in shifts)
    across = sum(time * memory for time, memory in shifts)
    slope = across / square
    rest = sum((memory - slope * time) ** 2 for time, memory in shifts)
    return Growth(hours, slope, (rest / (len(shifts) - 2) / square) ** 0.5)


def _blocks(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    length = -(-len(points) // BLOCKS) or 1
    parts = [points[at : at + length] for at in range(0, len(points), length)]
    return [(statistics.fmean(t for t, _ in part), statistics.fmean(m for _, m in part)) for part in parts]


def summary(measurements: Sequence[Measurement]) -> str:
    """Return the figures of a soak test so far."""
    if not measurements:
        return "nothing has been measured"
    done: dict[str, int] = {}
    for _, run in groupby(measurements, lambda one: one.run):
        for name, count in list(run)[-1].done.items():
            done[name] = done.get(name, 0) + count
    memory, handles = ([getattr(one, name) for one in measurements] for name in ("kilobytes", "handles"))
    grown = growth(measurements)
    return "\n".join(
        (
            f"{seconds_of(measurements) / 3600:.2f} hours in {1 + measurements[-1].run} processes, "
            f"{len(measurements)} measurements: " + ", ".join(f"{count:,} {name}" for name, count in done.items()),
            f"resident {min(memory):,} to {max(memory):,} kB, at last {memory[-1]:,}; handles {min(handles)} to "
            f"{max(handles)}, at last {handles[-1]}",
            str(grown) if grown else f"too short to measure growth (the first {WARM_SECONDS} seconds do not count)",
        )
    )
