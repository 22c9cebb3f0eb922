"""The number of cores that this process may use: a container or a batch job may have fewer than the machine.

More threads than cores only take turns, and each thread needs memory of its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from search.system.control_groups import groups_of, text_of

_QUOTA = {1: ("cpu.cfs_quota_us", "cpu.cfs_period_us"), 2: ("cpu.max",)}


def usable_cores() -> int:
    """Return the number of usable cores, at least 1: allowed by the CPU affinity and by the quotas of control
    groups."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([cores, *_quotas()]))


def _quotas() -> Iterator[int]:
    """Yield the CPU quota of each control group in cores, rounded up."""
    for version, folder in groups_of("cpu"):
        numbers = [word for name in _QUOTA[version] for word in text_of(folder / name).split()]
        if len(numbers) == 2 and all(map(str.isdecimal, numbers)):
            yield math.ceil(int(numbers[0]) / int(numbers[1]))
