"""The packages that pip installs: made from committed sources, for suitable CPUs, and ready without compiling."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from liteshogi import __version__
from release import wheels
from release.wheels import compile_for, make_wheels, platform_tag, write_sources
from search.alphabeta.bench import SIGNATURE
from search.compiling.target import TARGETS, cpu_flags


def test_uncommitted_sources_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "_git", lambda *words: b" M search/score.py\n?? search/new.py\n")
    with pytest.raises(ValueError, match=r"not as committed: search/score\.py and 1 more: commit"):
        write_sources(tmp_path / "sources")
    monkeypatch.setattr(wheels, "_git", lambda *words: b"?? search/new.py\n")
    with pytest.raises(ValueError, match=r"not as committed: search/new\.py: commit"):
        write_sources(tmp_path / "sources")
    assert not (tmp_path / "sources").exists()


def test_code_for_another_cpu_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vnni, avx2 = TARGETS
    monkeypatch.setattr(wheels, "cpu_flags", lambda: avx2.needed | {"avx512f"})
    with pytest.raises(ValueError, match="this one lacks avx512bw, avx512cd, avx512dq, avx512vl, avx512vnni"):
        compile_for(vnni, tmp_path)
    assert not list(tmp_path.iterdir())


def test_files_of_older_releases_are_not_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "write_sources", lambda sources: None)
    monkeypatch.setattr(wheels, "compile_for", lambda target, sources: None)
    monkeypatch.setattr(wheels, "build", lambda *_: (tmp_path / f"liteshogi-{__version__}-x.whl").touch())
    (tmp_path / "liteshogi-0.0.1-x.whl").touch()
    assert [path.name for path in make_wheels(tmp_path)] == [f"liteshogi-{__version__}-x.whl"]


def test_sources_outside_a_checkout_are_refused_in_one_line(tmp_path: Path) -> None:
    shutil.copytree("release", tmp_path / "release", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "release", str(tmp_path / "dist")]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.fullmatch(
        r"error: Command .*'git'.* status 128.\n", ended.stderr.split("repository", 1)[-1].split("\n", 1)[-1]
    )


def _install(python: Path, *what: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *what], check=True)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kernel", [target.kernel for target in TARGETS])
def test_a_bare_install_is_ready_without_compiling(kernel: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The limit is in CPU seconds of all engine processes, which depend less on the load of the machine."""
    runnable = [target for target in TARGETS if not target.needed - cpu_flags()]
    if kernel not in (target.kernel for target in runnable):
        pytest.skip(f"this CPU cannot run what is compiled for {kernel}")
    place = tmp_path_factory.getbasetemp() / "release"
    python = place / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not place.exists():
        made = make_wheels(place / "dist", runnable)
        wheel, sources = (
            next(path for path in made if path.name.endswith(f"-none-{tag}.whl")) for tag in (platform_tag(), "any")
        )
        assert not [name for name in zipfile.ZipFile(sources).namelist() if name.endswith(".nbc")]
        subprocess.run([sys.executable, "-m", "venv", place / "bare"], check=True)
        _install(python, str(wheel))
    cache = place / f"cache-{kernel}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_"))}
    environment |= {"LITESHOGI_CACHE": str(cache), "LITESHOGI_KERNEL": kernel}
    resource = pytest.importorskip("resource", reason="POSIX's")
    used, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    script = "usi\nisready\nposition startpos\ngo depth 1\nquit\n"
    engine = [python, "-m", "liteshogi"]
    done = subprocess.run(engine, input=script, capture_output=True, text=True, env=environment, cwd=place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    print(f"{kernel}: {seconds:.2f} CPU seconds, {time.perf_counter() - begun:.2f} s")
    assert "readyok" in done.stdout
    assert "bestmove" in done.stdout
    assert done.stderr == ""
    assert not list(cache.rglob("*.nbc"))
    assert seconds < 4
    bench = subprocess.run([*engine, "bench"], capture_output=True, text=True, env=environment, cwd=place, check=True)
    assert str(SIGNATURE) in bench.stdout
