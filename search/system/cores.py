"""How many cores this process may keep busy: a container or a batch job is given fewer than the machine has.

More threads than that take turns, and each has memory of its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from search.system.control_groups import groups_of, text_of

_QUOTA = {1: ("cpu.cfs_quota_us", "cpu.cfs_period_us"), 2: ("cpu.max",)}


def usable_cores() -> int:
    """At least 1: the cores that this process may run on, no more of them than its share of their time fills."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_shares()]))


def _shares() -> Iterator[int]:
    """Cores whose time control groups leave to this process."""
    for version, folder in groups_of("cpu"):
        numbers = [word for name in _QUOTA[version] for word in text_of(folder / name).split()]
        if len(numbers) == 2 and all(map(str.isdecimal, numbers)):
            yield math.ceil(int(numbers[0]) / int(numbers[1]))
