"""The memory that this process can still use: a container or a batch job that exceeds its limit is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from search.system.control_groups import groups_of, text_of

_MACHINE = Path("/proc/meminfo")
_FILES = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"), 2: ("memory.max", "memory.current", "")}


def memory_left() -> int | None:
    """Return the bytes that are available without swapping; None where the system does not report them (Linux does)."""
    return min([*_available_on_machine(), *_available_in_groups()], default=None)


def _available_on_machine() -> Iterator[int]:
    for line in text_of(_MACHINE).splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _available_in_groups() -> Iterator[int]:
    for version, folder in groups_of("memory"):
        limit, usage, prefix = _FILES[version]
        most, used = text_of(folder / limit).strip(), text_of(folder / usage).strip()
        if most.isdecimal() and used.isdecimal():
            cached = [f"{prefix}inactive_file", f"{prefix}active_file"]  # cached file pages, which the kernel can drop
            figures = [line.partition(" ") for line in text_of(folder / "memory.stat").splitlines()]
            freed = sum(int(number) for name, _, number in figures if name in cached)
            yield max(0, int(most) - max(0, int(used) - freed))
