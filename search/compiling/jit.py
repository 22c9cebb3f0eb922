"""The decorators of jitted functions, with a cache that never serves stale or foreign code.

Compiled code is stored in a directory per environment (versions, CPU, kernel), and there in one per module and digest
of all sources that the module reaches (`source_digest.py`). After an edit exactly the modules that can see it are
compiled again. A release may contain such directories, compiled for kinds of CPU (`target.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from search.compiling.cache_directory import choose_directory
from search.compiling.compile_cache import keep_compiled
from search.compiling.compiler import Compiler, ProgramCompiler
from search.compiling.target import NUMBA_CONFIG, RELEASED, choose_kernel, cpu_flags, environment_name, released_target


def _choose() -> tuple[str, str]:
    """Return the kernel and the name of the environment that it is compiled in.

    Where the package has compiled code for this CPU, set Numba's target to that code's. Raises ValueError if Numba is
    set not to compile.
    """
    if NUMBA_CONFIG.DISABLE_JIT:
        raise ValueError("NUMBA_DISABLE_JIT is set, but LiteShogi needs compiled code; unset it")
    flags = cpu_flags()
    target = released_target(flags)
    if target is None:
        kernel = choose_kernel(flags)
        if kernel == "neon" and NUMBA_CONFIG.CPU_FEATURES is None:
            # LLVM uses no feature that it did not detect itself, unless it is named here.
            NUMBA_CONFIG.CPU_FEATURES = ",".join(f"+{name}" for name in sorted(flags))
        return kernel, environment_name(kernel, tuple(sorted(flags)))
    NUMBA_CONFIG.CPU_NAME, NUMBA_CONFIG.CPU_FEATURES = target.cpu, target.added
    return target.kernel, target.environment


KERNEL, _environment = _choose()
CACHE_DIRECTORY: Path = choose_directory() / _environment
"""Compiled code of this environment, with a directory for each module."""
RELEASED_DIRECTORY: Path = RELEASED / _environment
"""Compiled code of this environment that came with the package, if there is any."""

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "pipeline_class": Compiler,
    "no_cfunc_wrapper": True,  # they take a tenth of the compile time, and nothing uses them
}


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function: cached, without the GIL, with C-like division, no bounds checks and no negative indices.

    This is the decorator of every jitted function that needs none of the others.
    """
    return _kept(function, _OPTIONS)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile as `jit` does a large function with one jitted caller, and inline it there.

    A function is linked with all functions that it calls, and the whole is optimised again, which takes seconds for the
    search.
    """
    return _kept(function, _OPTIONS | {"inline": "always"})


def program(function: Callable[..., Any]) -> Any:
    """Compile as `jit` does a function that Python calls and that computes for long.

    It is optimised together with all functions that it calls.
    """
    return _kept(function, _OPTIONS | {"pipeline_class": ProgramCompiler})


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(**options)(function)
    keep_compiled(dispatcher, CACHE_DIRECTORY)
    return dispatcher
