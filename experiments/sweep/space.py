"""The values that a plan allows for options, and the labels that distinguish points."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

from lite.typed import typed

MOST_VALUES = 10_000
"""Largest number of values of a range with a step."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`."""

    low: int | float
    high: int | float
    step: int | float | None = None
    """Distance between neighbouring values; None means any number between the ends."""
    log: bool = False
    """Equal ratios are equally likely, in place of equal distances."""

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return all(isinstance(one, int) for one in (self.low, self.high, self.step or 1))

    def values(self) -> list[Any]:
        """Return all values of a range with a step, as the decimal fractions that they are written as."""
        low, high, step = (Decimal(str(one)) for one in (self.low, self.high, self.step))
        found = [low + number * step for number in range(int((high - low) // step) + 1)]
        return [int(one) if self.whole else float(one) for one in found]


Choices = tuple[Any, ...] | Range
Space = Mapping[str, Choices]
"""Options, and the values that each may have."""


def read_choices(value: Any, place: str, search: str) -> Choices:
    """Return a list's values, a table's range, or the one value. Raises ValueError that begins with `place`."""
    if isinstance(value, dict):
        found = typed(Range, value, place)
        if found.low > found.high or (found.step is not None and found.step <= 0) or (found.log and found.low <= 0):
            raise ValueError(f"{place}: a range goes up from `low` to `high`, a logarithmic one from above 0")
        if search == "grid" and found.step is None:
            raise ValueError(f"{place}: a grid's range needs a `step`")
        if found.step is not None and found.log:
            raise ValueError(f"{place}: `log` and `step` exclude each other; in a grid list the values")
        if found.step is not None and (found.high - found.low) / found.step > MOST_VALUES:
            raise ValueError(f"{place}: a range of more than {MOST_VALUES} values; choose a longer step")
        return found
    values = tuple(value) if isinstance(value, list) else (value,)
    if not values:
        raise ValueError(f"{place}: no value to choose")
    return values


def combinations(space: Space) -> Iterator[Mapping[str, Any]]:
    """Yield every combination of a space whose ranges have steps."""
    values = [choices.values() if isinstance(choices, Range) else choices for choices in space.values()]
    for chosen in product(*values):
        yield dict(zip(space, chosen, strict=True))


def ends(choices: Choices) -> tuple[Any, ...]:
    """Return the values of an option that are checked before any work: all of a list, the ends of a range."""
    if not isinstance(choices, Range):
        return choices
    if choices.step is not None:
        return tuple(choices.values())
    return choices.low, choices.high


def extremes(space: Space) -> Iterator[Mapping[str, Any]]:
    """Yield combinations that contain every checked value."""
    first = {name: ends(choices)[0] for name, choices in space.items()}
    yield first
    for name, choices in space.items():
        for value in ends(choices)[1:]:
            yield first | {name: value}


def option_label(name: str, value: Any, shared: Container[str] = ()) -> str:
    """Return an option with its value as labels show it: `width 64`, `shortcut`, `no shortcut`.

    `shared`: texts of `in_brief` that several values of the option have; these values are shown whole."""
    if isinstance(value, bool):
        return name if value else f"no {name}"
    brief = in_brief(value)
    return f"{name} {in_full(value) if brief in shared else brief}"


def in_full(value: Any) -> str:
    """Return an option's value with all of its path and digits."""
    return ",".join(map(in_full, value)) if isinstance(value, list | tuple) else str(value)


def in_brief(value: Any) -> str:
    """Return an option's value as labels show it."""
    if isinstance(value, list | tuple):
        return ",".join(map(in_brief, value)) or "none"
    return f"{value:.3g}" if isinstance(value, float) else Path(value).name if isinstance(value, str) else str(value)
