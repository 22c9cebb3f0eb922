"""A set of whole numbers that arrive nearly in order: its size in memory depends on its gaps, not on its numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator


class IntervalSet:
    """Numbers from 0 on, kept as intervals."""

    def __init__(self) -> None:
        # Interval i holds starts[i] to before stops[i]; both rise, and stops[i] < starts[i + 1].
        self._starts: list[int] = []
        self._stops: list[int] = []
        self._size = 0

    def add(self, number: int) -> bool:
        """Add a number; returns False if it is in the set already. Raises ValueError if it is below 0."""
        if number < 0:
            raise ValueError(f"{number}: a number from 0 on is needed")
        if number in self:
            return False
        place = bisect_right(self._starts, number)
        joins_before = place > 0 and self._stops[place - 1] == number
        joins_behind = place < len(self._starts) and self._starts[place] == number + 1
        if joins_before and joins_behind:
            self._starts.pop(place)
            self._stops[place - 1] = self._stops.pop(place)
        elif joins_before:
            self._stops[place - 1] = number + 1
        elif joins_behind:
            self._starts[place] = number
        else:
            self._starts.insert(place, number)
            self._stops.insert(place, number + 1)
        self._size += 1
        return True

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number)
        return place > 0 and number < self._stops[place - 1]

    def __len__(self) -> int:
        return self._size

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Yield (first number, number after the last) of every interval, in order."""
        yield from zip(self._starts, self._stops, strict=True)
