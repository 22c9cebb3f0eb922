"""Each system's report of the dot product of 64-bit ARM, and its use in compiled code."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from search.compiling import arm, jit, target
from search.compiling.target import cpu_flags

SYSTEMS = ("linux", "darwin", "win32")


@pytest.fixture(params=SYSTEMS)
def answer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Simulate 64-bit ARM under each system, whose documented call returns `has`."""
    reported = {"has": 1}

    def getauxval(kind: ctypes.c_ulong) -> int:
        return (reported["has"] << 20 | 0b11) if kind.value == 16 else 0

    def sysctlbyname(name: bytes, value: Any, size: Any, *_: object) -> int:
        assert size._obj.value == 4
        if name == b"hw.optional.arm.FEAT_DotProd":
            value._obj.value = reported["has"]
        return 0

    def present(feature: int) -> int:
        return reported["has"] if feature == 43 else 0

    monkeypatch.setattr("platform.machine", lambda: {"linux": "aarch64", "win32": "ARM64"}.get(request.param, "arm64"))
    monkeypatch.setattr(sys, "platform", request.param)
    library = SimpleNamespace(getauxval=getauxval, sysctlbyname=sysctlbyname)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    windows = SimpleNamespace(IsProcessorFeaturePresent=present)
    monkeypatch.setattr(ctypes, "WinDLL", lambda _: windows, raising=False)
    return reported


def test_each_system_is_asked_by_its_own_call(answer: dict[str, int]) -> None:
    assert arm.has_dot_product()
    assert "dotprod" in cpu_flags()
    answer["has"] = 0
    assert not arm.has_dot_product()
    assert "dotprod" not in cpu_flags()


def test_other_cpus_and_silent_systems_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "freebsd")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr("platform.machine", lambda name=machine: name)
        assert not arm.has_dot_product()


def test_a_system_unknown_to_llvm_has_no_features(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr(target.binding, "get_host_cpu_features", fail)
    monkeypatch.setattr(target, "has_dot_product", lambda: False)
    assert cpu_flags() == frozenset()


def test_code_for_the_kernel_may_use_its_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(jit.NUMBA_CONFIG, name, None)
    monkeypatch.delenv("LITESHOGI_KERNEL", raising=False)
    monkeypatch.setattr(jit, "cpu_flags", lambda: frozenset({"dotprod", "neon"}))
    assert jit._choose()[0] == "neon"
    assert jit.NUMBA_CONFIG.CPU_FEATURES == "+dotprod,+neon"
