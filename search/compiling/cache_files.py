"""Files of compiled code that are checked before they are used, and the lock for writing them.

A file is the SHA-256 of its place and content, then the content. A file that is truncated, changed or moved is a miss:
its code is compiled again and the file is overwritten. A file appears completely or not at all, so readers need no
lock.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from search.compiling.cache_directory import check_owner, error_text, make_directory, note_use, report_once

PATIENCE_SECONDS = 10.0
"""Seconds after which a process reports that it waits for another one's compilation."""
LOCK_NAME = "lock"
_POLL_SECONDS = 0.03
_SUM_BYTES = hashlib.sha256().digest_size

try:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may hold the same open file

except ImportError:
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]


class CompileLock:
    """A lock that lets one process at a time compile a module; Numba's own lock around it serialises threads.

    `begin` takes the lock where something is missing, and `compiling` releases it when the outermost compilation ends.
    """

    def __init__(self, directory: Path) -> None:
        """`directory` is that of the module's compiled code."""
        self.directory = directory
        self._descriptor: int | None = None
        self._depth = 0

    @property
    def held(self) -> bool:
        """Whether the lock is held, so that compiled code may be stored."""
        return self._descriptor is not None

    @property
    def partial(self) -> Path:
        """The file that the lock's holder writes first. The next holder overwrites one that a killed process left."""
        return self.directory / f"{LOCK_NAME}.partial"

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """Compile something, possibly within another compilation."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._descriptor is not None:
                descriptor, self._descriptor = self._descriptor, None
                with contextlib.suppress(OSError):
                    _unlock(descriptor)
                os.close(descriptor)

    def begin(self) -> bool:
        """Wait for the lock. Return True if this call took it, False if it was held already or cannot be taken."""
        if self.held or not self._depth:
            return False
        descriptor = None
        try:
            make_directory(self.directory.parent)
            make_directory(self.directory)
            descriptor = os.open(self.directory / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
            self._wait(descriptor)
        except OSError as error:
            if descriptor is not None:
                os.close(descriptor)
            report_not_stored(self.directory, error)
            return False
        self._descriptor = descriptor
        return True

    def _wait(self, descriptor: int) -> None:
        begun = time.monotonic()
        while not _try_lock(descriptor):
            if time.monotonic() - begun > PATIENCE_SECONDS:
                report_once("another process compiles the same code; waiting for it")
            time.sleep(_POLL_SECONDS)


def report_not_stored(directory: Path, error: OSError) -> None:
    """Report that the cache cannot be written; `directory` is that of a module."""
    reason = error.strerror or str(error)
    report_once(
        f"{directory.parents[1]}: {reason}: compiled code is not stored; set LITESHOGI_CACHE to another directory"
    )


class CodeFiles:
    """The files of one module's compiled code, in a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._checked = False

    def read(self, name: str) -> bytes | None:
        """Return the content that was stored under a name; None if there is none or it is damaged."""
        try:
            if not self._checked:
                self._check()
                self._checked = True
            raw = (self.directory / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            report_once(f"{error_text(error)}: compiling again")
            return None
        content = raw[_SUM_BYTES:]
        if raw[:_SUM_BYTES] != self._sum(name, content):
            self.report_damaged()
            return None
        return content

    def _check(self) -> None:
        """Raise OSError if the directory cannot be trusted; note that it is used."""
        check_owner(self.directory.parent)
        note_use(self.directory, check_owner(self.directory))

    def write(self, name: str, content: bytes, lock: CompileLock) -> None:
        """Store the content under a name, completely or not at all; report if it cannot be stored."""
        if not lock.held:
            return
        try:
            make_directory(self.directory)
            with open(lock.partial, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(self._sum(name, content))
                file.write(content)
            os.replace(lock.partial, self.directory / name)
        except OSError as error:
            with contextlib.suppress(OSError):
                lock.partial.unlink()
            report_not_stored(lock.directory, error)

    def report_damaged(self) -> None:
        """Report that a file cannot be used."""
        report_once(f"compiled code in {self.directory.parent} was damaged; compiling the damaged part again")

    def _sum(self, name: str, content: bytes) -> bytes:
        place = "/".join((*self.directory.parts[-2:], name))
        return hashlib.sha256(place.encode() + b"\0" + content).digest()


class ReleasedFiles(CodeFiles):
    """Compiled code that came with the package, read only.

    Whoever can write to it can write to the package's sources, too, so it is trusted as they are. Its checksums are
    verified all the same.
    """

    def _check(self) -> None:
        pass
