"""The program and the machine that a result comes from: version, commit, libraries, CPU, kernel, cores."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from search.compiling.jit import KERNEL
from search.compiling.target import cpu_name

UNKNOWN = "not recorded"
LIBRARIES = ("numpy", "numba", "torch", "safetensors")
"""Libraries that figures may depend on."""


def release() -> str:
    """Return the installed version of this program; `source` where only its sources are present."""
    try:
        return version("liteshogi")
    except PackageNotFoundError:
        return "source"


def program() -> dict[str, str | None]:
    """Return version, commit, CPU and kernel: everything that figures or speed may depend on."""
    return {"version": release(), "commit": commit(), "cpu": cpu_name(), "kernel": KERNEL}


def machine_of(maker: dict[str, Any]) -> str:
    """Return "CPU, kernel" of a maker that `program` has described."""
    return f"{maker['cpu']}, {maker['kernel']}" if maker.get("cpu") and maker.get("kernel") else UNKNOWN


def program_of(maker: dict[str, Any]) -> str:
    """Return "version commit" of a maker that `program` has described."""
    if not maker.get("version"):
        return UNKNOWN
    return f"{maker['version']} {str(maker.get('commit') or '')[:12]}".strip()


def commit() -> str | None:
    """Return the commit of the source tree, with `-dirty` if files differ from it; None outside of a checkout."""
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    return None


def libraries() -> dict[str, str]:
    """Return the versions of Python and of the installed LIBRARIES."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
