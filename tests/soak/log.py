"""What a soak has measured, a JSON object a line, and whether memory has grown over it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

WARM_SECONDS = 600
"""Of a process, in which it touches memory for the first time."""
BLOCKS = 20
"""Of a process, in which measurements are averaged: neighbours are alike, and each alone would count too much."""


@dataclass(frozen=True)
class Measurement:
    """An engine at rest."""

    run: int
    """Which process, from 0."""
    seconds: float
    """Since its start."""
    kilobytes: int
    """Resident."""
    handles: int
    threads: int
    done: dict[str, int]
    """How often it did what."""


@dataclass(frozen=True)
class Growth:
    """Of all processes together."""

    hours: float
    """That are behind the warm-up."""
    slope: float
    """Kilobytes an hour."""
    error: float
    """Its standard error."""

    def __str__(self) -> str:
        flat = "flat" if self.slope < 2 * self.error else "GROWING"
        told = f"{self.slope:+.0f} +- {2 * self.error:.0f} kB an hour (two standard errors)"
        return f"{flat}: {told} over {self.hours:.2f} hours"


def seconds_of(measurements: Sequence[Measurement]) -> float:
    """Of all processes together."""
    return sum(max(one.seconds for one in run) for _, run in groupby(measurements, lambda one: one.run))


def growth(measurements: Sequence[Measurement]) -> Growth | None:
    """The least-squares line through the memory of each process, with one slope for all of them; None of too few."""
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


def in_words(measurements: Sequence[Measurement]) -> str:
    """The end of a soak, or how far it is."""
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
            str(grown) if grown else f"too short to tell growth (the first {WARM_SECONDS} seconds do not count)",
        )
    )
