"""How this project compiles: a decorator, two for large functions, a cache that can never serve stale or foreign code.

Compiled code is kept in a directory for each environment (versions, CPU, kernel) and in it one for each module and the
digest of all sources that the module reaches (`source_digest.py`): an edit compiles anew whatever could see it, and
nothing else. A release brings such directories along, compiled for kinds of CPU (`target.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from search.compiling.cache_directory import choose_directory
from search.compiling.cache_files import CompileLock
from search.compiling.compile_cache import keep_compiled
from search.compiling.compiler import Compiler, ProgramCompiler
from search.compiling.target import NUMBA_CONFIG, RELEASED, choose_kernel, cpu_flags, environment_name, released_target


def _choose() -> tuple[str, str]:
    """The kernel, and the name of the environment that it is compiled in; lets Numba compile for a release's target
    where there is one. ValueError where Numba was told not to compile."""
    if NUMBA_CONFIG.DISABLE_JIT:
        raise ValueError("NUMBA_DISABLE_JIT is set, and LiteShogi runs as compiled code alone: unset it")
    flags = cpu_flags()
    target = released_target(flags)
    if target is None:
        kernel = choose_kernel(flags)
        if kernel == "neon" and NUMBA_CONFIG.CPU_FEATURES is None:
            # LLVM would not take the CPU to have what it has not asked the system for.
            NUMBA_CONFIG.CPU_FEATURES = ",".join(f"+{name}" for name in sorted(flags))
        return kernel, environment_name(kernel, tuple(sorted(flags)))
    NUMBA_CONFIG.CPU_NAME, NUMBA_CONFIG.CPU_FEATURES = target.cpu, target.added
    return target.kernel, target.environment


KERNEL, _environment = _choose()
CACHE_DIRECTORY: Path = choose_directory() / _environment
"""What is compiled for this machine and these versions, a directory for each module."""
RELEASED_DIRECTORY: Path = RELEASED / _environment
"""What came compiled with the package, if anything did."""
LOCK = CompileLock(CACHE_DIRECTORY)

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "pipeline_class": Compiler,
    "no_cfunc_wrapper": True,  # nobody takes a function's address; making them takes a tenth of the compile time
}


def jit(function: Callable[..., Any]) -> Any:
    """Decorator for every jitted function: cached, releases the GIL, C-like division, no bounds checks, no indices
    that count from the end."""
    return _kept(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """`jit` for a large function with one jitted caller, which it becomes part of.

    A function is linked with all that it calls, and the whole is optimised again: for the search that takes seconds.
    """
    return _kept(function, _OPTIONS | {"inline": "always"})


def program(function: Callable[..., Any]) -> Any:
    """`jit` for what Python calls and what computes for long: it is optimised together with all that it calls."""
    return _kept(function, _OPTIONS | {"pipeline_class": ProgramCompiler})


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(**options)(function)
    keep_compiled(dispatcher, LOCK)
    return dispatcher
