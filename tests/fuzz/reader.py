"""What every reader of outside bytes owes: it takes them or complains in words, and it does so soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 5.0
"""Seconds of CPU that no reader may take for one input of the size that is tried."""
LONGEST_COMPLAINT = 2000
"""Characters."""


def as_it_is(content: bytes) -> bytes:
    return content


@dataclass(frozen=True)
class Reader:
    """A reader of the program's, and how it is tried."""

    read: Callable[[Path], object]
    """Reads the file and uses what came of it as the program would; what it returns tells one outcome from another, for
    readers whose compiled code no fuzzer sees into. Complaints are ValueError and OSError."""
    name: str
    """The file's."""
    seeds: Callable[[], Sequence[bytes]]
    """Small inputs that are read without a complaint."""
    file_of: Callable[[bytes], bytes] = as_it_is
    """The file that an input stands for: checksums and bulk that no mutation would come by."""
    names_file: bool = True
    """Whether complaints name the file, or another in its folder; those about a line that somebody typed cannot."""


class Finding(AssertionError):
    """A reader did what none may."""


def attempt(reader: Reader, content: bytes, folder: Path) -> object:
    """Have an input read, in a folder for it; the outcome, or the complaint. Raises Finding, or whatever the reader
    raised that is no complaint."""
    path, taken = folder / reader.name, 0.0
    for _ in range(2):  # the first reading may compile
        path.write_bytes(reader.file_of(content))
        begun = time.process_time()
        try:
            outcome = reader.read(path)
        except (ValueError, OSError) as error:
            check_complaint(error, folder if reader.names_file else None)
            outcome = type(error)
        taken = time.process_time() - begun
        if taken <= PATIENCE:
            return outcome
    raise Finding(f"took {taken:.1f} seconds of CPU for {len(content):,} bytes")


def check_complaint(error: Exception, folder: Path | None) -> None:
    """Raises Finding if a complaint is no line of words that names a file in the folder."""
    words = str(error)
    if type(error).__name__ in ("UnicodeDecodeError", "UnicodeEncodeError", "JSONDecodeError"):
        raise Finding("the complaint of a library, not of this program") from error
    if not words or "\n" in words or len(words) > LONGEST_COMPLAINT:
        raise Finding(f"no complaint of one line: {words[:300]!r}") from error
    if folder is not None and str(folder) not in words:
        raise Finding(f"a complaint that does not name the file: {words[:300]!r}") from error
