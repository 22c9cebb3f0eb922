"""Whether what a run asks for fits into memory, before any of it is taken."""

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
"""float32 of each parameter: its weight, gradient and average, and AdamW's two moments."""
_MALLOC_PARAMETERS = ((-1, 2**31 - 1), (-3, 1 << 25), (-8, 1))
"""glibc's M_TRIM_THRESHOLD and M_MMAP_THRESHOLD (32 MiB is the most it takes), and M_ARENA_MAX: one heap for all."""
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int | None:
    """Bytes of this machine's memory, or what its container may use; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = _CGROUP_LIMIT.read_text().strip() if _CGROUP_LIMIT.is_file() else "max"
    except (OSError, ValueError):
        return None
    return min(memory, int(limit)) if limit.isdigit() else memory


def network_bytes(network: nn.Module) -> int:
    """What training takes for a network's parameters; one on the device `meta` is enough to tell."""
    return STATE_BYTES * sum(parameter.numel() for parameter in network.parameters())


def refuse_beyond_memory(network: int, step: int, batch_size: int, memory: int | None) -> None:
    """Raises ValueError if the bytes of a network's parameters, or of a step, are more than there are."""
    if memory is None:
        return
    if network > memory:
        raise ValueError(
            f"a network of these sizes takes {_gib(network)} to train, and there are {_gib(memory)}: choose a smaller"
        )
    if network + step > memory:
        raise OptionError(
            f"`batch_size` {batch_size}: a step takes at least {_gib(network + step)}, and there are {_gib(memory)}; "
            "choose a smaller one",
            "batch_size",
        )


@contextmanager
def full_gpu_in_words(batch_size: int) -> Iterator[None]:
    """MemoryError, in a line with the remedy, where a GPU has no room for what is done."""
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
    """Have the C library keep what a step frees for the next one; does nothing without glibc.

    Big arrays otherwise go back to the system at once, and a third of a step's time is page faults of taking them anew.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in _MALLOC_PARAMETERS:
            mallopt(parameter, value)
