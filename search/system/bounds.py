"""Checks of options: bounds of numbers, choices, sizes that do not fit into memory, and options without effect.

Callers check options before they write anything. A number that is too large would otherwise overflow in compiled code,
or would request more threads than the system allows.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from search.system.memory_left import memory_left
from search.system.options import OptionError

MOST = (1 << 31) - 1
"""Largest number of nodes, depths, plies and other counts: compiled code stores some of them in 32 bits."""
MOST_THREADS = 64
"""Largest number of threads of one search."""
MOST_AT_ONCE = 1024
"""Largest number of other tasks that run in parallel."""
MOST_MEGABYTES = 1 << 20
"""Largest size of one table in MB."""


def check_number(name: str, number: int | None, least: int = 1, most: int | None = MOST) -> None:
    """Raise OptionError unless the number of field `name` is whole, at least `least` and at most `most`.

    A `most` of None means no upper bound; a number of None was not given and passes.
    """
    if number is None:
        return
    place = f"`{name}` {number}"
    if not isinstance(number, Integral):
        raise OptionError(f"{place}: must be a whole number, not a {type(number).__name__}", name)
    if number < least:
        raise OptionError(f"{place}: must be at least {least}", name)
    if most is not None and number > most:
        raise OptionError(f"{place}: must be at most {most:,}", name)


def check_numbers(options: Any, *names: str, least: int = 1, most: int | None = MOST) -> None:
    """Apply `check_number` to these fields of `options`, and to each number of a field that is a tuple."""
    for name in names:
        value = getattr(options, name)
        for number in value if isinstance(value, tuple) else (value,):
            check_number(name, number, least, most)


def check_share(name: str, share: float) -> None:
    """Raise OptionError unless the value of field `name` is from 0 to 1."""
    if not 0 <= share <= 1:
        raise OptionError(f"`{name}` {share}: a share from 0 to 1 is needed", name)


def check_choice(name: str, found: Any, choices: tuple[Any, ...]) -> None:
    """Raise ValueError unless `found`, the value of the option `name`, is one of `choices`."""
    if isinstance(found, bool) or found not in choices:
        raise ValueError(f"{name} {briefly(found)}: choose one of {', '.join(map(str, choices))}")


def briefly(found: Any) -> str:
    """Return a value as text, cut to 40 characters for a message."""
    return repr(found)[:40]


def check_used(options: Any, name: str, *needed: str) -> None:
    """Raise OptionError if field `name` differs from its class's default while all fields that it needs are 0."""
    value = getattr(options, name)
    if value != getattr(type(options), name) and not any(getattr(options, one) for one in needed):
        uses = " or ".join(f"`{one}`" for one in needed)
        raise OptionError(f"`{name}` {value}: has no effect without {uses}", name, *needed)


def check_unused(options: Any, other: str, *names: str) -> None:
    """Raise OptionError if one of the fields `names`, which have no effect with field `other`, differs from its class's
    default."""
    for name in names:
        if getattr(options, name) != getattr(type(options), name):
            raise OptionError(f"`{name}`: has no effect with `{other}`; leave out one of them", name, other)


def check_threads(count: int) -> None:
    """Raise ValueError unless a search may have `count` threads."""
    if not 1 <= count <= MOST_THREADS:
        raise ValueError(f"threads {count}: choose 1 to {MOST_THREADS}")


def check_megabytes(table: str, megabytes: int) -> None:
    """Raise ValueError, which names the table, unless `megabytes` is 1 to MOST_MEGABYTES, and MemoryError if less
    memory is left.

    The system would grant the memory and end the process when the table has grown.
    """
    if not 1 <= megabytes <= MOST_MEGABYTES:
        raise ValueError(f"{table} of {megabytes} MB: choose 1 to {MOST_MEGABYTES}")
    left = memory_left()
    if left is not None and megabytes << 20 > left:
        raise MemoryError(f"{table} of {megabytes} MB does not fit: {left >> 20} MB of memory are free")
