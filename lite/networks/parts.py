"""Parallel work in equal parts, one per thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import torch


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "part", initializer=_alone)


def _alone() -> None:
    # Both are a thread's own: torch's further threads would fight the other parts for the cores, and the parts' work
    # lies within one operation of autograd's.
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)


def part_bounds(count: int, threads: int | None) -> list[tuple[int, int]]:
    """Return `range(count)` in equal parts (first, last), one per thread; None means as many threads as torch has."""
    parts = min(threads or torch.get_num_threads(), max(count, 1))
    return [(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


def at_once(function: Callable[..., Any], *items: Iterable[Any]) -> list[Any]:
    """Return the results of `function` on every part's items, each in its own thread; kernels release the GIL."""
    calls = list(zip(*items, strict=True))
    if len(calls) == 1:
        return [function(*calls[0])]
    return list(_pool(len(calls)).map(lambda call: function(*call), calls))
