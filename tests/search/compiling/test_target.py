"""The target of compiled code: kernel and release target by the CPU's features (LLVM names) and the user's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.compiling import jit, target
from search.compiling.target import TARGETS, choose_kernel, released_target

CASCADE_LAKE = frozenset({"avx2", "avx512bw", "avx512f", "avx512vl", "avx512vnni"})
ALDER_LAKE = frozenset({"avx2", "avxvnni"})
HASWELL = frozenset({"avx2", "fma"})
NEOVERSE_N1 = frozenset({"dotprod", "fp-armv8", "neon"})


@pytest.mark.parametrize(
    ("flags", "kernel"),
    [
        (CASCADE_LAKE, "vnni"),
        (CASCADE_LAKE | ALDER_LAKE, "vnni"),
        (ALDER_LAKE, "avxvnni"),
        (HASWELL, "avx2"),
        (NEOVERSE_N1, "neon"),
        (NEOVERSE_N1 - {"dotprod"}, "plain"),
    ],
)
def test_the_widest_kernel_is_chosen(flags: frozenset[str], kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LITESHOGI_KERNEL", raising=False)
    assert choose_kernel(flags) == kernel


def test_a_narrower_kernel_is_allowed_and_a_wider_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITESHOGI_KERNEL", "avxvnni")
    assert choose_kernel(CASCADE_LAKE) == "avxvnni"
    with pytest.raises(ValueError, match=r"LITESHOGI_KERNEL=avxvnni: .* avx2$"):
        choose_kernel(HASWELL)
    for flags, kernel, best in (
        (HASWELL, "neon", "avx2"),
        (NEOVERSE_N1, "avx2", "neon"),
        (frozenset(), "neon", "plain"),
    ):
        monkeypatch.setenv("LITESHOGI_KERNEL", kernel)
        with pytest.raises(ValueError, match=rf"LITESHOGI_KERNEL=.* {best}$"):
            choose_kernel(flags)
    monkeypatch.setenv("LITESHOGI_KERNEL", "sse9")
    with pytest.raises(ValueError, match="use one of vnni, avxvnni, avx2, neon, plain"):
        choose_kernel(HASWELL)


VNNI, AVX2 = TARGETS


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package with code for both targets, and leave the user's settings at their defaults."""
    monkeypatch.setattr(target, "RELEASED", tmp_path)
    for name in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(target.NUMBA_CONFIG, name, None)
    for name in ("LITESHOGI_KERNEL", "LITESHOGI_SLIDERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(target.NUMBA_CONFIG._env_reloader, "old_environ", {})
    for one in TARGETS:
        (tmp_path / one.environment).mkdir()
    return tmp_path


def test_a_release_s_code_is_for_cpus_that_run_it(package: Path) -> None:
    assert released_target(VNNI.needed | {"avxvnni", "gfni"}) is VNNI
    assert released_target(AVX2.needed | {"avxvnni"}) is AVX2
    assert released_target(VNNI.needed - {"avx512cd"}) is AVX2
    assert released_target(AVX2.needed - {"bmi2"}) is None
    (package / VNNI.environment).rmdir()
    assert released_target(VNNI.needed) is AVX2


def test_a_release_s_code_is_for_these_versions(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, version in (
        (target.numba, "__version__", "0.1.2"),
        (target.llvmlite, "__version__", "0.1.2"),
        (target.np, "__version__", "1.99.0"),
        (target, "EXTENSION_SUFFIXES", [".cpython-399-x86_64-linux-gnu.so"]),
    ):
        with monkeypatch.context() as others:
            others.setattr(module, name, version)
            assert released_target(VNNI.needed) is None
    monkeypatch.setattr(target.np, "__version__", ".".join(target.np.__version__.split(".")[:2]) + ".99")
    assert released_target(VNNI.needed) is VNNI


def test_the_user_s_settings_take_precedence(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITESHOGI_KERNEL", "avx2")
    assert released_target(VNNI.needed) is AVX2
    monkeypatch.setenv("LITESHOGI_KERNEL", "plain")
    assert released_target(VNNI.needed) is None
    monkeypatch.delenv("LITESHOGI_KERNEL")
    monkeypatch.setenv("LITESHOGI_SLIDERS", "pext")
    assert released_target(VNNI.needed) is None
    monkeypatch.delenv("LITESHOGI_SLIDERS")
    with monkeypatch.context() as others:
        others.setattr(target.NUMBA_CONFIG._env_reloader, "old_environ", {"NUMBA_BOUNDSCHECK": 1})
        assert released_target(VNNI.needed) is None
    monkeypatch.setattr(target.NUMBA_CONFIG, "CPU_NAME", "generic")
    assert released_target(VNNI.needed) is None


def test_numba_set_not_to_compile_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target.NUMBA_CONFIG, "DISABLE_JIT", 1)
    with pytest.raises(ValueError, match="NUMBA_DISABLE_JIT"):
        jit._choose()
