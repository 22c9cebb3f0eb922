"""A run's directory: what lies in it, and that one run at a time works there."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import IO

NETWORK_NAME = "network.safetensors"
"""Of the last epoch, or of the step where the run was cut."""
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class RunFolder:
    """The files of a run, and the right to write them, which the system takes back when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.network = path / NETWORK_NAME
        self.best = path / "best.safetensors"
        """Of the epoch with the lowest loss on held-out games, where there are such."""
        self.state = path / "state.safetensors"
        self.log = path / "log.jsonl"
        self.tensorboard = path / "tensorboard"
        self._lock_path = path / "run.lock"
        self._lock: IO[str] | None = None

    def lock(self) -> None:
        """Make the directory, and take it. Raises ValueError if another run is at work in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        file = open(self._lock_path, "a+", encoding="ascii")  # noqa: SIM115 (closed in release)
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _TAKEN:
                file.seek(0)
                process = file.readline().strip()
                file.close()
                by = f" (process {process})" if process.isdigit() else ""
                raise ValueError(
                    f"{self.path}: another run is at work here{by}; wait for its end, or choose another -o"
                ) from None
            if error.errno not in _NO_LOCKS:
                file.close()
                raise
            print(f"warning: {self.path}: this file system has no locks: start no second run there", file=sys.stderr)
        file.truncate(0)
        print(os.getpid(), file=file, flush=True)
        self._lock = file

    def release(self) -> None:
        """Leave the directory to others."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """Remove a run, and nothing else that may lie in its directory."""
        for path in (self.network, self.best, self.state, self.log, self._lock_path):
            path.unlink(missing_ok=True)
        for events in self.tensorboard.glob("events.out.tfevents.*"):
            events.unlink()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1 << 30)  # what is locked cannot be read there, so not the number of the process
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
