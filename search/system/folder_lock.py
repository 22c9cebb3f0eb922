"""Locks that let one process at a time work in a folder or on a file."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from search.system.files import complaints_about, make_directory

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class FolderLock:
    """A lock on the file `run.lock` in a folder, which holds the number of the process that has the lock.

    The system releases the lock when the process ends.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.file = directory / "run.lock"
        self._held: IO[str] | None = None

    def take(self) -> None:
        """Create the folder and lock it. Raises OSError, or ValueError if another run holds the lock."""
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
                f"{self._directory}: another run is at work here{by}; wait for its end, or choose another folder"
            ) from None
        except OSError:
            file.close()
            raise
        try:
            with complaints_about(self.file):
                file.truncate(0)
                os.write(file.fileno(), b"%d\n" % os.getpid())  # no buffer that closing would write out again
        except OSError:  # the disk may be full
            file.close()
            raise
        self._held = file

    def release(self) -> None:
        """Release the lock."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def discard(self) -> None:
        """Release the lock and delete its file."""
        if sys.platform == "win32":  # no open file can be deleted there, neither this one nor the next holder's
            self.release()
        with suppress(OSError):
            self.file.unlink()
        self.release()

    def __enter__(self) -> FolderLock:
        self.take()
        return self

    def __exit__(self, raised: object, *_: object) -> None:
        if raised is not None and list(self._directory.iterdir()) == [self.file]:
            self.discard()  # the run failed before it wrote anything
        else:
            self.release()


def hold(path: Path, remedy: str) -> IO[bytes]:
    """Open a file for reading and appending, lock it until it is closed, and create it if it does not exist.

    Reading begins at its start. Raises OSError, or ValueError with the remedy if another process holds the lock.
    """
    file = open(path, "a+b")  # noqa: SIM115 (closed by the caller)
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
    """Lock an open file until it is closed. Raises BlockingIOError if another process holds the lock, and OSError."""
    try:
        _lock(file)
    except OSError as error:
        if error.errno in _TAKEN:
            raise BlockingIOError(*error.args) from None
        if error.errno not in _NO_LOCKS:
            raise
        print(f"warning: {path}: this file system has no locks; do not start a second run there", file=sys.stderr)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1 << 30)  # locked bytes cannot be read, so leave out the process number
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
