"""Files of compiled code that are checked before they are trusted, and the lock of those who write them.

A file is the SHA-256 of its place and content, then the content. One that is truncated, changed or moved is a miss: it
is compiled anew and written over. A file appears whole or not at all, so readers need no lock.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from search.compiling.cache_directory import check_owner, in_words, make_directory, note_use, say_once

PATIENCE_SECONDS = 1.0
"""Whoever waits longer for another process's compiling says so."""
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
    """One process at a time compiles for a directory; its threads take turns by Numba's own lock, held around this one.

    `begin` takes the lock where something is missing, `compiling` gives it back when the outermost compile is over.
    """

    def __init__(self, directory: Path, name: str = "lock") -> None:
        self.directory = directory
        self.name = name
        self._descriptor: int | None = None
        self._depth = 0

    @property
    def held(self) -> bool:
        """Whether what is compiled may be kept."""
        return self._descriptor is not None

    @property
    def partial(self) -> Path:
        """The file that the holder writes: the next holder's first takes the place of one that a killed one left."""
        return self.directory / f"{self.name}.partial"

    @contextlib.contextmanager
    def compiling(self) -> Iterator[None]:
        """Compile something, maybe inside the compiling of something else."""
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
        """Wait for the lock; True if this call took it, False if it was held or there is none to be had."""
        if self.held or not self._depth:
            return False
        descriptor = None
        try:
            make_directory(self.directory)
            descriptor = os.open(self.directory / self.name, os.O_RDWR | os.O_CREAT, 0o600)
            self._wait(descriptor)
        except OSError as error:
            if descriptor is not None:
                os.close(descriptor)
            say_not_kept(self.directory, error)
            return False
        self._descriptor = descriptor
        return True

    def _wait(self, descriptor: int) -> None:
        begun = time.monotonic()
        while not _try_lock(descriptor):
            if time.monotonic() - begun > PATIENCE_SECONDS:
                say_once("another process compiles the same code; waiting for it")
            time.sleep(_POLL_SECONDS)


def say_not_kept(directory: Path, error: OSError) -> None:
    """Say that the cache cannot be written."""
    reason = error.strerror or str(error)
    say_once(f"{directory.parent}: {reason}: what is compiled is not kept; LITESHOGI_CACHE names another place")


class CodeFiles:
    """The files of one module's compiled code, in a directory of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._checked = False

    def read(self, name: str) -> bytes | None:
        """The content that was written under this name, None if it is not there or not what was written."""
        try:
            if not self._checked:
                self._check()
                self._checked = True
            raw = (self.directory / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            say_once(f"{in_words(error)}: compiling anew")
            return None
        content = raw[_SUM_BYTES:]
        if raw[:_SUM_BYTES] != self._sum(name, content):
            self.say_damaged()
            return None
        return content

    def _check(self) -> None:
        """Raises OSError, in words, if what lies here is not to be trusted; notes that it is used."""
        check_owner(self.directory.parent)
        note_use(self.directory, check_owner(self.directory))

    def write(self, name: str, content: bytes, lock: CompileLock) -> None:
        """Keep the content under this name, whole or not at all; says so if it cannot be kept."""
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
            say_not_kept(lock.directory, error)

    def say_damaged(self) -> None:
        """Say that a file cannot be used."""
        say_once(f"compiled code in {self.directory.parent} was damaged; compiling anew what cannot be used")

    def _sum(self, name: str, content: bytes) -> bytes:
        place = "/".join((*self.directory.parts[-2:], name))
        return hashlib.sha256(place.encode() + b"\0" + content).digest()


class ReleasedFiles(CodeFiles):
    """Those that came with the package, to be read only. Whoever may write to them may write to the sources, too: they
    are trusted as these are, and still nothing but what was written is used."""

    def _check(self) -> None:
        pass
