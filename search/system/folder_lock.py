"""The right to work in a directory, or on a file, which one process at a time has."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from search.system.files import make_directory

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class FolderLock:
    """A lock on a file in the directory, which names its holder; the system takes it back when the process ends."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.file = directory / "run.lock"
        self._held: IO[str] | None = None

    def take(self) -> None:
        """Make the directory, and take it. Raises ValueError if another run is at work in it, and OSError."""
        make_directory(self._directory)
        file = open(self.file, "a+", encoding="ascii", errors="replace")  # noqa: SIM115 (closed in release)
        try:
            _take(file, self._directory)
        except BlockingIOError:
            file.seek(0)
            process = file.readline().strip()
            file.close()
            by = f" (process {process})" if process.isdigit() else ""
            raise ValueError(
                f"{self._directory}: another run is at work here{by}; wait for its end, or choose another -o"
            ) from None
        except OSError:
            file.close()
            raise
        file.truncate(0)
        print(os.getpid(), file=file, flush=True)
        self._held = file

    def release(self) -> None:
        """Leave the directory to others."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def discard(self) -> None:
        """Leave the directory without the lock's file."""
        if sys.platform == "win32":  # no open file can be removed there: neither this one nor the next holder's
            self.release()
        with suppress(OSError):
            self.file.unlink()
        self.release()

    def __enter__(self) -> FolderLock:
        self.take()
        return self

    def __exit__(self, raised: object, *_: object) -> None:
        if raised is not None and list(self._directory.iterdir()) == [self.file]:
            self.discard()  # refused before it had made anything
        else:
            self.release()


def hold(path: Path, remedy: str) -> IO[bytes]:
    """A file from its start, made if need be, and no other process's until it is closed.

    Raises OSError, and ValueError with the remedy where another process holds it.
    """
    file = open(path, "a+b")  # noqa: SIM115 (closed by who asks)
    try:
        _take(file, path)
    except BlockingIOError:
        file.close()
        raise ValueError(f"{path}: another run is at work on it; wait for its end, or {remedy}") from None
    except OSError:
        file.close()
        raise
    file.seek(0)
    return file


def _take(file: IO[Any], path: Path) -> None:
    """Lock an open file until it is closed. Raises BlockingIOError where another process has, and OSError."""
    try:
        _lock(file)
    except OSError as error:
        if error.errno in _TAKEN:
            raise BlockingIOError(*error.args) from None
        if error.errno not in _NO_LOCKS:
            raise
        print(f"warning: {path}: this file system has no locks: start no second run there", file=sys.stderr)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1 << 30)  # what is locked cannot be read there, so not the number of the process
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
