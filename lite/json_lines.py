"""Files of JSON objects, one per line, to which a process may be adding lines, or was when it was killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from search.system.files import complaints_about
from search.system.metadata import parse_json

_LARGEST_LINE = 1 << 24


def read_objects(path: Path, remedy: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of every whole line. A spoiled line is an error only if another follows it.

    remedy: end of the error messages. Raises OSError, or ValueError that names the file and the line.
    """
    spoiled = ""
    with complaints_about(path), open(path, "rb") as file:
        number = 0
        while text := file.readline(_LARGEST_LINE + 1):
            number += 1
            if spoiled:
                raise ValueError(f"{path}: {spoiled}; {remedy}")
            entry = _object(text)
            if entry is not None:
                yield number, entry
            elif len(text) > _LARGEST_LINE:
                raise ValueError(f"{path}: line {number}: longer than {_LARGEST_LINE >> 20} MB; {remedy}")
            else:
                spoiled = f"line {number}: not a JSON object"


def whole_bytes(path: Path) -> int:
    """Return the bytes up to the end of the last whole line; 0 if there is no file."""
    if not path.exists():
        return 0
    good = 0
    with complaints_about(path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        good = _last_end(file, size)
        if good and _object(_last_line(file, good)) is None:
            good = _last_end(file, good - 1)
    return good


def _last_end(file: BinaryIO, size: int) -> int:
    """Return the place after the last line break before `size`; 0 if there is none."""
    stop = size
    while stop > 0:
        start = max(0, stop - (1 << 16))
        file.seek(start)
        place = file.read(stop - start).rfind(b"\n")
        if place >= 0:
            return int(start + place + 1)
        stop = start
    return 0


def _last_line(file: BinaryIO, stop: int) -> bytes:
    start = max(_last_end(file, stop - 1), stop - _LARGEST_LINE - 1)
    file.seek(start)
    return bytes(file.read(stop - start))


def _object(text: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line with its end; None if it is none."""
    if not text.endswith(b"\n"):
        return None
    try:
        found = parse_json(text.decode())
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
