"""The program and the machine that a result comes from: version, commit, libraries, CPU, kernel, cores."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

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


@dataclass(frozen=True)
class Program:
    """Everything of a program and its machine that figures or speed may depend on; None where it is not recorded."""

    version: str | None = None
    commit: str | None = None
    cpu: str | None = None
    kernel: str | None = None
    """Kernel of the integer networks."""

    @property
    def name(self) -> str:
        """The version and the commit for readers."""
        return f"{self.version} {(self.commit or '')[:12]}".strip() if self.version else UNKNOWN

    @property
    def machine(self) -> str:
        """The CPU and the kernel for readers."""
        return f"{self.cpu}, {self.kernel}" if self.cpu and self.kernel else UNKNOWN


def program() -> Program:
    """Return this program on this machine."""
    return Program(release(), commit(), cpu_name(), KERNEL)


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
