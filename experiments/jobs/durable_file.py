"""A file that grows by whole pieces, each of them on the disk before the next: what a crash leaves is a prefix."""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from search.system.files import complaints_about


class DurableFile:
    """A file opened to be added to, cut at `size` first. Raises OSError that names it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        """Bytes that are known to be on the disk."""
        with complaints_about(path):
            made = not path.exists()
            self._file = FileIO(path, "a")  # without a buffer, which would be written out even after a failure
            self._file.truncate(size)
            if made:
                sync_directory(path.parent)

    def append(self, content: bytes) -> None:
        """Add all of it and wait for the disk; an OSError leaves the file as it was."""
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
        """Take back what is behind `size`; where not even that can be done, whoever opens the file next does it."""
        self.size = size
        with suppress(OSError):
            self._file.truncate(size)

    def close(self) -> int:
        """Let go of it; its bytes on the disk, which may be more than `size` after a failure."""
        found = os.fstat(self._file.fileno()).st_size
        self._file.close()
        return found


def sync_directory(directory: Path) -> None:
    """Wait until names in a directory are on the disk, where the system knows how."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
