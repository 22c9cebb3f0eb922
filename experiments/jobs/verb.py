"""A verb of this program in a process of its own: it can be told which cores are its own, stopped, and what it used is
known, whatever else runs beside it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from experiments.jobs.protocol import Stopped
from search.system.folder_lock import FolderLock

LAST_WORDS = 500
"""Characters of what a failed verb has said."""
WITHOUT_FRAMES = str.maketrans("╭╮╰╯│─", 6 * " ")
"""Tyro draws a frame around what it says of options."""
WAIT_SECONDS = 0.5


class Verbs:
    """Runs verbs one after another. `stop` may come from another thread."""

    def __init__(self, cores: Collection[int] = ()) -> None:
        """`cores`: what each is bound to, where the system can; empty: to what this process is."""
        self._cores = cores
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, words: Sequence[str], folder: Path | None = None) -> tuple[str, dict[str, float]]:
        """(What `liteshogi` with these words prints in a folder, {seconds, cpu_seconds}).

        Raises ValueError with its last words if it fails, Stopped where `stop` was called.
        """
        begun = time.monotonic()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
            with self._lock:
                if self._stopped:
                    raise Stopped
                process = subprocess.Popen(
                    [sys.executable, "-m", "liteshogi", *words],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=said,
                    process_group=0,  # Ctrl-C is handed on by `stop`, once
                )
                self._process = process
                if self._cores and hasattr(os, "sched_setaffinity"):
                    os.sched_setaffinity(process.pid, self._cores)
            try:
                status, cpu_seconds = _ended(process)
            except BaseException:
                self.stop()
                process.wait()
                raise
            with self._lock:
                process.returncode = status
                self._process = None
            if self._stopped:
                raise Stopped
            words_of = {}
            for name, file in (("printed", printed), ("said", said)):
                file.seek(0)
                words_of[name] = file.read().decode("utf-8", "replace")
        if process.returncode:
            said_in_a_line = " ".join(words_of["said"].translate(WITHOUT_FRAMES).split())
            last = said_in_a_line[-LAST_WORDS:] or f"ended with {process.returncode}"
            raise ValueError(f"liteshogi {' '.join(words)}: {last}")
        used = {"seconds": time.monotonic() - begun, "cpu_seconds": cpu_seconds}
        return words_of["printed"], {name: round(value, 1) for name, value in used.items()}

    @contextmanager
    def alone_in(self, folder: Path) -> Iterator[None]:
        """Within it nobody else works in a folder: waits for whom is at work there, as a verb that outlived its starter
        may be. Raises Stopped where `stop` was called."""
        lock = FolderLock(folder)
        while not self._stopped:
            try:
                lock.take()
                break
            except ValueError:
                time.sleep(WAIT_SECONDS)
        else:
            raise Stopped
        try:
            yield
        finally:
            lock.release()

    def stop(self) -> None:
        """End the verb under way as Ctrl-C does, so that a training saves its state, and begin none."""
        with self._lock:
            if self._process is not None and not self._stopped:
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(self._process.pid, signal.SIGINT)
            self._stopped = True


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process: (its exit code, the seconds of CPU that it took), with its children's except on Windows."""
    if sys.platform != "win32":
        _, status, usage = os.wait4(process.pid, 0)
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
    times = [ctypes.c_uint64() for _ in range(4)]  # begun, ended, kernel, user
    status = process.wait()
    handle = ctypes.c_void_p(int(process._handle))
    if not ctypes.CDLL("kernel32").GetProcessTimes(handle, *map(ctypes.byref, times)):
        raise ctypes.WinError()
    return status, (times[2].value + times[3].value) / 1e7
