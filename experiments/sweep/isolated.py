"""Steps in processes of their own: bound to cores, interrupted like a program."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from experiments.jobs.protocol import Stopped
from search.system.files import message_of
from search.system.folder_lock import FolderLock

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
LAST_WORDS = 500
"""Number of characters that are kept of a failed process's output."""
WAIT_SECONDS = 0.5


class Step(Protocol[Result_co]):
    """Work with a result, both picklable."""

    def run(self) -> Result_co:
        """Do the work. Raises OSError, ValueError, MemoryError or ArithmeticError, KeyboardInterrupt."""


class Isolated:
    """Runs steps one after another, each in a process of its own. `stop` may come from another thread."""

    def __init__(self, cores: Collection[int] = ()) -> None:
        """`cores`: cores that each process is bound to, where the system can; empty means the cores of this process."""
        self._cores = cores
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, step: Step[Result]) -> Result:
        """Return the result of a step. Raises ValueError with the step's error, Stopped where `stop` was called."""
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
            asked, made = Path(folder, "step"), Path(folder, "result")
            asked.write_bytes(pickle.dumps(step))
            with self._lock:
                if self._stopped:
                    raise Stopped
                process = subprocess.Popen(
                    [sys.executable, "-m", __spec__.name, str(asked), str(made)],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    process_group=0,  # Ctrl-C is handed on by `stop`, once
                )
                self._process = process
                if self._cores and hasattr(os, "sched_setaffinity"):
                    os.sched_setaffinity(process.pid, self._cores)
            try:
                status = process.wait()
            except BaseException:
                self.stop()
                process.wait()
                raise
            with self._lock:
                self._process = None
            if self._stopped:
                raise Stopped
            answer = pickle.loads(made.read_bytes()) if made.exists() else None
            said.seek(0)
            words = " ".join(said.read().decode("utf-8", "replace").split())[-LAST_WORDS:]
        if isinstance(answer, _Failed):
            raise ValueError(answer.why)
        if answer is None:
            raise ValueError(f"{type(step).__name__}: its process ended with {status}: {words or 'it wrote nothing'}")
        result: Result = answer.result
        return result

    @contextmanager
    def alone_in(self, folder: Path, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the lock of a folder; wait for the process that has it, which may have outlived its starter.

        waits: is called once if another process has it. Raises Stopped where `stop` was called."""
        lock, waited = FolderLock(folder), False
        while not self._stopped:
            try:
                lock.take()
                break
            except ValueError:
                if not waited:
                    waits()
                waited = True
                time.sleep(WAIT_SECONDS)
        else:
            raise Stopped
        try:
            yield
        finally:
            lock.release()

    def stop(self) -> None:
        """Interrupt the step under way as Ctrl-C does, so that a training saves its state, and begin no other."""
        with self._lock:
            if self._process is not None and not self._stopped:
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(self._process.pid, signal.SIGINT)
            self._stopped = True


@dataclass(frozen=True)
class _Succeeded:
    result: Any


@dataclass(frozen=True)
class _Failed:
    why: str


def main(asked: Path, made: Path) -> int:
    """Run the step in a file, and write its result to another; return the exit code."""
    answer: _Succeeded | _Failed
    try:
        answer = _Succeeded(pickle.loads(asked.read_bytes()).run())
    except (ValueError, OSError, MemoryError, ArithmeticError) as error:
        answer = _Failed(message_of(error))
    except KeyboardInterrupt:
        return 130
    made.write_bytes(pickle.dumps(answer))
    return int(isinstance(answer, _Failed))


if __name__ == "__main__":
    from experiments.sweep import isolated  # by its own name, by which results are unpickled

    sys.exit(isolated.main(Path(sys.argv[1]), Path(sys.argv[2])))
