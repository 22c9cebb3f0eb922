"""Start of the process, and its prompt end whatever it is doing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from search.usi.streams import SCRIPT_SECONDS
from tests.usi_session import InProcess

COMMAND = [sys.executable, "-m", "liteshogi"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and closed streams of POSIX")
HARD_MATE = "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1"
"""Microcosmos, a mate in 1,525."""
# Block the import of numba in the started process until a file exists.
GATE = """
import importlib.abc, os, sys, time
class Gate(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        while name in ("numba", "llvmlite", "numpy") and not os.path.exists(os.environ["NUMBA_GATE"]):
            time.sleep(0.01)
sys.meta_path.insert(0, Gate())
"""


def silent(session) -> bool:
    """Return whether no bestmove has arrived after some time."""
    time.sleep(0.3)
    return not [line for line in session.waiting() if line.startswith("bestmove")]


@POSIX
def test_the_process_ends_when_its_output_is_not_read():
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(b"usi\n")
        process.stdin.flush()
        assert process.wait(60) == 0


@POSIX
def test_the_process_ends_when_the_gui_is_killed(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(GATE)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_GATE": str(tmp_path / "never")}
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"usi\nisready\ngo infinite\n")
        process.stdin.flush()
        while process.stdout.readline() != b"usiok\n":
            pass
        process.stdin.close()
        process.stdout.close()
        assert process.wait(60) == 0


@POSIX
def test_the_process_ends_without_input():
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND], input=b"usi\nquit\n", timeout=60)
    assert done.returncode == 0


def test_every_command_of_a_script_is_answered():
    # Without `quit`, as PowerShell pipes it.
    script = "\ufeffusi\r\nisready\r\nposition startpos\r\ngo nodes 50000\r\n"
    done = subprocess.run(COMMAND, input=script.encode(), capture_output=True, timeout=250)
    lines = done.stdout.decode().splitlines()
    assert lines.count("usiok") == lines.count("readyok") == 1
    assert lines[-1].startswith("bestmove ")
    assert int(lines[-2].split(" nodes ")[1].split()[0]) >= 50_000
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("go", ["go infinite", "go", "go ponder nodes 50000", "go byoyomi 600000", "go mate infinite"])
def test_a_search_that_does_not_end_in_time_is_interrupted_at_the_end_of_a_script(go):
    script = f"isready\nposition sfen {HARD_MATE}\n{go}\n"
    done = subprocess.run(COMMAND, input=script.encode(), capture_output=True, timeout=120)
    assert done.stdout.decode().splitlines()[-1].split()[0] in ("bestmove", "checkmate")


def test_a_search_is_interrupted_soon_after_the_end_of_a_session(start):
    session = start()
    session.send("isready").until("readyok")
    time.sleep(SCRIPT_SECONDS)
    session.send("position startpos", "go nodes 1000000000").until("info depth 5")
    session.close_input()
    session.until("bestmove")
    assert session.ended() == 0


def test_usiok_comes_before_numba_is_imported(start, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(GATE)
    gate = tmp_path / "open"
    session = start(PYTHONPATH=str(tmp_path), NUMBA_GATE=str(gate))
    session.send("usi").until("usiok")
    session.send("isready")
    assert silent(session)
    gate.touch()
    session.until("readyok")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_libraries_see_an_empty_standard_input(start):
    session = start()
    session.send("isready").until("readyok")
    assert os.readlink(f"/proc/{session.process.pid}/fd/0") == os.devnull
    session.send("usi").until("usiok")


def test_the_process_can_end_during_isready(start, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(GATE)
    quitting, closed = (start(PYTHONPATH=str(tmp_path), NUMBA_GATE=str(tmp_path / "never")) for _ in range(2))
    for session in (quitting, closed):
        session.send("usi").until("usiok")
    time.sleep(SCRIPT_SECONDS + 0.2)  # after the time in which the end of input counts as a script's
    for session in (quitting, closed):
        session.send("isready", "position startpos", "go infinite")
    quitting.send("quit")
    closed.close_input()
    for session in (quitting, closed):
        assert session.ended() == 0
        assert "readyok" not in session.waiting()


def test_a_process_ended_while_compiling_leaves_a_usable_cache(start, tmp_path):
    session = start(LITESHOGI_CACHE=str(tmp_path))
    session.send("usi").until("usiok")
    session.send("isready")
    while not list(tmp_path.glob("*/*/*.nbc")):
        time.sleep(0.05)
    session.process.kill()
    session.process.wait()
    held = start(LITESHOGI_CACHE=str(tmp_path))
    held.send("usi").until("usiok")
    held.send("isready")
    time.sleep(0.2)
    held.close_input()
    assert held.ended() == 0


def test_the_second_start_compiles_nothing(start, tmp_path):
    from search.compiling.jit import CACHE_DIRECTORY

    start().send("isready").until("readyok")
    # Use a copy, because concurrent tests compile other code. Copy the indices first, because an index names files that
    # existed before it.
    own = tmp_path / CACHE_DIRECTORY.name
    for kind in ("*.nbi", "*.nbc"):
        for path in CACHE_DIRECTORY.glob(f"search.*/{kind}"):
            (own / path.parent.name).mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, own / path.parent.name)

    def files() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in own.glob("*/*.nb?")}

    before = files()
    assert before
    session = start(LITESHOGI_CACHE=str(tmp_path))
    session.send("usi", "isready").until("readyok")
    session.send("position startpos", "go nodes 2000").bestmove()
    session.send("setoption name MultiPV value 2", "setoption name Threads value 2")
    session.send("position sfen 8k/9/8G/9/9/9/9/9/K8 b G 1", "go depth 4").bestmove()
    assert files() == before


def test_a_gui_gets_empty_lines_during_isready(monkeypatch):
    import search.usi.session
    import search.warmup

    release = threading.Event()
    monkeypatch.setattr(search.usi.session, "KEEP_ALIVE_SECONDS", 0.02)
    monkeypatch.setattr(search.warmup, "warm_up", release.wait)
    session = InProcess()
    session.send("isready")
    session.until("")
    session.until("")
    release.set()
    assert session.until("readyok")[-1] == "readyok"


@pytest.mark.parametrize("kernel", ["vnni", "neon", "nonsense"])
def test_a_kernel_that_this_cpu_lacks_is_reported_at_once(start, kernel):
    from search.compiling.target import cpu_flags

    if kernel == "vnni" and "avx512vnni" in " ".join(cpu_flags()).replace("_", ""):
        pytest.skip("this CPU has it")
    if kernel == "neon" and "neon" in cpu_flags():
        pytest.skip("this CPU has it")
    session = start(LITESHOGI_KERNEL=kernel)
    lines = session.send("usi", "isready", "position startpos", "go depth 3").until("info string Error!")
    assert kernel in lines[-1]
    assert session.ended() == 1
    assert not [line for line in lines if "cannot import name" in line]
