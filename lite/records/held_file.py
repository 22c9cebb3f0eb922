"""A file that is opened once and stays the file it was: what others do to its name or to its bytes does no harm.

A training run reads the same files for hours. If another file is moved to one's name, the descriptor still gives the
bytes that the run began with, and the run goes on; if the bytes themselves are overwritten, cut or added to, the next
read says so instead of giving a mixture of two files.
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
    """A file held open for reading, by several threads too. Raises OSError or RecordError where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _open(path)
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        found = os.fstat(self._file.fileno())
        self.size = found.st_size
        """Bytes, at the opening and ever after."""
        self._changed = found.st_mtime_ns

    def read(self, start: int, stop: int) -> np.ndarray:
        """The bytes from `start` to before `stop`, u1. Raises OSError if the file has been written to meanwhile."""
        raw = np.empty(stop - start, np.uint8)
        view, filled = raw.data, 0
        with self._lock:
            self._file.seek(start)
            while filled < len(raw) and (count := self._file.readinto(view[filled:])):
                filled += count
            # Behind the reading, for a change before it or during it shows alike.
            found = os.fstat(self._file.fileno())
        if filled < len(raw) or found.st_size != self.size or found.st_mtime_ns != self._changed:
            change = {-1: "became shorter", 0: "was written to", 1: "became longer"}
            how = change[(found.st_size > self.size) - (found.st_size < self.size)]
            raise OSError(
                f"{self.path}: the file {how} while it was read; let it be, or move a finished file to its name, "
                "and start again"
            )
        return raw

    @cached_property
    def digest(self) -> str:
        """A digest of all bytes (BLAKE2b, 128 bits, hexadecimal).

        Of all of them, not of samples, which miss a label that was corrected: it takes a second for some 800 MB, a
        hundredth of what an epoch over the same bytes takes."""
        digest = hashlib.blake2b(digest_size=16)
        for start in range(0, self.size, _DIGEST_BYTES):
            digest.update(self.read(start, min(start + _DIGEST_BYTES, self.size)).data)
        return digest.hexdigest()


def _open(path: Path) -> FileIO:
    try:
        return FileIO(path)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    try:
        # The usual limit, 1024 files, is one that a program may lift by itself.
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        return FileIO(path)
    except (ImportError, OSError, ValueError):
        raise RecordError(
            f"{path}: the system lets a program hold no more files open; join them: liteshogi convert FOLDER -o ONE"
        ) from None
