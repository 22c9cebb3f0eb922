"""How this project compiles: one decorator, and a cache that can never serve stale or foreign code.

Numba's own cache looks only at the file that defines a function: after an edit to a callee or a global table in
another module it would load code that no longer matches. So the cache directory's name carries a hash of every source
of the `search` package, of Numba's version, of the CPU and of the chosen kernel. Jitted functions of other packages
share the directory; they may call jitted functions of their own file and of `search`, of nothing else.

Import this module before `numba`, always through `from search.machine.jit import jit`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

KERNELS = ("vnni", "avx2", "plain")


def _cpu_flags() -> frozenset[str]:
    """The CPU's feature names as LLVM spells them, without compiling anything."""
    from llvmlite import binding

    return frozenset(name for name, present in binding.get_host_cpu_features().items() if present)


def choose_kernel(flags: frozenset[str]) -> str:
    """The widest integer kernel that a CPU with these LLVM feature names runs; `LITESHOGI_KERNEL` overrides it."""
    if {"avx512vnni", "avx512bw", "avx512vl"} <= flags:
        best = "vnni"
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


def _user_cache() -> Path:
    """The user's cache directory; `LITESHOGI_CACHE` names another (a read-only home, a shared machine)."""
    if chosen := os.environ.get("LITESHOGI_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "liteshogi"


def _cache_directory(flags: frozenset[str], kernel: str) -> Path:
    """A directory that only code compiled from these sources, for this CPU and kernel, can be found in."""
    from importlib.metadata import version

    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    sliders = os.environ.get("LITESHOGI_SLIDERS", "")
    versions = (version("numba"), version("numpy"), platform.python_version(), platform.machine())
    for part in (*versions, kernel, sliders, *sorted(flags)):
        digest.update(part.encode() + b"\0")
    name = f"{kernel}-{digest.hexdigest()[:16]}"
    directory = _user_cache() / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        # Numba would fall back to directories beside the sources, which no hash guards.
        directory = Path(tempfile.mkdtemp(prefix="liteshogi-")) / name
    return directory


_flags = _cpu_flags()
KERNEL: str = choose_kernel(_flags)
CACHE_DIRECTORY: Path = _cache_directory(_flags, KERNEL)

os.environ["NUMBA_CACHE_DIR"] = str(CACHE_DIRECTORY)
import numba  # noqa: E402  (after the cache directory is chosen)

numba.config.CACHE_DIR = str(CACHE_DIRECTORY)  # type: ignore[attr-defined]  # numba may be imported already

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "no_cfunc_wrapper": True,  # nobody takes a function's address; making them takes a tenth of the compile time
}
jit = numba.njit(**_OPTIONS)
"""Decorator for every jitted function: cached, releases the GIL, C-like division, no bounds checks."""
