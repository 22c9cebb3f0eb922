"""The directory of compiled code, which only its user can write to.

Compiled code is unpickled and run, so whoever can write to its directory can run code as its user. A directory that
others own or may write to is refused with a message, and the next candidate is used. Windows has no such permission
bits; there a user's directories are trusted.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NOWHERE = Path(os.devnull) / "liteshogi"
"""A directory that can be neither read nor written, used if no other is fit: every function is compiled."""
_DAY = 86400.0


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        print(f"liteshogi: {text}", file=sys.stderr, flush=True)


_listeners: list[Callable[[str], None]] = [_to_stderr]
_reported: set[str] = set()


def report_to(write: Callable[[str], None]) -> None:
    """Send messages about compiled code to `write`, a line each, instead of standard error."""
    _listeners[:] = [write]


def report(text: str) -> None:
    """Send a message to the user."""
    for write in _listeners:
        write(text)


def report_once(text: str) -> None:
    """Send a message to the user, unless this process has sent the same one before."""
    if text not in _reported:
        _reported.add(text)
        report(text)


def error_text(error: OSError) -> str:
    """Return an OSError's message with its file name."""
    return f"{error.filename}: {error.strerror}" if error.strerror else str(error)


def check_owner(directory: Path) -> os.stat_result:
    """Return the status of a directory that only this user (or root) can write to. Raises OSError for any other."""
    status = directory.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{directory} is not a directory")
    if hasattr(os, "geteuid"):
        # A link that others own may be changed to point elsewhere at any moment.
        if not {status.st_uid, directory.lstat().st_uid} <= {os.geteuid(), 0}:
            raise PermissionError(f"{directory} belongs to another user, who could change compiled code there")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"others may write to {directory} (run `chmod go-w` on it if you trust its content)")
    if not os.access(directory, os.R_OK | os.X_OK):
        raise PermissionError(f"{directory} cannot be read")
    return status


def make_directory(directory: Path) -> None:
    """Create a directory for this user alone, or check an existing one. Raises OSError if it is not fit."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    check_owner(directory)


def note_use(directory: Path, status: os.stat_result) -> None:
    """Set a directory's modification time to the day of its last use; see `search.warmup.remove_unused`."""
    if time.time() - status.st_mtime > _DAY:
        with contextlib.suppress(OSError):
            os.utime(directory)


def _home_cache() -> Path | None:
    """Return the user's directory for caches; None if the system knows no home directory."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME", ""))
            if not base.is_absolute():  # the XDG specification says to ignore it
                base = Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "liteshogi" if base.is_absolute() else None


def _places() -> Iterator[Path]:
    """Yield the candidates for the directory of compiled code, the best one first."""
    if chosen := os.environ.get("LITESHOGI_CACHE"):
        yield Path(chosen).absolute()
    if (cache := _home_cache()) is not None:
        yield cache
    with contextlib.suppress(OSError):  # no directory for temporary files
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        yield Path(tempfile.gettempdir()) / f"liteshogi-{user}"


def choose_directory() -> Path:
    """Choose the directory of all compiled code; the environment variable `LITESHOGI_CACHE` names one.

    A directory that can be read but not written is accepted: it may be complete.
    """
    refusals = []
    for place in _places():
        try:
            make_directory(place)
        except OSError as error:
            refusals.append(error_text(error))
            continue
        if refusals:
            report_once(f"{'; '.join(refusals)}: compiled code is stored in {place}")
        return place.resolve()
    report_once(f"{'; '.join(refusals)}: compiled code is not stored; set LITESHOGI_CACHE to a directory of your own")
    return NOWHERE
