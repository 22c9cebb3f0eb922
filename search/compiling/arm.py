"""Whether a 64-bit ARM CPU has the dot product (`sdot`), which LLVM does not detect.

LLVM reports host features such as `neon` and `crc` on Linux and on Windows, and none on macOS
(llvm/lib/TargetParser/Host.cpp), so each system is asked in its own way.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from contextlib import suppress
from typing import Any

_AT_HWCAP = 16
_HWCAP_ASIMDDP = 1 << 20
"""Linux's constants for it (the kernel's Documentation/arch/arm64/elf_hwcaps.rst)."""
_SYSCTL = b"hw.optional.arm.FEAT_DotProd"
"""Apple's name for it, known since macOS 12."""
_PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE = 43
"""Windows's constant for it, for IsProcessorFeaturePresent."""


def has_dot_product() -> bool:
    """Return whether this CPU has the instruction; False where the system does not report it."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return False
    with suppress(AttributeError, OSError):
        if sys.platform == "win32":
            windows: Any = ctypes.WinDLL("kernel32")
            return bool(windows.IsProcessorFeaturePresent(_PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE))
        system: Any = ctypes.CDLL(None)
        if sys.platform == "darwin":
            value, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
            system.sysctlbyname(_SYSCTL, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
            return bool(value.value)
        return bool(system.getauxval(ctypes.c_ulong(_AT_HWCAP)) & _HWCAP_ASIMDDP)
    return False
