"""The memory that a container or a batch job leaves to a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from search.alphabeta.transposition import TranspositionTable
from search.mate.solver import MateSolver
from search.puct.tree_memory import Tree
from search.system import control_groups, memory_left

MACHINE = "MemTotal:       4096 kB\nMemAvailable:    2048 kB\n"
STAT = "anon 1000\ninactive_file 300000\nactive_file 200000\n"


@pytest.mark.parametrize(
    ("membership", "files", "left"),
    [
        ("", {"meminfo": ""}, None),
        ("0::/\n", {}, 2 << 20),
        ("0::/\n", {"memory.max": "max\n", "memory.current": "1000000\n"}, 2 << 20),
        ("0::/\n", {"memory.max": "1000000\n", "memory.current": "700000\n"}, 300_000),
        ("0::/\n", {"memory.max": "1000000\n", "memory.current": "700000\n", "memory.stat": STAT}, 800_000),
        ("0::/\n", {"memory.max": "1000000\n", "memory.current": "1200000\n"}, 0),
        ("0::/job/step\n", {"job/memory.max": "1000000\n", "job/memory.current": "1\n"}, 999_999),
        ("0::/docker/1\n", {"memory.max": "1000000\n", "memory.current": "1\n", "meminfo": ""}, 999_999),
        (
            "4:memory:/job\n0::/\n",
            {
                "memory/memory.limit_in_bytes": "9223372036854771712\n",
                "memory/memory.usage_in_bytes": "5\n",
                "memory/job/memory.limit_in_bytes": "1000000\n",
                "memory/job/memory.usage_in_bytes": "700000\n",
                "memory/job/memory.stat": "inactive_file 7\ntotal_inactive_file 100000\ntotal_active_file 0\n",
            },
            400_000,
        ),
    ],
)
def test_memory_left_by_machine_and_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, membership: str, files: dict[str, str], left: int | None
) -> None:
    for name, text in ({"meminfo": MACHINE, "membership": membership} | files).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory_left, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(control_groups, "_GROUPS", tmp_path)
    monkeypatch.setattr(control_groups, "_MEMBERSHIP", tmp_path / "membership")
    assert memory_left.memory_left() == left


@pytest.mark.parametrize(("kind", "named"), [(TranspositionTable, "table"), (MateSolver, "mate table"), (Tree, "tree")])
def test_a_table_larger_than_a_container_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Callable[[int], object], named: str
) -> None:
    for name, text in {"membership": "0::/\n", "memory.max": str(64 << 20), "memory.current": "0"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(control_groups, "_GROUPS", tmp_path)
    monkeypatch.setattr(control_groups, "_MEMBERSHIP", tmp_path / "membership")
    with pytest.raises(MemoryError, match=f"^a {named} of 65 MB does not fit: 64 MB of memory are free"):
        kind(65)
    kind(2)
