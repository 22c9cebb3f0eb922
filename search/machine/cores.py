"""How many cores this process may keep busy: a container or a batch job is given fewer than the machine has.

More threads than that take turns, and each has memory of its own.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

_GROUPS, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def usable_cores() -> int:
    """At least 1: the cores that this process may run on, no more of them than its share of their time fills."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_shares(_GROUPS, _MEMBERSHIP)]))


def _shares(groups: Path, membership: Path) -> list[int]:
    """Cores whose time Linux's control groups leave to this process, by its own group and by those around it."""
    found = []
    for line in _text(membership).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            top, names = groups, ["cpu.max"]
        elif "cpu" in controllers.split(","):
            top, names = groups / "cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        group = top / path.lstrip("/")  # as the host names it: inside a container the top may be all that is there
        for folder in (one for one in (group, *group.parents) if one.is_relative_to(top)):
            numbers = [word for name in names for word in _text(folder / name).split()]
            if len(numbers) == 2 and all(map(str.isdecimal, numbers)):
                found.append(math.ceil(int(numbers[0]) / int(numbers[1])))
    return found


def _text(path: Path) -> str:
    """What a file holds; nothing where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
