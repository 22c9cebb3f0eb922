"""Keep a file open for a long run, and detect changes of its content.

A training run reads the same files for hours. If another file is moved to the name of one, the open descriptor still
reads the original bytes, and the run continues. If the bytes are overwritten, truncated or appended to, the next read
raises an error instead of returning a mixture of two files.
"""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import weakref
from functools import cached_property
from io import FileIO
from pathlib import Path

import numpy as np

from lite.records.formats import RecordError

_DIGEST_BYTES = 1 << 20


class HeldFile:
    """A file that stays open for reading; thread-safe. Raises OSError or RecordError if it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _open(path)
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        found = os.fstat(self._file.fileno())
        self.size = found.st_size
        """Size in bytes when the file was opened; a read fails if it has changed."""
        self._changed = found.st_mtime_ns

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the bytes [start, stop), u1. Raises OSError if the file was written to since it was opened."""
        raw = np.empty(stop - start, np.uint8)
        view, filled = raw.data, 0
        with self._lock:
            self._file.seek(start)
            while filled < len(raw) and (count := self._file.readinto(view[filled:])):
                filled += count
            # Checked after reading, so that changes before and during the read are both detected.
            found = os.fstat(self._file.fileno())
        if filled < len(raw) or found.st_size != self.size or found.st_mtime_ns != self._changed:
            change = {-1: "became shorter", 0: "was written to", 1: "became longer"}
            how = change[(found.st_size > self.size) - (found.st_size < self.size)]
            raise OSError(
                f"{self.path}: the file {how} while it was in use; start again, and do not change a file that is being "
                "read (moving a finished file to its name is safe)"
            )
        return raw

    @cached_property
    def digest(self) -> str:
        """The digest of all bytes (BLAKE2b, 128 bits, hexadecimal).

        Samples would miss a single corrected label. Hashing takes about one second per 800 MB, a hundredth of the time
        of an epoch over the same bytes."""
        digest = hashlib.blake2b(digest_size=16)
        for start in range(0, self.size, _DIGEST_BYTES):
            digest.update(self.read(start, min(start + _DIGEST_BYTES, self.size)).data)
        return digest.hexdigest()


def _open(path: Path) -> FileIO:
    """Open the file, raising the process's limit on open files if necessary."""
    try:
        return FileIO(path)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    try:
        # A process may raise the usual soft limit of 1024 files by itself.
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        return FileIO(path)
    except (ImportError, OSError, ValueError):
        raise RecordError(
            f"{path}: the system's limit on open files is reached; convert the folder's files into one file"
        ) from None
