"""The kernel by what a CPU has, as LLVM spells it, and by what the user asks for."""

from __future__ import annotations

import pytest

from search.machine.jit import choose_kernel

CASCADE_LAKE = frozenset({"avx2", "avx512bw", "avx512f", "avx512vl", "avx512vnni"})
ALDER_LAKE = frozenset({"avx2", "avxvnni"})
HASWELL = frozenset({"avx2", "fma"})


@pytest.mark.parametrize(
    ("flags", "kernel"),
    [
        (CASCADE_LAKE, "vnni"),
        (CASCADE_LAKE | ALDER_LAKE, "vnni"),
        (ALDER_LAKE, "avxvnni"),
        (HASWELL, "avx2"),
        (frozenset({"neon"}), "plain"),
    ],
)
def test_the_widest_kernel_is_chosen(flags: frozenset[str], kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LITESHOGI_KERNEL", raising=False)
    assert choose_kernel(flags) == kernel


def test_a_narrower_kernel_can_be_had_and_a_wider_one_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITESHOGI_KERNEL", "avxvnni")
    assert choose_kernel(CASCADE_LAKE) == "avxvnni"
    with pytest.raises(ValueError, match="LITESHOGI_KERNEL=avxvnni: this CPU cannot run it; unset it, or use avx2"):
        choose_kernel(HASWELL)
    monkeypatch.setenv("LITESHOGI_KERNEL", "sse9")
    with pytest.raises(ValueError, match="use one of vnni, avxvnni, avx2, plain"):
        choose_kernel(HASWELL)
