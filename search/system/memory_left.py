"""How much memory this process can still have: a container or a batch job that takes more than its own is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from search.system.control_groups import groups_of, text_of

_MACHINE = Path("/proc/meminfo")
_FILES = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"), 2: ("memory.max", "memory.current", "")}


def memory_left() -> int | None:
    """Bytes that can still be had without swapping; None where the system does not say (Linux does)."""
    return min([*_of_machine(), *_of_groups()], default=None)


def _of_machine() -> Iterator[int]:
    for line in text_of(_MACHINE).splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _of_groups() -> Iterator[int]:
    for version, folder in groups_of("memory"):
        limit, usage, prefix = _FILES[version]
        most, used = text_of(folder / limit).strip(), text_of(folder / usage).strip()
        if most.isdecimal() and used.isdecimal():
            cached = [f"{prefix}inactive_file", f"{prefix}active_file"]  # files' pages, which give way
            figures = [line.partition(" ") for line in text_of(folder / "memory.stat").splitlines()]
            freed = sum(int(number) for name, _, number in figures if name in cached)
            yield max(0, int(most) - max(0, int(used) - freed))
