"""When the GUI dies or a signal arrives, the process ends and leaves nothing behind, whatever is running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process numbers of POSIX")

READY = ("setoption name USI_Hash value 8", "setoption name Threads value 2", "isready")
UNDER_WAY = {
    "idle": ((), "readyok"),
    "infinite": (("position startpos", "go infinite"), "info depth 5"),
    "several lines": (("setoption name MultiPV value 5", "position startpos", "go infinite"), "info depth 3"),
    "ponder": (("position startpos moves 7g7f", "go ponder btime 60000 wtime 60000 byoyomi 10000"), "info depth 5"),
    "ponderhit": (("go ponder btime 600000 wtime 600000", "ponderhit"), "info depth 5"),
    "byoyomi": (("position startpos", "go btime 0 wtime 0 byoyomi 600000"), "info depth 5"),
    "a long one at once": (("position startpos", "go infinite", "setoption name USI_Hash value 16"), "info depth 1"),
    "mate": (("position startpos", "go mate infinite"), "readyok"),
}
QUICK = ("infinite", "ponder", "mate")
SITUATIONS = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in UNDER_WAY]
# A GUI that starts an engine, reports its process number, sends lines and reads until it is killed.
GUI = """
import subprocess, sys
engine = subprocess.Popen([sys.executable, "-m", "liteshogi"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(engine.pid, flush=True)
engine.stdin.write(sys.argv[1])
engine.stdin.flush()
for line in engine.stdout:
    print(line, end="", flush=True)
"""


def is_gone(number: int) -> bool:
    """Return whether a process has ended; a process without a wait for its status counts as ended."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:  # it ended just now, or the system has no /proc
        return False


def wait_until_gone(number: int) -> None:
    """Wait at most a minute for the end of a process."""
    begun = time.monotonic()
    while not is_gone(number):
        assert time.monotonic() - begun < 60, f"process {number} lives on"
        time.sleep(0.005)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_gui_that_is_killed_leaves_no_engine(tmp_path, name):
    commands, sign = UNDER_WAY[name]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    lines = "".join(f"{line}\n" for line in (*READY, *commands))
    with subprocess.Popen(
        [sys.executable, "-c", GUI, lines], stdout=subprocess.PIPE, text=True, env=environment
    ) as gui:
        assert gui.stdout is not None
        engine = int(gui.stdout.readline())
        for line in gui.stdout:
            if line.startswith(sign):
                break
        gui.kill()
        gui.wait()
        wait_until_gone(engine)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process(start, tmp_path, name, number):
    commands, sign = UNDER_WAY[name]
    session = start(TMPDIR=str(tmp_path))
    session.send(*READY, *commands)
    session.until(sign)
    session.process.send_signal(number)
    assert session.ended() == -number
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [one for one in SITUATIONS if one.values[0] not in ("infinite", "ponder")])
def test_a_closed_pipe_ends_the_process(start, name):
    """`test_usi_dialogue.py` tests this in the two other situations."""
    commands, sign = UNDER_WAY[name]
    session = start()
    session.send(*READY, *commands)
    session.until(sign)
    session.close_input()
    assert session.ended() == 0
