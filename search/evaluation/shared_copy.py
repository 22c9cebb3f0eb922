"""Copies of large network files in a form that processes share: decoded once, then mapped.

YaneuraOu compresses the rows of an SFNN, so every process that reads one would hold a table of its own. A file of the
user's may be overwritten while it is mapped, which would change or end the searches of its network. A copy in
LiteShogi's format lies in the user's cache directory, under a digest of the file, of the code that read it, and of the
options. The system keeps one copy in memory for all processes that map it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from search.compiling.cache_directory import make_directory

KEPT = 4
"""Copies that stay; the least recently used ones beyond these are deleted."""
SUFFIX = ".safetensors"


def copy_place(cache: Path, path: Path, reader: str, fv_scale: int | None, architecture: str | None) -> Path:
    """Return the place of a file's copy below the cache directory; `reader` names the version of the code that reads
    it. Raises OSError if the file cannot be read."""
    with open(path, "rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    key = json.dumps([content, reader, fv_scale, architecture])
    return cache / "networks" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{SUFFIX}"


@contextlib.contextmanager
def new_copy(copy: Path) -> Iterator[BinaryIO]:
    """Yield a file to write that becomes the copy, unless another process has made one meanwhile.

    Processes that start together all map the first copy. The folder is this user's alone, and the least recently used
    copies make room. A crash of the system may damage a copy, which its checksum shows. Raises OSError if the folder
    is not fit.
    """
    make_directory(copy.parent.parent)
    make_directory(copy.parent)
    others = sorted(copy.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in others[KEPT - 1 :]:
        discard(old)
    part = copy.with_suffix(f".{secrets.token_hex(4)}")
    try:
        with open(part, "xb") as file:
            yield file
        with contextlib.suppress(FileExistsError):
            os.link(part, copy)
    finally:
        discard(part)


def discard(copy: Path) -> None:
    """Delete a copy. Windows keeps one that a process maps."""
    with contextlib.suppress(OSError):
        copy.unlink()


def mark_used(copy: Path) -> None:
    """Mark a copy as the most recently used."""
    with contextlib.suppress(OSError):
        os.utime(copy)
