"""A dialogue with a USI engine through pipes."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from experiments.language.catalogue import shown
from search.usi.streams import decode_line

NOTICE_SECONDS = 5.0
"""Seconds of a wait after which it is reported on standard error."""
QUIT_SECONDS = 2.0
"""Seconds that an engine has to end after `quit`, or after it closed its output, before it is killed."""


class Dialogue:
    """A running engine behind pipes; a context manager that ends it, by a kill if `quit` does not."""

    def __init__(self, name: str, command: list[str], directory: Path, environment: Mapping[str, str]) -> None:
        self._name = name
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __exit__)
        try:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                process_group=0 if os.name == "posix" else None,  # a script's engine ends with the script
            )
        except OSError as error:
            raise ValueError(f"{name}: cannot be started: {error.strerror}") from error
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(" ".join(decode_line(line).split()))  # some align their figures
        self._lines.put(None)

    def send(self, line: str) -> None:
        """Write a line. A write to an engine that has ended is ignored; `until` reports that."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def until(self, word: str, seconds: float, notice: bool = True) -> list[str]:
        """Return the lines up to the one whose first word is `word`; ValueError if the engine ends or is too slow.

        `notice`: report a long wait on standard error.
        """
        begun = time.monotonic()
        lines: list[str] = []
        noticed = not notice
        while True:
            waited = time.monotonic() - begun
            if waited >= seconds:
                raise ValueError(f"{self._name}: no {word} within {seconds:.0f} seconds; check that it speaks USI")
            if waited >= NOTICE_SECONDS and not noticed:
                print(shown(f"waiting for {word} from {self._name}"), file=sys.stderr, flush=True)
                noticed = True
            try:
                line = self._lines.get(timeout=min(1.0, seconds - waited))
            except queue.Empty:
                continue
            if line is None:
                self._lines.put(None)  # a later wait ends at once, too
                raise ValueError(f"{self._name}: ended before {word}{self._exit_text(lines)}")
            lines.append(line)
            if line.partition(" ")[0] == word:
                return lines

    def cpu_seconds(self) -> float:
        """Return the CPU time of the engine's process, all threads together, without its child processes."""
        if sys.platform == "linux":
            # The clock id of another process's CPU time, as glibc's clock_getcpuclockid computes it. It resolves
            # nanoseconds; psutil counts ticks of 10 ms.
            return time.clock_gettime((~self._process.pid << 3) | 2)
        import psutil

        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def _exit_text(self, lines: list[str]) -> str:
        """Return the exit status and the reason: the last line on standard error, else the last `info string`."""
        try:
            status = f"status {self._process.wait(QUIT_SECONDS)}"
        except subprocess.TimeoutExpired:  # it closed only its output
            status = "still running"
        self._errors.seek(0)
        reasons = [line.removeprefix("info string ") for line in lines if line.startswith("info string ")]
        reasons += decode_line(self._errors.read()).strip().splitlines()
        return f" ({status})" + (f": {reasons[-1].strip()}" if reasons else "")

    def __enter__(self) -> Dialogue:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self.send("quit")
        with contextlib.suppress(OSError):  # unwritten output of a dead engine
            self._process.stdin.close()
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        finally:
            self._process.wait()
            self._errors.close()
