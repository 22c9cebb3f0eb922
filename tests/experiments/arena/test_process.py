"""ShogiArena as a process: how it is ended, and where it does not start."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.arena import process as arena


def test_an_unsupported_version_of_shogiarena_is_refused_with_a_solution(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: "found")
    monkeypatch.setattr(arena, "installed_program", Path)
    versions = {(3, 14): "1.3.2", (3, 13): "1.3.2", (3, 15): "1.4.0"}
    for python, version in versions.items():
        monkeypatch.setattr(sys, "version_info", (*python, 1))
        monkeypatch.setattr("importlib.metadata.version", lambda _, found=version: found)
        if python == (3, 14):
            with pytest.raises(ValueError, match=r"1\.3\.2 does not start on Python 3\.14: .* with Python 3\.11"):
                arena.check_arena()
        else:
            arena.check_arena()


def test_a_shogiarena_in_its_own_environment_is_found(monkeypatch, tmp_path):
    program = tmp_path / ("shogiarena.exe" if sys.platform == "win32" else "shogiarena")
    program.touch(mode=0o755)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for python, error, words in (((3, 12), ValueError, "pipx install shogiarena"), ((3, 13), ImportError, "not inst")):
        monkeypatch.setattr(sys, "version_info", (*python, 1))
        monkeypatch.setenv("PATH", str(tmp_path.parent))
        with pytest.raises(error, match=words):
            arena.check_arena()
        monkeypatch.setenv("PATH", str(tmp_path))
        arena.check_arena()
        assert arena.find_arena() == program


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_are_passed_to_shogiarena(tmp_path, name):
    """A program in place of ShogiArena needs a second to end and is not killed before."""
    program = tmp_path / "shogiarena"
    program.write_text(
        f"#!{sys.executable}\nimport signal, time\n"
        "try:\n    print('begun', flush=True, file=open('begun', 'w'))\n    time.sleep(100)\n"
        "except KeyboardInterrupt:\n    time.sleep(1)\n    open('closed', 'w')\n"
    )
    program.chmod(0o755)
    script = (
        f"import sys; sys.path.insert(0, {str(Path(arena.__file__).parents[2])!r})\n"
        "from pathlib import Path; from experiments.arena import process\n"
        f"process.find_arena = lambda: Path({str(program)!r})\n"
        "try: process.run_arena(Path(), 'run')\nexcept KeyboardInterrupt: sys.exit(130)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "begun").exists() or not (tmp_path / "begun").read_text():
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == 130
    assert (tmp_path / "closed").exists()
