"""The CPU that code is compiled for: this one, or a kind of CPU that releases contain compiled code for.

The kernel and the name of the directory of compiled code follow from it.
"""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding

from search.compiling.arm import has_dot_product
from search.compiling.branch_weights import TABLE as BRANCHES

KERNELS = ("vnni", "avxvnni", "avx2", "neon", "plain")
"""The kernels, widest first. A CPU that runs one runs those after it, except `neon`, which only 64-bit ARM runs."""
NUMBA_CONFIG: Any = numba.config
SETTINGS = (
    "NUMBA_BOUNDSCHECK",
    "NUMBA_DEBUGINFO",
    "NUMBA_ENABLE_AVX",
    "NUMBA_LOOP_VECTORIZE",
    "NUMBA_OPT",
    "NUMBA_SLP_VECTORIZE",
)
"""Environment variables that make Numba generate other code, which is stored separately and is in no release.

A `.numba_config.yaml` in the working directory has the same settings.
"""
RELEASED = Path(__file__).parents[1] / "compiled"
"""Compiled code that came with the package, a directory per target as in the cache. A source checkout has none."""


@dataclass(frozen=True)
class Target:
    """A kernel and the CPUs that it is compiled for."""

    kernel: str
    cpu: str
    """LLVM's name of the CPU level that they have in common."""
    added: str
    """Features beyond this level, in LLVM's spelling."""
    needed: frozenset[str]
    """Features that a CPU needs to run the code, without those that all CPUs with AVX2 have."""

    @property
    def environment(self) -> str:
        """The name of the directory of code that is compiled for this target with the present versions."""
        return environment_name(self.kernel, (self.cpu, self.added))


_LEVEL_3 = frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
_LEVEL_4 = _LEVEL_3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
TARGETS = (
    Target("vnni", "x86-64-v4", "+avx512vnni", _LEVEL_4 | {"avx512vnni"}),
    Target("avx2", "x86-64-v3", "", _LEVEL_3),
)
"""The targets that a release may contain, widest first. A CPU with AVX-VNNI alone uses the code for AVX2."""


def cpu_flags() -> frozenset[str]:
    """Return this CPU's features in LLVM's spelling, without compiling anything."""
    features: dict[str, bool] = {}
    with suppress(RuntimeError):  # LLVM detects none on this system
        features |= binding.get_host_cpu_features()
    if has_dot_product():
        features["dotprod"] = True
    return frozenset(name for name, present in features.items() if present)


def cpu_name() -> str:
    """Return the name of this CPU, or its architecture where the system does not report a name."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def choose_kernel(flags: frozenset[str]) -> str:
    """Return the widest integer kernel for a CPU with these LLVM features; `LITESHOGI_KERNEL` overrides it.

    Raises ValueError for a kernel that does not exist or that the CPU cannot run.
    """
    if {"avx512vnni", "avx512bw", "avx512vl"} <= flags:
        best = "vnni"
    elif "avxvnni" in flags:
        best = "avxvnni"
    elif "avx2" in flags:
        best = "avx2"
    elif "dotprod" in flags:
        best = "neon"
    else:
        best = "plain"
    wanted = os.environ.get("LITESHOGI_KERNEL", "") or best
    if wanted not in KERNELS:
        raise ValueError(f"LITESHOGI_KERNEL={wanted!r}: use one of {', '.join(KERNELS)}, or unset it")
    if KERNELS.index(wanted) < KERNELS.index(best) or (wanted == "neon" and best != "neon"):
        raise ValueError(f"LITESHOGI_KERNEL={wanted}: this CPU cannot run it; unset it, or use {best}")
    return wanted


def environment_name(kernel: str, cpu: tuple[str, ...]) -> str:
    """Return a name for everything but the sources that compiled code depends on.

    `cpu` says what it is compiled for.
    """
    digest = hashlib.sha256()
    python, (major, minor, *_) = EXTENSION_SUFFIXES[0], np.__version__.split(".")
    sliders = os.environ.get("LITESHOGI_SLIDERS", "")
    settings = NUMBA_CONFIG._env_reloader.old_environ  # from the environment and from that file
    numbas = [f"{name} {settings[name]}" for name in SETTINGS if name in settings]
    for part in (numba.__version__, llvmlite.__version__, f"{major}.{minor}", python, kernel, sliders, *cpu, *numbas):
        digest.update(part.encode() + b"\0")
    digest.update(BRANCHES.read_bytes())
    return f"{kernel}-{digest.hexdigest()[:16]}"


def released_target(flags: frozenset[str]) -> Target | None:
    """Return the widest target that this CPU runs and that the package has code for; None to compile for this CPU.

    None, too, if the user has set Numba's target or has chosen another kernel.
    """
    if NUMBA_CONFIG.CPU_NAME is not None or NUMBA_CONFIG.CPU_FEATURES is not None:
        return None
    wanted = os.environ.get("LITESHOGI_KERNEL", "")
    for target in TARGETS:
        if target.needed <= flags and wanted in ("", target.kernel) and (RELEASED / target.environment).is_dir():
            return target
    return None
