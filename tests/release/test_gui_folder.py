"""The folder for GUIs: its files are complete, and its start file runs the engine from any directory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from liteshogi import __version__
from release.gui_folder import fill_folder

posix = pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    wheel = tmp_path / f"liteshogi-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    fill_folder(tmp_path / "my engines", [wheel])
    return tmp_path / "my engines"


def test_files_are_complete_and_have_the_line_ends_of_their_system(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {
        *("LiteShogi.bat", "LiteShogi.sh", "setup.bat", "setup.sh", "README.txt", "LICENSE", "networks", "wheels")
    }
    assert (folder / "networks" / "default.safetensors").stat().st_size > 900_000
    for path in (*folder.glob("*.bat"), *folder.glob("*.sh"), folder / "README.txt"):
        content = path.read_bytes()
        assert not re.search(rb"@[A-Z]+@", content), path.name
        ends = {".sh": (0, b"\n")}.get(path.suffix, (content.count(b"\n"), b"\r\n"))
        assert (content.count(b"\r\n"), content[-len(ends[1]) :]) == ends, path.name
        if path.suffix != ".txt":
            content.decode("ascii")
    assert f"liteshogi=={__version__}" in (folder / "setup.bat").read_text()


@posix
def test_the_start_file_passes_arguments_and_input_to_the_engine(folder: Path, tmp_path: Path) -> None:
    python = folder / "engine" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\ncat\n')
    python.chmod(0o755)
    (folder / "engine" / "ready").touch()
    (tmp_path / "link").symlink_to(folder / "LiteShogi.sh")
    for start in (folder / "LiteShogi.sh", tmp_path / "link"):
        command = [start, "eval", "a b"]
        done = subprocess.run(command, input="usi\n", capture_output=True, text=True, cwd="/", timeout=60)
        assert (done.stdout, done.stderr) == ("-I -m liteshogi eval a b\nusi\n", "")


@posix
def test_a_first_start_without_python_reports_it_and_starts_nothing(folder: Path, tmp_path: Path) -> None:
    for name in (f"python{sys.version_info.major}.{sys.version_info.minor}", "python3"):
        old = tmp_path / "bin" / name
        old.parent.mkdir(exist_ok=True)
        old.write_text("#!/bin/sh\nexit 1\n")
        old.chmod(0o755)
    environment = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    start = [folder / "LiteShogi.sh"]
    done = subprocess.run(start, input="usi\n", capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Python 3.11 or later is missing" in done.stderr
    assert not (folder / "engine").exists()


SET_UP = ["venv", "wheel", "dependencies", "warmup"]
STAND_IN = f"""#!/bin/sh
case "$*" in
    "-c "*) exec {sys.executable} "$@" ;;
    *venv*) echo venv >>said; rm -rf engine; mkdir -p engine/bin; cp "$0" engine/bin/python ;;
    *no-index*) echo wheel >>said; sleep ${{HANGS:-1}}; touch engine/liteshogi ;;
    *constraint*) echo dependencies >>said ;;
    *warmup*) echo warmup >>said; exec test -e engine/liteshogi ;;
    *) echo an engine ;;
esac
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose Python writes the purpose of each call to the file `said` of the folder."""
    python = tmp_path / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    python.parent.mkdir()
    python.write_text(STAND_IN)
    python.chmod(0o755)
    return {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def start_until_the_wheel(folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    start = [folder / "LiteShogi.sh"]
    first = subprocess.Popen(
        start, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environment, start_new_session=True
    )
    while not ((folder / "said").exists() and "wheel" in (folder / "said").read_text()):
        assert first.poll() is None
        time.sleep(0.01)
    return first


@posix
def test_one_of_two_concurrent_first_starts_sets_up_and_both_play(folder: Path, stand_in: dict[str, str]) -> None:
    with start_until_the_wheel(folder, stand_in) as first:
        second = subprocess.run([folder / "LiteShogi.sh"], capture_output=True, text=True, timeout=60, env=stand_in)
        assert (first.communicate(timeout=60)[0], second.stdout) == ("an engine\n", "an engine\n")
    assert (folder / "said").read_text().split() == SET_UP
    by_hand = stand_in | {"HANGS": "0"}
    subprocess.run([folder / "setup.sh"], capture_output=True, check=True, timeout=60, env=by_hand)
    assert (folder / "said").read_text().split() == 2 * SET_UP


@posix
def test_a_killed_first_start_does_not_block_the_next(folder: Path, stand_in: dict[str, str]) -> None:
    with start_until_the_wheel(folder, stand_in | {"HANGS": "100"}) as first:
        os.killpg(first.pid, signal.SIGKILL)
    second = subprocess.run(
        [folder / "LiteShogi.sh"], capture_output=True, text=True, timeout=60, env=stand_in | {"HANGS": "0"}
    )
    assert second.stdout == "an engine\n"
    assert (folder / "said").read_text().split() == [*SET_UP[:2], *SET_UP]
