"""The number of cores that a container or a batch job leaves to a process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from search.system import control_groups, cores


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("membership", "files", "usable"),
    [
        ("0::/\n", {}, 8),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/job/step\n", {"job/cpu.max": "200000 100000\n", "job/step/cpu.max": "max 100000\n"}, 2),
        ("0::/job\n", {"job/cpu.max": "9900000 100000\n"}, 8),
        ("0::/docker/1\n", {"cpu.max": "400000 100000\n"}, 4),  # the host's path, the container's files
        ("4:cpu,cpuacct:/\n3:cpuset:/\n0::/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ("4:cpuacct,cpu:/a\n", {"cpu/a/cpu.cfs_quota_us": "200000\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, 2),
    ],
)
def test_a_share_of_the_time_is_counted_in_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, membership: str, files: dict[str, str], usable: int
) -> None:
    write(tmp_path, {"membership": membership} | {f"groups/{name}": text for name, text in files.items()})
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(control_groups, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(control_groups, "_MEMBERSHIP", tmp_path / "membership")
    assert cores.usable_cores() == usable


@pytest.mark.parametrize("name", [b"\xe6\x97\xa5\xe6\x9c\xac", b"\xff"])
def test_a_group_may_have_any_name_in_any_locale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes) -> None:
    (tmp_path / "membership").write_bytes(b"0::/" + name + b"\n")
    monkeypatch.setattr("io.text_encoding", lambda encoding, *_: encoding or "ascii")  # what read_text asks
    monkeypatch.setattr(control_groups, "_MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(control_groups, "_GROUPS", tmp_path)
    assert (2, tmp_path / os.fsdecode(name)) in control_groups.groups_of("cpu")


def test_work_is_shared_among_the_cores_that_the_process_may_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.jobs.workforce import Workforce
    from experiments.judge.judge import Judging
    from experiments.loop.options import Loop
    from experiments.matches.in_process_games import InProcessGames

    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5}, raising=False)
    assert Workforce().workers == Judging("engine").workers == Loop().workers == InProcessGames().parallel == 1
