"""The contract of all readers of outside bytes: accept an input or report an error in one line, in limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 5.0
"""CPU seconds within which a reader must finish one input."""
LONGEST_MESSAGE = 2000
"""Longest allowed error message, in characters."""


def as_it_is(content: bytes) -> bytes:
    return content


@dataclass(frozen=True)
class Reader:
    """A reader of the program, and how it is tested."""

    read: Callable[[Path], object]
    """Read the file and use the result as the program would. The returned value distinguishes outcomes for the fuzzer,
    which cannot observe compiled code. Errors of the contract are ValueError and OSError."""
    name: str
    """Name of the file."""
    seeds: Callable[[], Sequence[bytes]]
    """Small inputs that are read without an error."""
    file_of: Callable[[bytes], bytes] = as_it_is
    """Make the file from an input: adds checksums and bulk data that mutations would not produce."""
    names_file: bool = True
    """Whether errors must name the file or another one in its folder; errors about a typed line cannot."""


class Finding(AssertionError):
    """A reader has broken the contract."""


def attempt(reader: Reader, content: bytes, folder: Path) -> object:
    """Read an input in a folder; return the outcome or the type of the error. Raises Finding, or any exception of the
    reader that the contract does not allow."""
    path, taken = folder / reader.name, 0.0
    for _ in range(2):  # the first reading may compile
        path.write_bytes(reader.file_of(content))
        begun = time.process_time()
        try:
            outcome = reader.read(path)
        except (ValueError, OSError) as error:
            check_message(error, folder if reader.names_file else None)
            outcome = type(error)
        taken = time.process_time() - begun
        if taken <= PATIENCE:
            return outcome
    raise Finding(f"took {taken:.1f} seconds of CPU for {len(content):,} bytes")


def check_message(error: Exception, folder: Path | None) -> None:
    """Raise Finding if an error message is not one line that names a file in the folder."""
    words = str(error)
    if type(error).__name__ in ("UnicodeDecodeError", "UnicodeEncodeError", "JSONDecodeError"):
        raise Finding("the error message of a library, not of this program") from error
    if not words or "\n" in words or len(words) > LONGEST_MESSAGE:
        raise Finding(f"not an error message of one line: {words[:300]!r}") from error
    if folder is not None and str(folder) not in words:
        raise Finding(f"an error message that does not name the file: {words[:300]!r}") from error
