"""ShogiArena as a process: how it is told to end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.arena import process as arena


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_request_to_end_reaches_shogiarena(tmp_path, name):
    """A program in ShogiArena's place takes a second to close its books, and is given it."""
    program = tmp_path / "shogiarena"
    program.write_text(
        f"#!{sys.executable}\nimport signal, time\n"
        "try:\n    print('begun', flush=True, file=open('begun', 'w'))\n    time.sleep(100)\n"
        "except KeyboardInterrupt:\n    time.sleep(1)\n    open('closed', 'w')\n"
    )
    program.chmod(0o755)
    script = (
        f"import sys; sys.path.insert(0, {str(Path(arena.__file__).parents[2])!r})\n"
        "from pathlib import Path; from experiments.arena.process import run_arena\n"
        f"sys.executable = {str(tmp_path / 'python')!r}\n"
        "try: run_arena(Path(), 'run')\nexcept KeyboardInterrupt: sys.exit(130)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "begun").exists() or not (tmp_path / "begun").read_text():
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == 130
    assert (tmp_path / "closed").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
def test_what_a_script_left_behind_can_end_what_it_starts():
    """A shell has programs in its background ignore SIGINT, `nohup` SIGHUP; programs that they start inherit both."""
    ask = [sys.executable, "-c", "import signal; print([signal.getsignal(n) == signal.SIG_IGN for n in (2, 1)])"]
    before = [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)]
    try:
        assert subprocess.check_output(ask, text=True) == "[True, True]\n"
        with arena.ends_as_interrupts():
            assert subprocess.check_output(ask, text=True) == "[False, True]\n"
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGHUP, before[1])
