"""How this project compiles: one decorator, and a cache that can never serve stale or foreign code.

Compiled code is kept in a directory for each environment (versions, CPU, kernel) and in it one for each module and the
digest of all sources that the module reaches (`source_digest.py`): an edit compiles anew whatever could see it, and
nothing else.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from search.machine.cache_directory import choose_directory
from search.machine.cache_files import CompileLock
from search.machine.compile_cache import keep_compiled

KERNELS = ("vnni", "avxvnni", "avx2", "plain")
"""Widest first; a CPU that runs one runs those after it."""


def _cpu_flags() -> frozenset[str]:
    """The CPU's feature names as LLVM spells them, without compiling anything."""
    from llvmlite import binding

    return frozenset(name for name, present in binding.get_host_cpu_features().items() if present)


def choose_kernel(flags: frozenset[str]) -> str:
    """The widest integer kernel that a CPU with these LLVM feature names runs; `LITESHOGI_KERNEL` overrides it."""
    if {"avx512vnni", "avx512bw", "avx512vl"} <= flags:
        best = "vnni"
    elif "avxvnni" in flags:
        best = "avxvnni"
    elif "avx2" in flags:
        best = "avx2"
    else:
        best = "plain"
    wanted = os.environ.get("LITESHOGI_KERNEL", "") or best
    if wanted not in KERNELS:
        raise ValueError(f"LITESHOGI_KERNEL={wanted!r}: use one of {', '.join(KERNELS)}, or unset it")
    if KERNELS.index(wanted) < KERNELS.index(best):
        raise ValueError(f"LITESHOGI_KERNEL={wanted}: this CPU cannot run it; unset it, or use {best}")
    return wanted


def _environment(flags: frozenset[str], kernel: str) -> str:
    """A name for everything beside the sources that compiled code depends on."""
    digest = hashlib.sha256()
    sliders = os.environ.get("LITESHOGI_SLIDERS", "")
    versions = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), platform.machine())
    for part in (*versions, kernel, sliders, *sorted(flags)):
        digest.update(part.encode() + b"\0")
    return f"{kernel}-{digest.hexdigest()[:16]}"


_flags = _cpu_flags()
KERNEL: str = choose_kernel(_flags)
CACHE_DIRECTORY: Path = choose_directory() / _environment(_flags, KERNEL)
"""What is compiled for this machine and these versions, a directory for each module."""
LOCK = CompileLock(CACHE_DIRECTORY)

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "no_cfunc_wrapper": True,  # nobody takes a function's address; making them takes a tenth of the compile time
}


def jit(function: Callable[..., Any]) -> Any:
    """Decorator for every jitted function: cached, releases the GIL, C-like division, no bounds checks."""
    return _kept(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """`jit` for a large function with one jitted caller, which it becomes part of.

    A function is linked with all that it calls, and the whole is optimised again: for the search that takes seconds.
    """
    return _kept(function, _OPTIONS | {"inline": "always"})


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(**options)(function)
    keep_compiled(dispatcher, LOCK)
    return dispatcher
