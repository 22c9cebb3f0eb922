"""Files that are written whole or not at all, with complaints that name the file that was asked for."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self


@contextmanager
def complaints_about(path: Path) -> Iterator[None]:
    """What the system refuses within is an OSError that names `path`: a failed write names no file at all, and others
    name the hidden one that the content goes to first."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


class WholeFile:
    """A file under way. It takes its place at `path` when its block ends well; if not, what was there stays.

    Meanwhile it lies beside its place under a hidden name. A symbolic link stays one: what it points to is replaced.
    Whatever goes wrong is an OSError that names `path`, and what can go wrong at once does so before the block.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with complaints_about(path):
            self._target = Path(os.path.realpath(path))
            make_directory(self._target.parent)
            if self._target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "Is a directory; name a file in it")
            if self._target.exists() and not self._target.is_file():
                raise OSError(errno.EINVAL, "Not a regular file; name another")
            # Cut, so that a name as long as the system allows has room for what is added.
            self.part = self._target.with_name(f".{self._target.name[:40]}.{secrets.token_hex(4)}.part")
            self._file = open(self.part, "xb")  # noqa: SIM115 (closed in finish or discard)

    def write(self, content: bytes | memoryview) -> None:
        """Add to the end."""
        with complaints_about(self.path):
            self._file.write(content)

    def finish(self) -> None:
        """Everything is on the disk, under the hidden name still: several files finish before the first is seen."""
        with complaints_about(self.path):
            if not self._file.closed:
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):  # what cannot be written is not wanted any more
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
    """Raises OSError in words unless a file can be read at `path`, to be asked before others open it: whoever opens a
    pipe waits for its writer, and libraries complain falsely of what may not be read. `directory`: what to do with one.
    """
    if path.is_dir():
        raise FileNotFoundError(f"{path}: a directory; {directory}")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: a pipe or a device; name a regular file")
    with open(path, "rb"):
        pass


def files_below(folder: Path) -> list[Path]:
    """Whatever lies at any depth below a folder and is none, in the order of the paths. A link to a folder counts as
    one, but no folder is entered twice. Raises OSError for one that may not be read."""

    def refuse(error: OSError) -> None:
        raise error

    found: list[Path] = []
    entered: set[str] = set()
    starts = [folder]
    for start in starts:  # links last: what lies below the folder anyway keeps its own name
        for place, folders, names in os.walk(start, onerror=refuse):
            if (real := os.path.realpath(place)) in entered:
                folders.clear()
                continue
            entered.add(real)
            starts += [path for name in sorted(folders) if (path := Path(place, name)).is_symlink()]
            found += [Path(place, name) for name in names]
    return sorted(found)


def leads_to_file(path: Path) -> bool:
    """Whether what was found in a folder is a file, or a link to one. Raises FileNotFoundError for a link to nothing,
    as to a disk that is not there: passed over, the rest of the folder would be taken for all of it."""
    if path.is_symlink() and not path.exists():
        raise FileNotFoundError(f"{path}: there is nothing where this link leads; bring that back, or remove the link")
    return path.is_file()


def require_utf8(path: Path) -> None:
    """Raises ValueError in words for a path in other bytes than UTF-8, as of a folder that was unpacked under the name
    it had in Shift JIS: what reads and writes networks takes none."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{path}: a network's path must be UTF-8, and this is not; rename it") from None


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark. Raises OSError, or ValueError that names it."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start + 1} is no UTF-8; save it as UTF-8 text") from None


def write_atomically(path: Path, content: bytes) -> None:
    """All of `content` at `path`, or what was there before. Raises OSError that names `path`."""
    with WholeFile(path) as file:
        file.write(content)


def refuse_unwritable(path: Path) -> None:
    """Raises OSError if no file could be written at `path`: to be asked before long work whose result goes there."""
    WholeFile(path).discard()


def check_output(
    path: Path, suffixes: Sequence[str] = (), overwrite: bool = False, inputs: Iterable[Path] = ()
) -> None:
    """To be asked before work whose result goes to the file `path`, as a user has named it.

    Raises ValueError if its name ends in none of the suffixes, if it is one of the `inputs`, which nothing replaces, or
    if another file is there that is not to be replaced; OSError as `refuse_unwritable`.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(
            f"{path}: what is written here ends in {' or '.join(suffixes)}; call it {path.stem}{suffixes[0]}"
        )
    if any(path.resolve() == given.resolve() for given in inputs):
        raise ValueError(f"{path}: is an input too; write to another file")
    if path.is_file() and not overwrite:
        raise ValueError(f"{path}: is there already; add --overwrite to replace it, or name another file")
    refuse_unwritable(path)


def make_directory(directory: Path) -> None:
    """Make it and those above it, where they are not there. Raises OSError that says what is no directory."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # A file in a directory's place "exists", which says nothing of the file that was to lie below it.
        number = errno.ENOTDIR if isinstance(error, FileExistsError) else error.errno
        if number is None:
            raise
        raise OSError(number, f"{os.strerror(number)} ({error.filename or directory})") from None
