"""What code is compiled for: this very CPU, or one of the kinds of CPU that releases carry compiled code for.

Which kernels a CPU runs, and what the directory of its compiled code is named after, follows from that.
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

KERNELS = ("vnni", "avxvnni", "avx2", "neon", "plain")
"""Widest first; a CPU that runs one runs those after it, but for `neon`, which is 64-bit ARM's alone."""
NUMBA_CONFIG: Any = numba.config
SETTINGS = (
    "NUMBA_BOUNDSCHECK",
    "NUMBA_DEBUGINFO",
    "NUMBA_ENABLE_AVX",
    "NUMBA_LOOP_VECTORIZE",
    "NUMBA_OPT",
    "NUMBA_SLP_VECTORIZE",
)
"""Variables by which a user has Numba make other code; what is made by one is kept apart, and in no release. A
`.numba_config.yaml` in the working directory says the same things to Numba."""
RELEASED = Path(__file__).parents[1] / "compiled"
"""Compiled code that came with the package: a directory for each target, made as the cache's are. Sources have none."""


@dataclass(frozen=True)
class Target:
    """A kernel, and the CPUs that it is compiled for."""

    kernel: str
    cpu: str
    """LLVM's name of the least that they have in common."""
    added: str
    """Features beyond that, as LLVM spells them."""
    needed: frozenset[str]
    """The features without which a CPU does not run such code; those that all CPUs with AVX2 have are left out."""

    @property
    def environment(self) -> str:
        """The directory of code that is compiled for it with these versions."""
        return environment_name(self.kernel, (self.cpu, self.added))


_LEVEL_3 = frozenset({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
_LEVEL_4 = _LEVEL_3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
TARGETS = (
    Target("vnni", "x86-64-v4", "+avx512vnni", _LEVEL_4 | {"avx512vnni"}),
    Target("avx2", "x86-64-v3", "", _LEVEL_3),
)
"""What a release may carry, widest first. A CPU with AVX-VNNI alone takes the code for AVX2."""


def cpu_flags() -> frozenset[str]:
    """This CPU's feature names as LLVM spells them, without compiling anything."""
    features: dict[str, bool] = {}
    with suppress(RuntimeError):  # LLVM knows none of this system
        features |= binding.get_host_cpu_features()
    if has_dot_product():
        features["dotprod"] = True
    return frozenset(name for name, present in features.items() if present)


def cpu_name() -> str:
    """This CPU as its maker calls it, or its kind where the system does not tell."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def choose_kernel(flags: frozenset[str]) -> str:
    """The widest integer kernel that a CPU with these LLVM feature names runs; `LITESHOGI_KERNEL` overrides it."""
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
    """A name for everything beside the sources that compiled code depends on, `cpu` being what it is compiled for."""
    digest = hashlib.sha256()
    python, (major, minor, *_) = EXTENSION_SUFFIXES[0], np.__version__.split(".")
    sliders = os.environ.get("LITESHOGI_SLIDERS", "")
    told = NUMBA_CONFIG._env_reloader.old_environ  # of the environment and of that file
    numbas = [f"{name} {told[name]}" for name in SETTINGS if name in told]
    for part in (numba.__version__, llvmlite.__version__, f"{major}.{minor}", python, kernel, sliders, *cpu, *numbas):
        digest.update(part.encode() + b"\0")
    return f"{kernel}-{digest.hexdigest()[:16]}"


def released_target(flags: frozenset[str]) -> Target | None:
    """The widest target that a CPU with these features runs and that the package carries code for; None to compile for
    this very CPU, as where the user has told Numba what to compile for, or has chosen another kernel."""
    if NUMBA_CONFIG.CPU_NAME is not None or NUMBA_CONFIG.CPU_FEATURES is not None:
        return None
    wanted = os.environ.get("LITESHOGI_KERNEL", "")
    for target in TARGETS:
        if target.needed <= flags and wanted in ("", target.kernel) and (RELEASED / target.environment).is_dir():
            return target
    return None
