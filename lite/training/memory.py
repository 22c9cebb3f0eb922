"""Checks that a run fits into memory, before any of it is allocated."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from search.system.options import OptionError

STATE_BYTES = 5 * 4
"""Bytes per parameter: weight, gradient, average, and AdamW's two moments, in float32."""
_MALLOC_PARAMETERS = ((-1, 2**31 - 1), (-3, 1 << 25), (-8, 1))
"""glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD (32 MiB is the most it takes), and M_ARENA_MAX: one heap for all."""
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int | None:
    """Return the bytes of memory that this machine or its container may use; None if unknown."""
    if sys.platform == "win32":
        return None
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = _CGROUP_LIMIT.read_text().strip() if _CGROUP_LIMIT.is_file() else "max"
    except (OSError, ValueError):
        return None
    return min(memory, int(limit)) if limit.isdigit() else memory


def network_bytes(network: nn.Module) -> int:
    """Return the bytes that training needs for a network's parameters; the network may be on the device `meta`."""
    return STATE_BYTES * sum(parameter.numel() for parameter in network.parameters())


def refuse_beyond_memory(network: int, step: int, batch_size: int, memory: int | None) -> None:
    """Raise ValueError if the bytes of a network's parameters, or of a step, exceed the memory; None is unknown."""
    if memory is None:
        return
    if network > memory:
        raise ValueError(
            f"a network of these sizes takes {_gib(network)} to train, and there are {_gib(memory)}; "
            "choose smaller sizes"
        )
    if network + step > memory:
        raise OptionError(
            f"`batch_size` {batch_size}: a step takes at least {_gib(network + step)}, and there are {_gib(memory)}; "
            "choose a smaller one",
            "batch_size",
        )


@contextmanager
def clear_gpu_errors(batch_size: int) -> Iterator[None]:
    """Within the block, raise MemoryError of one line where the GPU is full."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        asked = str(error).removeprefix("CUDA out of memory. ").split(". ")[0]
        raise MemoryError(
            f"the GPU is full ({asked}): choose a batch size below {batch_size}, or end what else uses it"
        ) from None


def _gib(number: int) -> str:
    return f"{number / (1 << 30):,.1f} GiB"


def keep_freed_memory() -> None:
    """Make the C library keep freed memory for the next step; does nothing without glibc.

    Otherwise large arrays return to the system at once, and page faults take a third of a step's time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in _MALLOC_PARAMETERS:
            mallopt(parameter, value)
