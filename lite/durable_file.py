"""A file that grows by whole pieces, each on the disk before the next: a crash leaves a prefix of whole pieces."""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from search.system.files import complaints_about


class DurableFile:
    """A file opened for appending, cut to `size` bytes first. Raises OSError that names it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        """Bytes known to be on the disk."""
        with complaints_about(path):
            is_new = not path.exists()
            self._file = FileIO(path, "a")  # without a buffer, which would be written out even after a failure
            self._file.truncate(size)
            if is_new:
                sync_directory(path.parent)

    def append(self, content: bytes) -> None:
        """Add all of `content` and wait for the disk; an OSError leaves the file as it was."""
        with complaints_about(self.path):
            try:
                rest = memoryview(content)
                while rest:
                    rest = rest[self._file.write(rest) :]
                os.fsync(self._file.fileno())
            except OSError:
                self.cut(self.size)
                raise
        self.size += len(content)

    def cut(self, size: int) -> None:
        """Remove all bytes after `size`. Where the system refuses, the next process that opens the file does it."""
        self.size = size
        with suppress(OSError):
            self._file.truncate(size)

    def close(self) -> int:
        """Close the file; returns its bytes on the disk, which may exceed `size` after a failure."""
        found = os.fstat(self._file.fileno()).st_size
        self._file.close()
        return found


def sync_directory(directory: Path) -> None:
    """Wait until the names in a directory are on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
