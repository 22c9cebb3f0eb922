"""Where compiled code is kept: a directory that nobody but its user can write to.

What is read from the cache is unpickled and run, so whoever writes to it runs code as its user. A directory that others
own or may write to is refused in words, and the next best place is taken. Windows has no such bits to look at; there a
user's directories are the user's.
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
"""A directory that can be neither read nor written, for whom no other is fit: every function is compiled."""
_DAY = 86400.0


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        print(f"liteshogi: {text}", file=sys.stderr, flush=True)


_listeners: list[Callable[[str], None]] = [_to_stderr]
_said: set[str] = set()


def report_to(write: Callable[[str], None]) -> None:
    """Send messages about compiled code to `write`, a line each, instead of standard error."""
    _listeners[:] = [write]


def say_once(text: str) -> None:
    """Tell the user, unless this process has said the same before."""
    if text not in _said:
        _said.add(text)
        for write in _listeners:
            write(text)


def in_words(error: OSError) -> str:
    """What went wrong, and where."""
    return f"{error.filename}: {error.strerror}" if error.strerror else str(error)


def check_owner(directory: Path) -> os.stat_result:
    """The status of a directory that only this user (or root) can write to; OSError, in words, if it is none."""
    status = directory.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{directory} is no directory")
    if hasattr(os, "geteuid"):
        # A link that others own may point elsewhere the next moment.
        if not {status.st_uid, directory.lstat().st_uid} <= {os.geteuid(), 0}:
            raise PermissionError(f"{directory} belongs to another user, and compiled code there could be anybody's")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"others may write to {directory} (`chmod go-w` it once you trust what is in it)")
    if not os.access(directory, os.R_OK | os.X_OK):
        raise PermissionError(f"{directory} cannot be read")
    return status


def make_directory(directory: Path) -> None:
    """Make a directory for this user alone, or check the one that is there; OSError, in words, if it is not fit."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    check_owner(directory)


def note_use(directory: Path, status: os.stat_result) -> None:
    """Let a directory's time of change tell the day of its last use, see `search.warmup.remove_unused`."""
    if time.time() - status.st_mtime > _DAY:
        with contextlib.suppress(OSError):
            os.utime(directory)


def _home_cache() -> Path | None:
    """The user's directory for caches, None if the system knows no home."""
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME", ""))
            if not base.is_absolute():  # its specification has such a one ignored
                base = Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "liteshogi" if base.is_absolute() else None


def _places() -> Iterator[Path]:
    """Where compiled code may lie, the best place first."""
    if chosen := os.environ.get("LITESHOGI_CACHE"):
        yield Path(chosen).absolute()
    if (cache := _home_cache()) is not None:
        yield cache
    with contextlib.suppress(OSError):  # no directory for temporary files
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        yield Path(tempfile.gettempdir()) / f"liteshogi-{user}"


def choose_directory() -> Path:
    """The directory of all compiled code; `LITESHOGI_CACHE` names another than the user's own.

    One that can be read but not written serves too: it may be complete.
    """
    refusals = []
    for place in _places():
        try:
            make_directory(place)
        except OSError as error:
            refusals.append(in_words(error))
            continue
        if refusals:
            say_once(f"{'; '.join(refusals)}: compiled code is kept in {place}")
        return place.resolve()
    say_once(f"{'; '.join(refusals)}: compiled code is not kept; let LITESHOGI_CACHE name a directory of your own")
    return NOWHERE
