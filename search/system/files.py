"""Files that are written completely or not at all. Errors name the file that the caller named."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from search.system.options import OptionError

_Content = TypeVar("_Content")
_READINGS = 3
"""Most readings of a file that somebody writes to."""


@contextmanager
def complaints_about(path: Path) -> Iterator[None]:
    """Re-raise every OSError of the block with `path` as its file name.

    A failed write names no file, and other errors name the hidden file that is written first.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def message_of(error: Exception) -> str:
    """Return the message of an error in one line, or its class if it has none.

    The system's own messages are changed to start with the file, as this program's do.
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = (f"{error.filename}: " if error.filename else "") + error.strerror[0].lower() + error.strerror[1:]
    return " ".join(text.split()) or type(error).__name__


class WholeFile:
    """A file that appears at `path` only if its block ends without an error; otherwise an existing file stays.

    The content first goes to a hidden file in the same folder. A symbolic link is kept, and its target is replaced.
    Errors are OSErrors that name `path`; those that can be detected at once are raised before the block.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with complaints_about(path):
            self._target = Path(os.path.realpath(path))
            make_directory(self._target.parent)
            if self._target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "Is a directory; name a file in it")
            if self._target.exists() and not self._target.is_file():
                raise OSError(errno.EINVAL, "Not a regular file; choose another")
            # The name is shortened, so that the longest name that the system allows leaves room for what is added.
            self.part = self._target.with_name(f".{self._target.name[:40]}.{secrets.token_hex(4)}.part")
            self._file = open(self.part, "xb")  # noqa: SIM115 (closed in finish or discard)

    def write(self, content: bytes | memoryview) -> None:
        """Append content."""
        with complaints_about(self.path):
            self._file.write(content)

    def finish(self) -> None:
        """Flush everything to disk under the hidden name, so that several files can be complete before the first
        appears."""
        with complaints_about(self.path):
            if not self._file.closed:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()

    def discard(self) -> None:
        """Delete the hidden file."""
        with suppress(OSError):  # the file is deleted, so a failed write does not matter
            self._file.close()
        self.part.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.finish()
                with complaints_about(self.path):
                    os.replace(self.part, self._target)
        finally:
            self.discard()


def require_file(path: Path, directory: str = "name a file in it") -> None:
    """Raise OSError unless `path` is a regular file that can be read.

    Call it before a library opens the file: opening a pipe waits for its writer, and libraries report missing
    permissions wrongly. `directory` says what to do with a directory.
    """
    if path.is_dir():
        raise FileNotFoundError(f"{path}: a directory; {directory}")
    _refuse_broken_link(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: a pipe or a device; name a regular file")
    with open(path, "rb"):
        pass


def file_state(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is replaced or written to: its number, size and time of the last change."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_unchanged(path: Path, read: Callable[[], _Content]) -> _Content:
    """Return what `read` reads from a file, from a time in which nobody wrote to the file.

    Of a file that is overwritten while it is read, one part may be old and another new: it is read again. Raises
    ValueError if each reading was disturbed, and as `read` does.
    """
    for _ in range(_READINGS):
        before = file_state(path)
        try:
            found = read()
        except ValueError:
            if file_state(path) == before:
                raise
        else:
            if file_state(path) == before:
                return found
    raise ValueError(f"{path}: is being written to; read it when it is complete")


def files_below(folder: Path) -> list[Path]:
    """Return every path below a folder, at any depth, that is not a folder, sorted.

    A link to a folder counts as a folder, but no folder is entered twice. Raises OSError for a folder that cannot be
    read.
    """

    def refuse(error: OSError) -> None:
        raise error

    found: list[Path] = []
    entered: set[str] = set()
    starts = [folder]
    for start in starts:  # links last: a file that is found without a link keeps that path
        for place, folders, names in os.walk(start, onerror=refuse):
            if (real := os.path.realpath(place)) in entered:
                folders.clear()
                continue
            entered.add(real)
            starts += [path for name in sorted(folders) if (path := Path(place, name)).is_symlink()]
            found += [Path(place, name) for name in names]
    return sorted(found)


def leads_to_file(path: Path) -> bool:
    """Return whether a path that was found in a folder is a file, or a link to a file.

    Raises FileNotFoundError for a broken link, as to a disk that is not mounted: the rest of the folder would be taken
    for all of it.
    """
    _refuse_broken_link(path)
    return path.is_file()


def _refuse_broken_link(path: Path) -> None:
    """Raise FileNotFoundError for a link whose target is missing or, by way of other links or not, the link itself."""
    if path.is_symlink() and not path.exists():
        raise FileNotFoundError(f"{path}: broken or circular link; restore its target, or remove the link")


def require_utf8(path: Path) -> None:
    """Raise ValueError if a network's path is not valid UTF-8, which the libraries that read and write networks
    require.

    A folder that was unpacked with its name in Shift JIS has such a path.
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{path}: a network's path must be valid UTF-8; rename it") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 text file, with or without a byte order mark.

    Raises OSError, as for a pipe (see `require_file`), or ValueError that names the file.
    """
    require_file(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start + 1} is not valid UTF-8; save the file as UTF-8 text") from None


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`, completely or not at all. Raises OSError that names `path`."""
    with WholeFile(path) as file:
        file.write(content)


def refuse_unwritable(path: Path) -> None:
    """Raise OSError if no file can be written at `path`; call it before long work whose result goes there."""
    WholeFile(path).discard()


def check_output(
    path: Path, suffixes: Sequence[str] = (), overwrite: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """Check the output file that a user named, before the work that produces it.

    Raises ValueError if its name has none of the suffixes or if it is one of the `inputs`, OptionError if the file
    exists and may not be replaced, and OSError as `refuse_unwritable` does.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: the name must end in {' or '.join(suffixes)}; name it {path.stem}{suffixes[0]}")
    if any(path.resolve() == given.resolve() for given in inputs):
        raise ValueError(f"{path}: is also an input; choose another file")
    if path.is_file() and not overwrite:
        raise OptionError(f"{path}: already exists; set `overwrite` to replace it, or choose another file", "overwrite")
    refuse_unwritable(path)


def make_directory(directory: Path) -> None:
    """Create a directory and its parents where they do not exist. Raises OSError that names what is not a directory."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # For a file in the place of a directory the system reports "File exists", which does not say what is wrong.
        number = errno.ENOTDIR if isinstance(error, FileExistsError) else error.errno
        if number is None:
            raise
        raise OSError(number, f"{os.strerror(number)} ({error.filename or directory})") from None
