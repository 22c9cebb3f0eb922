"""The processes that train one network together, started by `torchrun`; or a single process.

All have the same weights and see the same batches, and each computes its share of every batch. Sums over the batch (the
moments of a batch normalisation, gradients, losses) are added up over the processes, so each continues with the numbers
of a single process, except for the order of additions.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import distributed


class Workers:
    """One process of `size`, its `rank` from 0."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.rank == 0

    def share(self, count: int) -> slice:
        """Return this process's part of `count` items; the parts of all ranks in order are the whole."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def total(self, *tensors: torch.Tensor) -> None:
        """Replace tensors of one dtype and device by their sums over all processes, with equal bits in each.

        All must call it, with the same shapes in the same order. Raises ConnectionError if one of them has ended.
        """
        if self.size == 1:
            return
        together = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        with _connection_errors():
            distributed.all_reduce(together)
        for tensor, total in zip(tensors, together.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.detach().copy_(total.view_as(tensor))

    def largest(self, tensor: torch.Tensor) -> None:
        """Replace a tensor by the largest numbers over all processes. All must call it. Raises ConnectionError."""
        if self.size > 1:
            with _connection_errors():
                distributed.all_reduce(tensor, distributed.ReduceOp.MAX)

    def any(self, condition: bool) -> bool:
        """Return whether the condition holds in any process."""
        holds = torch.tensor([float(condition)])
        self.total(holds)
        return bool(holds)

    def meet(self) -> None:
        """Wait until all processes have called this."""
        self.any(False)


ALONE = Workers()


@cache
def join_workers() -> Workers:
    """Return the processes that this one was started with, by the environment variables of `torchrun`; else ALONE.

    Waits until all are there. Raises ConnectionError if they cannot connect, ValueError for wrong variables.
    """
    size = os.environ.get("WORLD_SIZE", "1")
    if not size.isdecimal() or (size != "1" and "RANK" not in os.environ):
        raise ValueError(
            f"WORLD_SIZE={size} of the environment, with RANK={os.environ.get('RANK', '')}, is not set by torchrun: "
            "unset it to train in one process"
        )
    if size == "1":
        return ALONE
    with _connection_errors():
        gpus, rank = torch.cuda.device_count(), int(os.environ.get("LOCAL_RANK", "0"))
        if gpus:
            torch.cuda.set_device(rank % gpus)
        # NCCL is faster and refuses two processes on one GPU.
        each_has_one = 0 < int(os.environ.get("LOCAL_WORLD_SIZE", size)) <= gpus
        distributed.init_process_group("cpu:gloo,cuda:nccl" if each_has_one else "gloo")
    atexit.register(_leave)
    return Workers(distributed.get_rank(), distributed.get_world_size())


def _leave() -> None:
    """End the group's threads, which must not outlive the interpreter; a second Ctrl-C does not prevent it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    distributed.destroy_process_group()


def leave_with(code: int) -> None:
    """End a process that has trained with others, at once and with this code; do nothing in a single process.

    PyTorch's threads may abort a process of a group while its interpreter shuts down, after everything was saved.
    """
    if distributed.is_initialized():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def _connection_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        reason = str(error).split("\n")[0].split("] ", 1)[-1].split(". ")[0]  # without a place in PyTorch's sources
        raise ConnectionError(
            f"process {os.environ.get('RANK')} of this run lost another ({reason}): see the error of that one, then "
            "start all of them again, and resume if a state was saved"
        ) from None
